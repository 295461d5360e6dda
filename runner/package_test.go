package runner

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// ran is what a Python prints that runs the package in a directory, started in cwd.
func ran(t *testing.T, python, cwd, dir string) string {
	t.Helper()
	args, err := pythonArgs(manifest.Plugin{Kind: manifest.Package, Path: dir, Entry: dir})
	if err != nil {
		t.Fatal(err)
	}
	out, err := proc.Run(context.Background(), proc.Tool{Path: python, Args: args, Env: os.Environ(), Dir: cwd})
	if err != nil || out.Exit.Code != 0 {
		t.Fatalf("%s: %v, exit %+v: %s", python, err, out.Exit, out.Stderr)
	}
	return strings.TrimSpace(string(out.Stdout))
}

// write makes files below a directory.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPackage holds that a package runs as python -m would run it, whatever lies
// where pyplug was started, and wherever it is.
func TestPackage(t *testing.T) {
	runnertest.NothingLeft(t)
	cwd, root := t.TempDir(), t.TempDir()
	write(t, cwd, map[string]string{"runpy.py": "1/0", "pkgutil.py": "1/0", "importlib.py": "1/0", "types.py": "1/0"})
	write(t, root, map[string]string{
		"plain/__init__.py": "", "plain/__main__.py": "import sys\nprint(__package__, sys.argv[1:])\n",
		"outer/__init__.py": "", "outer/common.py": "X = 'common'\n",
		"outer/inner/__init__.py": "", "outer/inner/__main__.py": "from ..common import X\nimport beside\nprint(__package__, X)\n",
		"beside.py": "", "v1.2/__init__.py": "", "v1.2/plain/__init__.py": "", "v1.2/plain/__main__.py": "print(__package__)\n",
	})
	for _, python := range runnertest.Pythons(t) {
		for dir, want := range map[string]string{
			"plain": "plain []", "outer/inner": "outer.inner common", "v1.2/plain": "plain",
		} {
			if got := ran(t, python, cwd, filepath.Join(root, filepath.FromSlash(dir))); got != want {
				t.Errorf("%s: %s: got %q, want %q", python, dir, got, want)
			}
		}
	}
}

// TestPackageRoot holds packageIn and the worker to one table: where a package and those
// that it is in are imported from, and by which name. The worker imports by another name
// what cannot be imported by its own, or would take the place of a module of Python.
func TestPackageRoot(t *testing.T) {
	runnertest.NothingLeft(t)
	base, python := t.TempDir(), runnertest.Python(t)
	const where = "import sys\ndef where(): return [__name__, *sys.path[:2]]\n"
	write(t, base, map[string]string{
		"plain/__init__.py": where,
		"outer/__init__.py": "", "outer/inner/__init__.py": "", "outer/inner/most/__init__.py": where,
		"space/inner/__init__.py": where,
		"v1.2/__init__.py":        "", "v1.2/plain/__init__.py": where,
		"json/__init__.py": where,
	})
	for dir, want := range map[string]struct{ root, name, worker string }{
		"plain":            {"", "plain", "plain"},
		"outer/inner/most": {"", "outer.inner.most", "outer.inner.most"},
		"space/inner":      {"space", "inner", "inner"},
		"v1.2/plain":       {"v1.2", "plain", "_plugin_v1_2.plain"},
		"json":             {"", "json", "_plugin_json"},
	} {
		path, wantRoot := filepath.Join(base, filepath.FromSlash(dir)), filepath.Join(base, want.root)
		if root, name := packageIn(path); root != wantRoot || name != want.name {
			t.Errorf("%s: got %s from %s, want %s from %s", dir, name, root, want.name, wantRoot)
		}
		o, err := Open(t.Context(), Config{Plugin: path, Python: python, Environ: os.Environ(), Cwd: base, Once: true})
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		r, err := p.Call(t.Context(), hook.Call{Hook: "where"})
		if err == nil {
			err = json.Unmarshal(r.Value, &got)
		}
		if err != nil || got[0] != want.worker || !slices.Contains(got[1:], wantRoot) {
			t.Errorf("%s: the worker imports it as %q, %v, want %s from %s", dir, got, err, want.worker, wantRoot)
		}
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
