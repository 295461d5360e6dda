package bounded

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestReplace checks that a file is written with its mode, and that a failure leaves only the old
// file.
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

// TestRewrite checks that a file gets its new text only if it has not changed since the caller read
// it, and keeps its mode. The file may be behind a link.
func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(link); err != nil {
		t.Skip("no symbolic links here: ", err) // as on Wine
	}
	for _, c := range []struct {
		name, old, text, want string
		err                   error
	}{
		{"as it was read", "old", "new", "new", nil},
		{"longer than it was read", "ne", "other", "new", ErrChanged},
		{"edited", "old", "other", "new", ErrChanged},
		{"written already", "old", "new", "new", nil},
	} {
		if err := Rewrite(link, []byte(c.old), []byte(c.text)); !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("%s: the file has %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link is replaced: %v", err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	for _, gone := range []string{filepath.Join(dir, "none"), dir} {
		if err := Rewrite(gone, []byte("old"), []byte("new")); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: got %v, want ErrChanged", gone, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("beside the file and the link are %v, %v", left, err)
	}
}
