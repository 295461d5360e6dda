package grpcplugin

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

// TestCodeName has the names of grpc's statuscodes.md.
func TestCodeName(t *testing.T) {
	for number, want := range []string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
		"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
		"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED", "Code(17)",
	} {
		if got := codeName(codes.Code(number)); got != want {
			t.Errorf("%d: got %s, want %s", number, got, want)
		}
	}
}

// TestLegible tells limits as they were given, and short ones as no shorter.
func TestLegible(t *testing.T) {
	for limit, want := range map[time.Duration]string{
		900 * time.Microsecond: "1ms", 50*time.Millisecond - 1: "50ms", -time.Second: "1ms",
		99999 * time.Microsecond: "100ms", 1499 * time.Millisecond: "1.5s",
	} {
		if got := legible(limit).String(); got != want {
			t.Errorf("%v: got %s, want %s", limit, got, want)
		}
	}
}
