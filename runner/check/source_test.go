package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/settings"
)

// opened returns a check of plugin.py among files. The files' paths are below a new directory.
func opened(t testing.TB, python string, files map[string]string) *check {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, err := runner.Open(t.Context(), plan.Config{Plugin: filepath.Join(dir, "plugin.py"), Cwd: dir, Settings: settings.Settings{Python: python}, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return &check{s: &process{Keeper: o}}
}

// look runs the stage source.
func (c *check) look(t testing.TB) hook.Stage {
	t.Helper()
	return withVerdict(c.source(t.Context()))
}

// tell formats a stage: its verdict and message, then its findings.
func tell(s hook.Stage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", s.Verdict, s.Message)
	for _, f := range s.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", f.Verdict, f.ID, f.Message)
		for _, fix := range f.Fix {
			fmt.Fprintf(&b, "  %s\n", fix)
		}
	}
	return b.String()
}

func TestSource(t *testing.T) {
	python := runnertest.Python(t)
	for _, c := range []struct {
		name  string
		files map[string]string
		// want lists parts that must occur in the text, in this order.
		want []string
		not  string // must not occur in the text
	}{
		{"all well", map[string]string{"plugin.py": "import os, json\nimport a\n", "a.py": "from b import c\n", "b.py": "c = 1\n", "other.py": "x = ("},
			[]string{"ok: 3 files compile\n"}, "note"},
		{"one of each", map[string]string{"plugin.py": "import os"}, []string{"ok: 1 file compiles\n"}, ""},
		{"syntax in the script", map[string]string{"plugin.py": "x = 1\ny = (\n"},
			[]string{"failure: plugin.py:2: SyntaxError: ", "failure syntax-error: plugin.py:2: "}, ""},
		{"syntax in two files", map[string]string{"plugin.py": "import a\n\nx = = 1\n", "a.py": "def f(:\n"},
			[]string{"failure syntax-error: plugin.py:3:", "warning syntax-error: a.py:1:"}, ""},
		{"syntax in what may not be loaded", map[string]string{"plugin.py": "def f():\n  import a\n", "a.py": "print 'x'\n"},
			[]string{"warning: 1 file compiles\n", "warning syntax-error: a.py:1", "in a file that may not be loaded", "Python 2 code"}, "failure"},
		{"an unknown encoding", map[string]string{"plugin.py": "# coding: nothing\n"},
			[]string{"failure syntax-error: plugin.py", "SyntaxError: ", "nothing"}, ""},
		{"no utf-8", map[string]string{"plugin.py": "x = '\xe9'\n"}, []string{"failure syntax-error: plugin.py", "SyntaxError: ", "utf-8"}, ""},
		{"a null byte", map[string]string{"plugin.py": "x = 1\n\x00\n"}, []string{"failure syntax-error: plugin.py:2:", "null byte"}, ""},
		{"tabs", map[string]string{"plugin.py": "if 1:\n        x = 1\n\ty = 2\n"}, []string{"failure syntax-error: plugin.py:3: TabError: "}, ""},
		{"a warning is nothing", map[string]string{"plugin.py": "x = '\\d'\nassert (1, 'x')\n"}, []string{"ok: 1 file compiles"}, ""},
		{"what is not there", map[string]string{"plugin.py": "import zz_a\n"}, []string{"ok: 1 file compiles\n"}, "zz_a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			told := tell(opened(t, python, c.files).look(t))
			rest := told
			for _, part := range c.want {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("want %q in\n%s", part, told)
				}
				rest = after
			}
			if c.not != "" && strings.Contains(told, c.not) {
				t.Errorf("%q is in\n%s", c.not, told)
			}
		})
	}
}

// TestSourcePythons checks one file with every Python of the machine.
func TestSourcePythons(t *testing.T) {
	for _, python := range runnertest.Pythons(t) {
		t.Run(python, func(t *testing.T) {
			s := opened(t, python, map[string]string{"plugin.py": "import a\n", "a.py": "x = 1\ny = (]\n"}).look(t)
			if len(s.Findings) != 1 || s.Findings[0].Line != 2 || s.Details["files"] != 2 {
				t.Error(tell(s))
			}
		})
	}
}

// TestSyntaxFrame compares a syntax error with the worker's report of the same error.
func TestSyntaxFrame(t *testing.T) {
	c := opened(t, runnertest.Python(t), map[string]string{"plugin.py": "if True:\n    x = é = 1 1\n"})
	s := c.look(t)
	if len(s.Findings) != 1 {
		t.Fatal(tell(s))
	}
	f := s.Findings[0]
	if f.File != c.s.Plugin.Entry || f.Line != 2 || f.Kind != hook.Start || f.Err == nil || f.Err.Kind != hook.Start {
		t.Errorf("%+v", f)
	}
	raised := f.Err.Python
	if raised.Type != "SyntaxError" || len(raised.Frames) != 1 {
		t.Fatalf("%+v", raised)
	}
	if at := raised.Frames[0]; string(at.File) != f.File || at.Line != 2 || at.Text != "    x = é = 1 1" || at.Column == 0 {
		t.Errorf("%+v", at)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.File), "__pycache__")); left != nil {
		t.Error("byte code was written")
	}
}

// TestSourceUnchecked checks the stage if the interpreter has disappeared.
func TestSourceUnchecked(t *testing.T) {
	python := filepath.Join(t.TempDir(), "python3")
	if err := os.Symlink(runnertest.Python(t), python); err != nil {
		t.Skip(err)
	}
	c := opened(t, python, map[string]string{"plugin.py": "x = ("})
	if err := os.Remove(python); err != nil {
		t.Fatal(err)
	}
	if told := tell(c.look(t)); !strings.Contains(told, "note source-unchecked: cannot run the interpreter: ") || strings.Contains(told, "syntax") {
		t.Error(told)
	}
}

func TestSourceSkipped(t *testing.T) {
	c := &check{s: &process{Keeper: new(runner.Keeper)}}
	if s := c.look(t); s.Verdict != hook.Skipped || s.Message != "not a Python program" {
		t.Errorf("%+v", s)
	}
}

// TestSourceMany checks a plugin with more files than one process compiles.
func TestSourceMany(t *testing.T) {
	files := map[string]string{}
	var script strings.Builder
	for i := range 600 {
		name := fmt.Sprintf("a_module_with_a_long_name_%d", i)
		fmt.Fprintln(&script, "import", name)
		files[name+".py"] = "x = 1\n"
	}
	files["plugin.py"] = script.String()
	files["a_module_with_a_long_name_599.py"] = "x = (\n"
	s := opened(t, runnertest.Python(t), files).look(t)
	if len(s.Findings) != 1 || s.Findings[0].ID != syntaxError || s.Details["files"] != 601 {
		t.Errorf("%v %s", s.Details, tell(s))
	}
}

// BenchmarkSource measures the stage for a small plugin.
func BenchmarkSource(b *testing.B) {
	c := opened(b, runnertest.Python(b), map[string]string{"plugin.py": "import os, json, re\nimport a\n", "a.py": "def f(x): return x\n"})
	for b.Loop() {
		if s := c.look(b); s.Verdict != hook.OK {
			b.Fatal(tell(s))
		}
	}
}
