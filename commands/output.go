package commands

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// helpWriter keeps the first error of what urfave/cli writes and does not check.
type helpWriter struct {
	to  io.Writer
	err error
}

func (w *helpWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// write does one write to standard output. A reader that has gone away ends
// the command quietly; one that does not read is left when ctx ends.
func (f *program) write(ctx context.Context, write func() error) error {
	_, err := interruptible(ctx, func() (struct{}, error) { return struct{}{}, write() })
	if err == nil || context.Cause(ctx) != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return outputError(err)
}

// interruptible does what may block for ever, and leaves it when ctx ends: it
// then goes on until its file does, or the process.
func interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
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
		return none, &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
}

func outputError(err error) error {
	switch {
	case err == nil:
		return nil
	case ui.IsClosedPipe(err), errors.Is(err, io.ErrClosedPipe):
		return errQuiet
	default:
		return &hook.Error{Kind: hook.Failed, Err: fmt.Errorf("standard output: %w", err)}
	}
}
