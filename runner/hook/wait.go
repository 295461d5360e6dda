package hook

import (
	"context"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/schema"
)

// TimeoutHints are the hints of an error with a limit that the caller can raise.
var TimeoutHints = schema.Hints("allow more time with %s; %[1]s 0 waits forever", schema.CallSetting("timeout"))

// WithLimit returns a context that ends after limit. A limit of 0 means no limit. The error of
// [Ended] has the whole limit, even if the wait began late.
func WithLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	ctx = context.WithValue(ctx, limitKey{}, limit)
	return context.WithTimeoutCause(ctx, limit, &LimitError{Limit: limit})
}

// Limited is a [Plugin] that applies Limit to each call. A Limit of 0 means no limit.
type Limited struct {
	Plugin
	Limit time.Duration
}

// Call calls a hook. It applies the limit.
func (l Limited) Call(ctx context.Context, c Call) (Result, error) {
	ctx, cancel := WithLimit(ctx, l.Limit)
	defer cancel()
	return l.Plugin.Call(ctx, c)
}

type limitKey struct{}

// Limit returns the limit of the innermost [WithLimit] in ctx, or 0.
func Limit(ctx context.Context) time.Duration {
	limit, _ := ctx.Value(limitKey{}).(time.Duration)
	return limit
}

// Ended returns the error of a call or another wait that ctx ended. It is of kind [Timeout] with a
// [*LimitError] if the deadline has passed. Otherwise it is of kind [Canceled] with the cause of
// ctx. hookName may be empty. The parameter what describes the missing event, such as "no
// connection". It is empty for a call.
func Ended(ctx context.Context, hookName, what string, sent bool) *Error {
	e := &Error{Kind: Canceled, Hook: hookName, Begun: sent, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		limit := &LimitError{}
		errors.As(context.Cause(ctx), &limit)
		e.Kind, e.Err = Timeout, &LimitError{What: what, Limit: limit.Limit}
		e.Hints = TimeoutHints
	}
	return e
}

// Interruptible calls do, which may block forever, and returns its result. If ctx ends first,
// Interruptible returns an error of kind [Canceled] with the cause of ctx, and do keeps running. It
// returns the same error if do returns the error of ctx.
func Interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	var value T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err = do()
	}()
	select {
	case <-done:
		if err == nil || !errors.Is(err, ctx.Err()) {
			return value, err
		}
	case <-ctx.Done():
	}
	var none T
	return none, &Error{Kind: Canceled, Err: context.Cause(ctx)}
}

// IsClosed reports whether a channel is closed. Nothing may ever be sent on the channel.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Within waits until a channel is closed. It returns false if that takes longer than limit.
func Within(c <-chan struct{}, limit time.Duration) bool {
	select {
	case <-c:
		return true
	case <-time.After(limit):
		return false
	}
}
