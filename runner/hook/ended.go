package hook

import (
	"context"
	"errors"
	"time"
)

// Ended tells why ctx, which is over, ended a call of a hook that began then, or
// something else when there is no name: [Timeout] with a [*LimitError] that says
// what did not come, such as "no result", else [Canceled] with ctx's cause.
func Ended(ctx context.Context, hookName, what string, began time.Time, sent bool) *Error {
	e := &Error{Kind: Canceled, Hook: hookName, Begun: sent, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		limit := time.Since(began)
		if deadline, ok := ctx.Deadline(); ok {
			limit = deadline.Sub(began)
		}
		e.Kind, e.Err = Timeout, &LimitError{What: what, Limit: legible(limit)}
	}
	return e
}

// legible is a limit as it was most likely given: what is left of it when we come
// to look is a little less.
func legible(limit time.Duration) time.Duration {
	if limit >= 100*time.Millisecond {
		return limit.Round(10 * time.Millisecond)
	}
	return max(limit+time.Millisecond-1, time.Millisecond).Truncate(time.Millisecond)
}
