package missing

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestManaged checks that hints do not suggest a command that the system forbids: pip cannot
// install into a Python that the package manager owns.
func TestManaged(t *testing.T) {
	root := t.TempDir()
	python := interp.Interpreter{Path: filepath.Join(root, "bin", "python3"), Version: interp.Version{Major: 3, Minor: 12}}
	for _, name := range []string{"bin/python3", "lib/python3.12/EXTERNALLY-MANAGED"} {
		if interp.FactsOf(python, nil).ExternallyManaged {
			t.Errorf("it is managed before there is %s", name)
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !interp.FactsOf(python, nil).ExternallyManaged {
		t.Error("it is not managed")
	}
	// If nobody named the Python, other programs may use it, so pip must not change it.
	if l := (Plugin{Python: interp.Interpreter{Path: runnertest.Python(t), Source: interp.SourcePath}}).lack(); !l.managed {
		t.Errorf("%+v", l)
	}
	l := lack{Plugin: Plugin{Python: interp.Interpreter{Path: "/usr/bin/python3"}}, managed: true}
	if got := l.install([]string{"PyYAML"}, nil); !got.IsZero() {
		t.Errorf("got %s", hook.Word(got))
	}
	l.command = schema.Hintf("pyplug sync p.py")
	if got, want := hook.Word(l.install([]string{"PyYAML"}, nil)), "list PyYAML in requirements.txt next to the plugin and run `pyplug sync p.py`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
