//go:build unix

package commands

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCheckReportPipe checks that the wait for the reader of a report that is a pipe ends with the
// first signal, before any check.
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
	// With a reader, every pending open succeeds, and none creates a file with that name after the
	// directory is removed.
	reader, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
}
