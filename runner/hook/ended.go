package hook

import (
	"context"
	"errors"
	"time"
)

// TimeoutHint is for an error whose limit is the caller's.
const TimeoutHint = "--timeout gives it longer, --timeout 0 waits for ever"

// Ended returns the error of a call that ctx ended: of kind [Timeout] with a
// [*LimitError] if the deadline has passed, else of kind [Canceled] with the cause
// of ctx. The hook's name may be empty. What says what did not happen, such as "no
// connection"; it is empty for a call. Began is the start of the wait. The limit is that
// of ctx's cause, if that is a LimitError, or else measured.
func Ended(ctx context.Context, hookName, what string, began time.Time, sent bool) *Error {
	e := &Error{Kind: Canceled, Hook: hookName, Begun: sent, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		deadline, _ := ctx.Deadline() // which has passed
		limit := &LimitError{Limit: roundLimit(deadline.Sub(began))}
		errors.As(context.Cause(ctx), &limit)
		e.Kind, e.Err = Timeout, &LimitError{What: what, Limit: limit.Limit}
		e.Hints = []string{TimeoutHint}
	}
	return e
}

// roundLimit rounds a measured limit to the one that the user most likely set: some
// time passes between the creation of a deadline and its measurement.
func roundLimit(limit time.Duration) time.Duration {
	if limit >= 100*time.Millisecond {
		return limit.Round(10 * time.Millisecond)
	}
	return max(limit+time.Millisecond-1, time.Millisecond).Truncate(time.Millisecond)
}
