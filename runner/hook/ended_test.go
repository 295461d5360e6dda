package hook

import (
	"testing"
	"time"
)

// Limits are rounded to what the user set, and short ones are rounded up.
func TestRoundLimit(t *testing.T) {
	for limit, want := range map[time.Duration]string{
		900 * time.Microsecond: "1ms", 50*time.Millisecond - 1: "50ms", -time.Second: "1ms",
		99999 * time.Microsecond: "100ms", 1499 * time.Millisecond: "1.5s",
	} {
		if got := roundLimit(limit).String(); got != want {
			t.Errorf("%v: got %s, want %s", limit, got, want)
		}
	}
}
