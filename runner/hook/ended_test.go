package hook

import (
	"context"
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

// TestEndedLimit holds that an error names the limit that was set, however late the wait began.
func TestEndedLimit(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, &LimitError{Limit: 200 * time.Millisecond})
	defer cancel()
	if e := Ended(ctx, "greet", "", time.Now().Add(-time.Hour), true); e.Kind != Timeout || e.Error() != "timed out after 200ms" {
		t.Errorf("got %s %q", e.Kind, e)
	}
}
