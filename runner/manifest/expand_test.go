package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExpand checks which plugins a path and a pattern name.
func TestExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{
		"many/b.py", "many/a.py", "many/_private.py", "many/.hidden.py", "many/notes.txt", "many/conftest.py", "many/test_a.py",
		"many/x_pb2.py", "many/pack/__init__.py", "many/one/pyplug.toml", "many/one/main.py", "many/plain/c.py", "[odd].py", "empty/notes.txt",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"many":           "many/a.py many/b.py many/one many/pack",
		"many/one":       "many/one",
		"many/plain":     "many/plain/c.py",
		"many/[ab].py":   "many/a.py many/b.py",
		"many/*.py":      "many/_private.py many/a.py many/b.py many/conftest.py many/test_a.py many/x_pb2.py",
		"many/o*":        "many/one",
		"many/pl*":       "many/pl*",
		"many/[":         "many/[",
		"[odd].py":       "[odd].py",
		"empty":          "empty",
		"nosuch.py":      "nosuch.py",
		ModulePath("*"):  ModulePath("*"),
		"many/a.py":      "many/a.py",
		"many/notes.txt": "many/notes.txt",
	} {
		if got := filepath.ToSlash(strings.Join(Expand(filepath.FromSlash(path)), " ")); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
