package pyworker_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// zoo is the path of one of the plugins that the tests of all rooms use.
func zoo(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../testdata/plugins", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// config is that of a worker for a plugin, whose prints nobody takes.
func config(t testing.TB, plugin string) pyworker.Config {
	t.Helper()
	return pyworker.Config{Python: runnertest.Python(t), Plugin: plugin, Env: proc.Environ(os.Environ(), false, nil)}
}

// launcher starts a plugin of the zoo.
func launcher(t testing.TB, plugin string) *pyworker.Launcher {
	t.Helper()
	cfg := config(t, plugin)
	cfg.Output = func(stream, text string, cut int) { t.Logf("%s: %.200s", stream, text) }
	return pyworker.New(cfg)
}

// words makes a call of words as they are typed.
func words(t testing.TB, name string, typed ...string) hook.Call {
	t.Helper()
	parsed, err := schema.ParseWords(typed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Call{Hook: name, Args: hook.Args{Words: parsed}}
}

// encode makes a call with JSON arguments.
func encode(t testing.TB, name string, args any) hook.Call {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Call{Hook: name, Args: hook.Args{JSON: text}}
}

func TestConformance(t *testing.T) { conformance(t, launcher) }

// conformance runs the suite with launchers that a function makes.
func conformance(t *testing.T, launcher func(t testing.TB, plugin string) *pyworker.Launcher) {
	t.Helper()
	runnertest.Suite{
		New:    func(t *testing.T) hook.Launcher { return launcher(t, zoo(t, "conformance.py")) },
		Broken: func(t *testing.T) hook.Launcher { return launcher(t, zoo(t, "import_error.py")) },
		Echo:   func(text string) hook.Call { return encode(t, "echo", map[string]string{"text": text}) },
		Text: func(r hook.Result) string {
			var text string
			if err := json.Unmarshal(r.Value, &text); err != nil {
				t.Errorf("%s: %v", r.Value, err)
			}
			return text
		},
		Raise:    hook.Call{Hook: "fail"},
		Missing:  hook.Call{Hook: "nosuch"},
		BadArgs:  words(t, "echo", "one", "two"),
		Hang:     hook.Call{Hook: "hang"},
		Stubborn: hook.Call{Hook: "stubborn"},
		Exit:     hook.Call{Hook: "leave"},
		Stream:   func(n int) hook.Call { return encode(t, "stream", []int{n}) },
		Hook:     "echo",
	}.Run(t)
}

// A file that cannot be loaded is told once, as an error: the worker says
// nothing of its own while it ends.
func TestLoadErrorIsToldOnce(t *testing.T) {
	runnertest.NothingLeft(t)
	var said strings.Builder
	l := pyworker.New(pyworker.Config{
		Python: runnertest.Python(t), Plugin: zoo(t, "import_error.py"), Env: proc.Environ(os.Environ(), false, nil),
		Output: func(_, text string, _ int) { said.WriteString(text + "\n") },
	})
	for range 30 {
		_, err := l.Launch(t.Context())
		var e *hook.Error
		if !errors.As(err, &e) || e.Kind != hook.Start || e.Python == nil || e.Python.Type != "ModuleNotFoundError" {
			t.Fatalf("got %v, want what the import raised", err)
		}
	}
	if said.Len() > 0 {
		t.Errorf("the worker said\n%s", &said)
	}
}

// TestWorker runs the worker's own tests under every Python there is.
func TestWorker(t *testing.T) {
	for _, python := range runnertest.Pythons(t) {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(python))), func(t *testing.T) {
			t.Parallel()
			out, err := proc.Run(t.Context(), proc.Tool{
				Path:  python,
				Args:  []string{"-B", "-m", "unittest", "-b", "-f"},
				Dir:   "worker/tests",
				Env:   os.Environ(),
				Limit: 5 * time.Minute,
			})
			if err != nil || out.Exit.Code != 0 {
				t.Errorf("%s: %v, exit code %d %s\n%s", python, err, out.Exit.Code, out.Exit.Signal, out.Stderr)
			}
		})
	}
}
