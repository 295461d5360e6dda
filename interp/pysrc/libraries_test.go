package pysrc

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLocate(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a/pkg/__init__.py", "a/one.py", "b/pkg/sub.py", "b/ns/deep/x.py"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dirs := []string{filepath.Join(root, "a"), filepath.Join(root, "b")}
	for module, want := range map[string]string{
		"pkg": "a/pkg", "one": "a/one.py", "pkg.sub": "b/pkg/sub.py", "pkg.gone.more": "a/pkg", "ns.deep": "b/ns/deep", "os": "", "": "",
	} {
		got := Locate(dirs, module)
		if got != "" {
			got, _ = filepath.Rel(root, got)
		}
		if filepath.ToSlash(got) != want {
			t.Errorf("%s: got %s, want %s", module, got, want)
		}
	}
}
