//go:build unix

package bounded_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/interp/bounded"
)

// TestFIFO checks that a pipe without a writer and an endless device do not block a reader.
func TestFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, "/dev/zero"} {
		if _, _, err := bounded.Read(path, 5); !errors.Is(err, bounded.ErrIrregular) {
			t.Errorf("%s: %v, want ErrIrregular", path, err)
		}
		if _, err := bounded.Head(path, 5); !errors.Is(err, bounded.ErrIrregular) {
			t.Errorf("the head of %s: %v, want ErrIrregular", path, err)
		}
		if _, err := bounded.Dir(path); err == nil {
			t.Errorf("%s is listed", path)
		}
	}
}
