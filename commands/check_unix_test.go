//go:build unix

package commands

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A report may be a pipe that nobody reads: to wait for a reader ends with the
// first signal, before anything is checked.
func TestCheckReportPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(&signalError{syscall.SIGINT})
	s, out, errs := testStreams("")
	err := (&program{streams: s}).check(ctx, checkOptions{plugins: []string{"nosuch.py"}, junit: fifo, jobs: 1})
	if code := exitCode(err); code != 130 || out.Len()+errs.Len() > 0 {
		t.Errorf("got %v (exit code %d), %q, %q; want it interrupted", err, code, out, errs)
	}
	// Now somebody reads: what still waits to open it, or is about to, is through when
	// this is, and makes no file of that name when the directory goes.
	reader, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
}
