package pyworker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// zoo returns the path of one of the plugins that the tests of all packages use.
func zoo(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../testdata/plugins", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// config returns the configuration of a launcher for a plugin. It discards the plugin's output.
func config(t testing.TB, plugin string) pyworker.Config {
	t.Helper()
	return pyworker.Config{Python: runnertest.Python(t), Plugin: plugin, Env: proc.Environ(os.Environ(), false, nil)}
}

// launcher returns a launcher that logs the plugin's output.
func launcher(t testing.TB, plugin string) *pyworker.Launcher {
	t.Helper()
	cfg := config(t, plugin)
	cfg.Output = func(stream, text string, cut int) { t.Logf("%s: %.200s", stream, text) }
	return pyworker.New(cfg)
}

// words returns a call with words as they are typed.
func words(t testing.TB, name string, typed ...string) hook.Call {
	t.Helper()
	parsed, err := schema.ParseWords(typed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Call{Hook: name, Args: hook.Args{Words: parsed}}
}

// encode returns a call with JSON arguments.
func encode(t testing.TB, name string, args any) hook.Call {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Call{Hook: name, Args: hook.Args{JSON: text}}
}

func TestConformance(t *testing.T) { conformance(t, launcher) }

// conformance runs the conformance suite. launcher returns a launcher for a plugin.
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

// TestLoadErrorOnce checks that a file that cannot be loaded is reported once, as an error, and
// that the worker prints nothing itself.
func TestLoadErrorOnce(t *testing.T) {
	runnertest.NothingLeft(t)
	var printed strings.Builder
	l := pyworker.New(pyworker.Config{
		Python: runnertest.Python(t), Plugin: zoo(t, "import_error.py"), Env: proc.Environ(os.Environ(), false, nil),
		Output: func(_, text string, _ int) { printed.WriteString(text + "\n") },
	})
	for range 5 {
		_, err := l.Launch(t.Context())
		var e *hook.Error
		if !errors.As(err, &e) || e.Kind != hook.Start || e.Python == nil || e.Python.Type != "ModuleNotFoundError" {
			t.Fatalf("got %v, want what the import raised", err)
		}
	}
	if printed.Len() > 0 {
		t.Errorf("the worker printed\n%s", &printed)
	}
}

// TestPermanent checks which failed starts are permanent.
func TestPermanent(t *testing.T) {
	runnertest.NothingLeft(t)
	python := runnertest.Python(t)
	for _, c := range []struct {
		python, plugin string
		kind           hook.Kind
		want           bool
	}{
		{python, "syntax_error.py", hook.Start, true},
		{python, "import_error.py", hook.Start, true},
		{python, "import_raises.py", hook.Start, false},
		{python, "import_exit.py", hook.Start, false},
		{python + "-nope", "greeter.py", hook.Interpreter, true},
	} {
		l := pyworker.New(pyworker.Config{Python: c.python, Plugin: zoo(t, c.plugin), Env: proc.Environ(os.Environ(), false, nil)})
		_, err := l.Launch(t.Context())
		if e := hook.AsError(err); e == nil || e.Kind != c.kind || e.Permanent != c.want {
			t.Errorf("%s by %s: got %+v, want kind %s, permanent %v", c.plugin, c.python, e, c.kind, c.want)
		}
	}
}

// TestWorker runs the worker's own tests with the oldest and the newest Python, and with all of
// them if PYPLUG_TEST_LONG=1. Every warning is an error. It omits the memory checks of the
// development mode, which are for C code.
func TestWorker(t *testing.T) {
	pythons := runnertest.Pythons(t)
	if n := len(pythons); n > 2 && os.Getenv("PYPLUG_TEST_LONG") == "" {
		pythons = []string{pythons[1], pythons[n-1]} // pythons[0] runs all other tests
	}
	for _, python := range pythons {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(python))), func(t *testing.T) {
			t.Parallel()
			out, err := proc.Run(t.Context(), proc.Tool{
				Path:  python,
				Args:  []string{"-B", "-m", "unittest", "-b", "-f"},
				Dir:   "worker/tests",
				Env:   append(os.Environ(), "PYTHONDEVMODE=1", "PYTHONMALLOC=pymalloc", "PYTHONWARNINGS=error", "PYTHONWARNDEFAULTENCODING=1"),
				Limit: 5 * time.Minute,
			})
			if err != nil || out.Exit.Code != 0 {
				t.Errorf("%s: %v, exit code %d %s\n%s", python, err, out.Exit.Code, out.Exit.Signal, out.Stderr)
			}
		})
	}
}

// TestStreams checks that the output of a functions file is delivered before the answer, with the
// name of its stream.
func TestStreams(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows starts a process with three descriptors")
	}
	const source = `
import os, subprocess, sys
def prints(n):
    print("printed", n)
    sys.stderr.write("logged %d\n" % n)
    os.write(1, b"written\n")
    subprocess.run(["echo", "from a child"])
`
	limit := *pyworker.PrintLimit
	t.Cleanup(func() { *pyworker.PrintLimit = limit })
	*pyworker.PrintLimit = runnertest.WaitTimeout
	for _, preload := range []string{"off", "auto"} {
		runnertest.NothingLeft(t)
		var mu sync.Mutex
		got := make(map[string][]string)
		cfg := config(t, written(t, source))
		cfg.Preload = preload
		cfg.Output = func(stream, text string, _ int) {
			mu.Lock()
			defer mu.Unlock()
			got[stream] = append(got[stream], text)
		}
		l := pyworker.New(cfg)
		t.Cleanup(func() { _ = l.Close(context.Background()) })
		inst, err := l.Launch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = inst.Stop(context.Background()) })
		for n := range 20 {
			if _, err := inst.Call(t.Context(), encode(t, "prints", []int{n})); err != nil {
				t.Fatal(err)
			}
			want := map[string][]string{
				"stdout": {fmt.Sprint("printed ", n), "written", "from a child"},
				"stderr": {fmt.Sprint("logged ", n)},
			}
			mu.Lock()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("preload %s: printed %q before the answer, want %q", preload, got, want)
			}
			clear(got)
			mu.Unlock()
		}
	}
}

// TestFiles checks that the launcher lists the plugin's own files, whether the plugin starts or
// not.
func TestFiles(t *testing.T) {
	runnertest.NothingLeft(t)
	path := written(t, "import broken\n")
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	here := func(name string) string { return filepath.Join(dir, name) }
	l := pyworker.New(config(t, path))
	write := func(name, source string) {
		t.Helper()
		if err := os.WriteFile(here(name), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := func(got []string, names ...string) {
		t.Helper()
		var all []string
		for _, name := range names {
			all = append(all, here(name))
		}
		slices.Sort(got)
		if !slices.Equal(got, all) {
			t.Errorf("got the files %q, want %q", got, all)
		}
	}
	write("broken.py", "1 / 0\n")
	_, err = l.Launch(t.Context())
	kind(t, err, hook.Start)
	want(l.Files(), "broken.py", "written.py")
	write("broken.py", "def late():\n    import later\n")
	write("later.py", "")
	write("written.py", "import broken\ndef late(): broken.late()\n")
	inst, err := l.Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inst.Stop(context.Background()) })
	want(l.Files(), "broken.py", "written.py")
	answers(t, inst, hook.Call{Hook: "late"}, "null")
	want(l.Files(), "broken.py", "later.py", "written.py")
}

// TestEndsBeforeHello checks that an exit before hello is an error of the interpreter, unless a
// signal killed the process.
func TestEndsBeforeHello(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the interpreters are shell scripts")
	}
	runnertest.NothingLeft(t)
	for line, want := range map[string]hook.Kind{"exit 3": hook.Interpreter, "kill -KILL $$": hook.Start} {
		cfg := config(t, "plugin.py")
		cfg.Python = filepath.Join(t.TempDir(), "python")
		if err := os.WriteFile(cfg.Python, []byte("#!/bin/sh\n"+line+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := pyworker.New(cfg).Launch(t.Context()); hook.AsError(err) == nil || hook.AsError(err).Kind != want {
			t.Errorf("%s: got %v, want kind %v", line, err, want)
		}
	}
}
