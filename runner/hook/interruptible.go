package hook

import "context"

// Interruptible calls do, which may block forever, and returns its result. If ctx
// ends first, Interruptible returns an error of kind [Canceled] with the cause of
// ctx, and do keeps running.
func Interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, &Error{Kind: Canceled, Err: context.Cause(ctx)}
	}
}
