package hook

import "context"

// Interruptible calls do, which may block forever, and returns its result. If ctx
// ends first, Interruptible returns an error of kind [Canceled] with the cause of
// ctx, and do keeps running.
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
		return value, err
	case <-ctx.Done():
		var none T
		return none, &Error{Kind: Canceled, Err: context.Cause(ctx)}
	}
}
