package bounded

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReplace holds that a file is written with its mode, and that a failure leaves the old file
// and nothing beside it.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second"} {
		if err := Replace(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file has %q, %v, want %q", got, err, text)
		}
	}
	inside := filepath.Join(dir, "directory")
	if err := os.MkdirAll(filepath.Join(inside, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(inside, []byte("no file"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("beside the file and the directory are %v, %v", left, err)
	}
}
