package interp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestProject checks that a request with a project does not look for its root again.
func TestProject(t *testing.T) {
	root := t.TempDir()
	beside := filepath.Join(root, "plugins", "one")
	if err := os.MkdirAll(beside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "pyproject.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := FindProject([]string{beside}, nil)
	if want := []string{beside, filepath.Dir(beside), root}; !slices.Equal(p.Dirs, want) {
		t.Fatalf("got %q, want %q", p.Dirs, want)
	}
	f := newFinder(Request{Dirs: []string{beside}, Project: p, ownerOf: func(path string) (owner, bool) {
		t.Errorf("%s is looked at again", path)
		return owner{}, false
	}})
	if !slices.Equal(f.Project.Dirs, p.Dirs) {
		t.Errorf("got %q, want %q", f.Project.Dirs, p.Dirs)
	}
}
