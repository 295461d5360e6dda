package hook

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestEnded checks that an error has the limit with the earlier deadline.
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

// TestInterruptible checks that the error of a canceled wait has the cause of the context,
// whichever ends first, and that other errors stay unchanged.
func TestInterruptible(t *testing.T) {
	cause, own := errors.New("interrupted"), errors.New("no such file")
	for want, do := range map[string]func(ctx context.Context, cancel func()) error{
		"canceled: interrupted": func(ctx context.Context, cancel func()) error {
			cancel()
			return fmt.Errorf("not read: %w", ctx.Err())
		},
		"internal: no such file": func(context.Context, func()) error { return own },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := Interruptible(ctx, func() (struct{}, error) {
			return struct{}{}, do(ctx, func() { cancel(cause) })
		})
		if e := AsError(err); string(e.Kind)+": "+e.Error() != want {
			t.Errorf("got %s: %v, want %s", e.Kind, e, want)
		}
		cancel(nil)
	}
}

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed, began := make(chan struct{}), time.Now()
		if Within(closed, time.Second) || time.Since(began) != time.Second {
			t.Errorf("returned after %v", time.Since(began))
		}
		time.AfterFunc(time.Second, func() { close(closed) })
		if !Within(closed, time.Minute) || time.Since(began) != 2*time.Second {
			t.Errorf("returned after %v", time.Since(began))
		}
	})
}
