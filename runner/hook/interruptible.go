package hook

import "context"

// Interruptible does what may block for ever, and leaves it when ctx ends: it
// then goes on until its file does, or the process. The error is do's, or of kind
// [Canceled] with ctx's cause.
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
	}
	select {
	case o := <-done:
		return o.value, o.err
	default:
		var none T
		return none, &Error{Kind: Canceled, Err: context.Cause(ctx)}
	}
}
