package grpcplugin

import (
	"testing"

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
