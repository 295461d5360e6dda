package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// writeGrace is how long a write may still take once its context has ended: what has
// been written must not be reported as interrupted.
const writeGrace = 100 * time.Millisecond

// write does one write to standard output. A reader that has gone away ends
// the command quietly; one that does not read is left soon after ctx ends.
func (f *program) write(ctx context.Context, write func() error) error {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(writeGrace, func() { cancel(context.Cause(ctx)) })
	})()
	_, err := hook.Interruptible(late, func() (struct{}, error) { return struct{}{}, write() })
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
