//go:build unix

package commands

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestEnvFilePipe checks that a signal ends the wait for the writer of a pipe.
func TestEnvFilePipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readEnvFile(ctx, fifo); hook.AsError(err).Kind != hook.Canceled {
		t.Errorf("got %v, want that it is canceled", err)
	}
	// With a writer, the pending open succeeds and its goroutine ends.
	writer, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	writer.Close()
}

// TestEnvFileMark checks that a byte order mark is not part of the first name.
func TestEnvFileMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "variables")
	if err := os.WriteFile(path, []byte("\ufeffA=1\r\nB=\"2\"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readEnvFile(t.Context(), path); err != nil || !slices.Equal(got, []string{"A=1", "B=2"}) {
		t.Errorf("got %q, %v", got, err)
	}
}
