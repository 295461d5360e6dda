package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// ran returns the output of a Python that runs a file, or the package in a directory, from cwd.
func ran(t *testing.T, python, cwd, path string) string {
	t.Helper()
	p := manifest.Plugin{Kind: manifest.Package, Path: path, Entry: path}
	if strings.HasSuffix(path, ".py") {
		p.Kind = manifest.File
	}
	args, err := pythonArgs(&plan.Plan{Plugin: p, Script: scriptOf(path)})
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

// TestPackage checks that a package, and a file that is a module of a package, runs as with python
// -m. The working directory and its files do not matter. Any other file runs as a script.
func TestPackage(t *testing.T) {
	runnertest.NothingLeft(t)
	cwd, root := t.TempDir(), t.TempDir()
	write(t, cwd, map[string]string{"runpy.py": "1/0", "pkgutil.py": "1/0", "importlib.py": "1/0", "types.py": "1/0"})
	write(t, root, map[string]string{
		"plain/__init__.py": "", "plain/__main__.py": "import sys\nprint(__package__, sys.argv[1:])\n",
		"outer/__init__.py": "", "outer/common.py": "X = 'common'\n",
		"outer/inner/__init__.py": "", "outer/inner/__main__.py": "from ..common import X\nimport beside\nprint(__package__, X)\n",
		"beside.py": "", "v1.2/__init__.py": "", "v1.2/plain/__init__.py": "", "v1.2/plain/__main__.py": "print(__package__)\n",
		"outer/inner/part.py": "", "outer/inner/serve.py": "from ..common import X\nimport part\nprint(__package__, X)\n",
		"outer/inner/script.py": "import sys, part\nprint(__spec__, sys.path[0] == sys.argv[0][:-10])\n",
	})
	for _, python := range runnertest.Pythons(t) {
		for dir, want := range map[string]string{
			"plain": "plain []", "outer/inner": "outer.inner common", "v1.2/plain": "plain",
			"outer/inner/serve.py": "outer.inner common", "outer/inner/script.py": "None True",
		} {
			if got := ran(t, python, cwd, filepath.Join(root, filepath.FromSlash(dir))); got != want {
				t.Errorf("%s: %s: got %q, want %q", python, dir, got, want)
			}
		}
	}
}
