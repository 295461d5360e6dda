package pyworker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestEnds checks that Exit names the step that ended a worker, and the processes that it left.
func TestEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no signals, and does not tell what was left")
	}
	python := runnertest.Python(t)
	// deaf does not exit when asked, but on a signal.
	deaf := filepath.Join(t.TempDir(), "deaf.py")
	source := `import atexit, os, signal, time
signal.signal(signal.SIGTERM, lambda *_: os._exit(3))
atexit.register(time.sleep, 3600)
`
	if err := os.WriteFile(deaf, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		plugin string
		call   string // the hook that returns the PID of the process that is left, or "" if none is left
		step   string
		grace  time.Duration
		only   string // the system that can find processes that left the group
	}{
		"nothing":         {plugin: zoo(t, "greeter.py"), step: "asked"},
		"child":           {plugin: zoo(t, "leave_child.py"), call: "leave", step: "asked"},
		"daemon":          {plugin: zoo(t, "double_fork.py"), call: "daemonize", step: "asked", only: "linux"},
		"by a signal":     {plugin: deaf, step: "SIGTERM"},
		"only by killing": {plugin: zoo(t, "hang_atexit.py"), step: "SIGKILL", grace: 300 * time.Millisecond},
	} {
		for _, preload := range []string{"off", "auto"} {
			t.Run(name+", preload "+preload, func(t *testing.T) {
				if test.only != "" && test.only != runtime.GOOS {
					t.Skip("only " + test.only + " tells what left the group")
				}
				runnertest.NothingLeft(t)
				l := pyworker.New(pyworker.Config{
					Python: python, Plugin: test.plugin, Env: proc.Environ(os.Environ(), false, nil),
					StopTimeout: test.grace, Preload: preload,
				})
				inst, err := l.Launch(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				if test.call != "" {
					want = []string{fmt.Sprintf("(pid %d)", number(t, inst, test.call))}
				}
				inst.Stop(context.Background())
				exit := inst.Exit()
				if exit.Step != test.step || !exit.Stopped {
					t.Errorf("stopped %v by %q, want by %q", exit.Stopped, exit.Step, test.step)
				}
				if !slices.EqualFunc(exit.Left, want, strings.HasSuffix) {
					t.Errorf("left %q, want %q", exit.Left, want)
				}
				if err := l.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestStartGivenUp checks that the error of a canceled first start says where the import was, and
// that the error of a later start does not.
func TestStartGivenUp(t *testing.T) {
	runnertest.NothingLeft(t)
	dir := t.TempDir()
	begun, hang := filepath.Join(dir, "begun"), filepath.Join(dir, "hang")
	source := fmt.Sprintf("import os, time\ndef wait():\n    open(%q, 'w').close()\n    while os.path.exists(%q): time.sleep(0.001)\nwait()\n", begun, hang)
	cfg := config(t, written(t, source))
	cfg.Output = func(_, text string, _ int) { t.Errorf("printed: %s", text) }
	l := pyworker.New(cfg)
	for n, first := range []bool{true, false} {
		touch(t, hang)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := l.Launch(ctx)
			failed <- err
		}()
		runnertest.Until(t, "the import runs", runnertest.Exists(begun))
		cancel()
		e := kind(t, <-failed, hook.Canceled)
		at := slices.ContainsFunc(e.At, func(f hook.Frame) bool { return f.Function == "wait" })
		if at != (first && runtime.GOOS == "linux") {
			t.Errorf("start %d was at %v", n, e.At)
		}
		for _, file := range []string{begun, hang} {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if first {
			worker(t, l)
			if err := os.Remove(begun); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestOwnFrames checks that the worker's frames are omitted from the tracebacks that a plugin
// prints.
func TestOwnFrames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no fork")
	}
	path := written(t, `import os, traceback
def fails():
    if os.fork() == 0: raise ValueError("mine")
    return os.waitstatus_to_exitcode(os.wait()[1]) if hasattr(os, "waitstatus_to_exitcode") else 1
def stands():
    traceback.print_stack()
    print("    indented")
`)
	for name, want := range map[string][]string{
		"fails":  {"Traceback (most recent call last):", "written.py", "    if os.fork() == 0: raise", "ValueError: mine"},
		"stands": {"<string>", "written.py", "    traceback.print_stack()", "    indented"},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string][]string{} // by stream, because the two pipes have no common order
			inst := begin(t, path, func(c *pyworker.Config) {
				c.Output = func(stream, text string, _ int) {
					if strings.Trim(text, " ~^") != "" { // ignore marks, which differ between versions
						got[stream] = append(got[stream], text)
					}
				}
			})
			if _, err := inst.Call(t.Context(), hook.Call{Hook: name}); err != nil {
				t.Fatal(err)
			}
			if err := inst.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if all := slices.Concat(got["stderr"], got["stdout"]); !slices.EqualFunc(all, want, strings.Contains) {
				t.Errorf("printed:\n%s", strings.Join(all, "\n"))
			}
		})
	}
}

// number calls a hook without arguments that returns a number.
func number(t *testing.T, inst hook.Instance, name string) (n int) {
	t.Helper()
	r, err := inst.Call(t.Context(), hook.Call{Hook: name})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Value, &n); err != nil {
		t.Fatalf("%s: %v", r.Value, err)
	}
	return n
}
