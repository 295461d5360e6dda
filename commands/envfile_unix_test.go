//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestEnvFilePipe checks that the wait for the writer of a pipe has a limit.
func TestEnvFilePipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readEnvFile(fifo, time.Millisecond)
	if want := "is the pipe " + fifo + ", whose writer has not closed it within 1ms"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// With a writer, the pending open succeeds and its goroutine ends.
	writer, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	writer.Close()
}
