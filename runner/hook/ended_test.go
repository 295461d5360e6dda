package hook

import (
	"testing"
	"time"
)

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
