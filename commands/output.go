package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

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

// openOutput opens a file to write to it that a flag names, and creates it if necessary.
// Ending ctx ends the wait for the reader of a named pipe.
func openOutput(ctx context.Context, flag, name string, how int, mode fs.FileMode) (*os.File, error) {
	return hook.Interruptible(ctx, func() (*os.File, error) {
		file, err := os.OpenFile(name, how|os.O_WRONLY|os.O_CREATE, mode)
		if err != nil {
			return nil, usage("%s: %w", flag, err)
		}
		return file, nil
	})
}

func outputError(err error) error {
	switch {
	case err == nil:
		return nil
	case ui.IsClosedPipe(err):
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
