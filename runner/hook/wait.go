package hook

import (
	"context"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/schema"
)

// TimeoutHints are the hints of an error whose limit the caller can raise.
var TimeoutHints = schema.Hints("allow more time with %s; %[1]s 0 waits forever", schema.CallSetting("timeout"))

// WithLimit returns a context that ends after limit; 0 means no limit. [Ended] names
// the whole limit in its error, even if the wait began late.
func WithLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	ctx = context.WithValue(ctx, limitKey{}, limit)
	return context.WithTimeoutCause(ctx, limit, &LimitError{Limit: limit})
}

// Limited is a [Plugin] each call of which has a limit; 0 means no limit.
type Limited struct {
	Plugin
	Limit time.Duration
}

// Call calls a hook within the limit.
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

// Ended returns the error of a call that ctx ended: of kind [Timeout] with a
// [*LimitError] if the deadline has passed, else of kind [Canceled] with the cause of
// ctx. hookName may be empty. The parameter what names the missing event, such as "no
// connection"; it is empty for a call.
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

// Interruptible calls do, which may block forever, and returns its result. If ctx
// ends first, Interruptible returns an error of kind [Canceled] with the cause of
// ctx, and do keeps running. It also does so if do returns ctx's error.
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

// IsClosed reports whether a channel is closed on which nothing is ever sent.
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
