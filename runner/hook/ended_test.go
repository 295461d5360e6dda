package hook

import (
	"context"
	"testing"
	"time"
)

// TestEnded holds that an error names the limit that was set, the earlier of two.
func TestEnded(t *testing.T) {
	ctx, cancel := WithLimit(t.Context(), time.Nanosecond)
	defer cancel()
	ctx, cancel = WithLimit(ctx, time.Hour)
	defer cancel()
	<-ctx.Done()
	for what, want := range map[string]string{"": "timed out after 1ns", "no start": "no start within 1ns"} {
		if e := Ended(ctx, "greet", what, true); e.Kind != Timeout || e.Error() != want {
			t.Errorf("got %s %q, want %q", e.Kind, e, want)
		}
	}
	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	for what, want := range map[string]string{"": "timed out", "no start": "no start in time"} {
		if e := Ended(ctx, "greet", what, true); e.Kind != Timeout || e.Error() != want {
			t.Errorf("an unknown limit: got %s %q, want %q", e.Kind, e, want)
		}
	}
}
