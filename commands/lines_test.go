package commands

import (
	"context"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/cases"
	"github.com/pyplug/pyplug/runner/lines"
)

// TestInterrupted checks that the message after a signal names the answered lines, and only those
// that are certain.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		record *cases.Record
		last   int64
		err    error
		want   string
		code   int
	}{
		{syscall.SIGINT, nil, 0, nil, "note: interrupted; no line is answered; use --record FILE to go on from there next time\n", 130},
		{syscall.SIGINT, new(cases.Record), 1, nil, "note: interrupted; lines 1 to 1 are answered; the same command goes on from there\n", 130},
		{syscall.SIGTERM, nil, 1200, nil, "note: terminated; lines 1 to 1200 are answered; use --record FILE to go on from there next time\n", 143},
		{syscall.SIGINT, nil, 7, lines.ErrNotRead, "", 130},
		{syscall.SIGINT, nil, 7, lines.ErrGaveUp, "", 130},
	} {
		s, _, errs := testStreams("")
		prog := &program{streams: s}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(&signalError{c.signal})
		err := prog.linesEnd(ctx, nil, &linesOptions{record: c.record}, lines.Counts{Last: c.last}, c.err)
		if errs.String() != c.want || exitCode(err) != c.code {
			t.Errorf("%+v: got %q, exit code %d", c, errs, exitCode(err))
		}
	}
}
