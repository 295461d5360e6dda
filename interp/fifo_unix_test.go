//go:build unix

package interp

import (
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestPipes checks that a pipe without a writer among installed packages does not block the reader.
func TestPipes(t *testing.T) {
	root := tree(t, append(base("opt"), venv("env", "opt", "3.12.1")...)...)
	addFiles(t, root, "f "+fakeSite+"zzz.pth $ROOT/src", "d src")
	check(t, syscall.Mkfifo(filepath.Join(root, fakeSite+"zz.pth"), 0o600))
	found := make(chan []string, 1)
	go func() { found <- python(root, "env/bin/python").SearchPath(nil) }() // ends with the search
	select {
	case got := <-found:
		if !slices.Contains(got, filepath.Join(root, "src")) {
			t.Errorf("got %s", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a writer")
	}
}
