//go:build unix

package interp

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipes holds that a pipe among installed packages, which nobody writes to,
// keeps nobody waiting.
func TestPipes(t *testing.T) {
	root, m := plugged(t, "d "+fakeSite+"grpc", "f "+fakeSite+"zzz.pth $ROOT/src", "f src/a.py", "f plug/main.py import pipe, a")
	for _, name := range []string{fakeSite + "zz.pth", fakeSite + "__editable___zz_finder.py", "plug/pipe.py"} {
		check(t, syscall.Mkfifo(filepath.Join(root, name), 0o600))
	}
	found := make(chan string, 1)
	go func() { found <- walked(root, m) }() // ends when the walk does
	select {
	case got := <-found:
		if got != "src/a.py" || !m.Has("grpc") {
			t.Errorf("got %s", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a writer")
	}
}
