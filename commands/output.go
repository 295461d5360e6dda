package commands

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// write does one write to standard output. A reader that has gone away ends
// the command quietly; one that does not read is left when ctx ends.
func (f *program) write(ctx context.Context, write func() error) error {
	_, err := hook.Interruptible(ctx, func() (struct{}, error) { return struct{}{}, write() })
	if err == nil || context.Cause(ctx) != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return outputError(err)
}

func outputError(err error) error {
	switch {
	case err == nil:
		return nil
	case ui.IsClosedPipe(err), errors.Is(err, io.ErrClosedPipe):
		return errQuiet
	default:
		return &hook.Error{Kind: hook.Failed, Reason: ui.OutputFailed, Err: fmt.Errorf("standard output: %w", err)}
	}
}

// asCanceled is the error of a wait that ended before what it waited for; nil for
// any other, and for none.
func asCanceled(err error) *hook.Error {
	if e := (*hook.Error)(nil); errors.As(err, &e) && e.Kind == hook.Canceled {
		return e
	}
	return nil
}
