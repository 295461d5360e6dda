package pyworker_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestLimits cancels calls that hang in every way. It checks that a worker that answers the
// interruption is kept and takes the next call at once. Any other worker is gone when the call
// returns.
func TestLimits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGINT for one process")
	}
	one, ahead, threads := modes["one"], modes["pipeline"], modes["threads"]
	for name, test := range map[string]struct {
		plugin string
		mode   func(*pyworker.Config)
		kept   bool
	}{
		"sleep":                 {"hang_sleep.py", one, true},
		"lock":                  {"hang_lock.py", one, true},
		"a C loop":              {"hang_c_loop.py", one, false},
		"swallowed":             {"hang_swallow.py", one, false},
		"a child":               {"hang_subprocess.py", one, false}, // subprocess waits 250 ms for the child
		"sleep, ahead":          {"hang_sleep.py", ahead, true},
		"a C loop, ahead":       {"hang_c_loop.py", ahead, false},
		"sleep, in a thread":    {"", threads, false}, // Python does not interrupt a sleep there
		"a C loop, in a thread": {"hang_c_loop.py", threads, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, sleeps)
			if test.plugin != "" {
				path = zoo(t, test.plugin)
			}
			runnertest.Retry(t, func() error {
				inst := begin(t, path, test.mode)
				e := hanging(t, inst)
				if !e.Begun {
					t.Error("the call counts as not sent")
				}
				if len(e.At) == 0 && !strings.Contains(name, "thread") { // with several threads the place is unknown
					return errors.New("it is not told where the call was")
				}
				select {
				case <-inst.Done():
					if test.kept {
						return errors.New("the worker is gone, though it could answer")
					}
				default:
					if test.kept {
						if pid := number(t, inst, "pid"); pid != inst.Info().PID {
							t.Errorf("pid %d, want %d", pid, inst.Info().PID)
						}
						return nil
					}
					return errors.New("it is not gone") // the interruption came before the hang
				}
				_, err := inst.Call(t.Context(), hook.Call{Hook: "pid"})
				if kind(t, err, hook.Unavailable).Begun {
					t.Error("a call to a worker that is gone counts as sent")
				}
				next := begin(t, path, test.mode)
				number(t, next, "pid")
				return nil
			})
		})
	}
}

// sleeps is a plugin that creates the marker and sleeps in one call of C code, because Python would
// handle an interruption between two lines.
const sleeps = `
import collections, os, time
from functools import partial
def hang(marker):
    steps = [partial(os.mkdir, marker), partial(time.sleep, 3600)]
    collections.deque(map(partial.__call__, steps))
def pid(): return os.getpid()
`

// hanging cancels a call that hangs, and returns its error.
func hanging(t *testing.T, inst hook.Instance) *hook.Error {
	t.Helper()
	marker := filepath.Join(t.TempDir(), "marker")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	call := callAsync(ctx, inst, encode(t, "hang", []string{marker}))
	runnertest.Until(t, "the call has begun", runnertest.Exists(marker))
	cancel()
	return kind(t, (<-call).err, hook.Canceled)
}

// TestThreadsWhenOneHangs checks that the other calls of a terminating worker may finish.
func TestThreadsWhenOneHangs(t *testing.T) {
	inst := begin(t, written(t, gate+sleeps), modes["threads"])
	dir := t.TempDir()
	begun, other, until := filepath.Join(dir, "begun"), filepath.Join(dir, "other"), filepath.Join(dir, "until")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hanging := callAsync(ctx, inst, encode(t, "hang", []string{begun}))
	waiting := callAsync(t.Context(), inst, encode(t, "wait", []string{other, until}))
	runnertest.Until(t, "the calls have begun", func() bool { return runnertest.Exists(begun)() && runnertest.Exists(other)() })
	cancel()
	e := kind(t, (<-hanging).err, hook.Canceled)
	if len(e.At) == 0 || e.At[len(e.At)-1].Function != "hang" || e.At[len(e.At)-1].Text != "collections.deque(map(partial.__call__, steps))" {
		t.Errorf("it was at %+v", e.At)
	}
	if _, err := inst.Call(t.Context(), encode(t, "echo", []int{1})); kind(t, err, hook.Unavailable).Begun {
		t.Error("a terminating worker took a call")
	}
	touch(t, until)
	if o := <-waiting; o.err != nil || o.value != `"waited"` {
		t.Errorf("the other call: got %s, %v", o.value, o.err)
	}
	<-inst.Done()
}

// slow is a plugin whose health function waits for a file and cannot be interrupted.
const slow = `
import os, time
def health():
    while not os.path.exists(UNTIL):
        try: time.sleep(0.001)
        except BaseException: pass
def echo(value): return value
`

// probeFor probes with a timeout.
func probeFor(t *testing.T, inst hook.Instance, limit time.Duration) error {
	t.Helper()
	ctx, cancel := hook.WithLimit(t.Context(), limit)
	defer cancel()
	return inst.Probe(ctx)
}

// TestProbeThatIsSlow checks that missed probes do not harm a worker that nobody calls.
func TestProbeThatIsSlow(t *testing.T) {
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			until := filepath.Join(t.TempDir(), "until")
			inst := begin(t, written(t, strings.ReplaceAll(slow, "UNTIL", "'"+until+"'")), mode)
			for range 3 {
				kind(t, probeFor(t, inst, 20*time.Millisecond), hook.Timeout)
			}
			touch(t, until)
			runnertest.Until(t, "it answers", func() bool { return probeFor(t, inst, 10*time.Second) == nil })
			answers(t, inst, encode(t, "echo", []int{1}), "1")
		})
	}
}

// TestProbeThatHangs checks that a call is not sent while a probe hangs that cannot be interrupted,
// because the call would wait forever.
func TestProbeThatHangs(t *testing.T) {
	never := filepath.Join(t.TempDir(), "never")
	path := written(t, strings.ReplaceAll(slow, "UNTIL", "'"+never+"'"))
	runnertest.Retry(t, func() error {
		inst := begin(t, path, modes["one"])
		kind(t, probeFor(t, inst, 20*time.Millisecond), hook.Timeout)
		_, err := inst.Call(t.Context(), encode(t, "echo", []int{1}))
		if err == nil {
			return errors.New("the probe was interrupted before it hung")
		}
		if kind(t, err, hook.Unavailable).Begun {
			t.Error("the call counts as sent")
		}
		<-inst.Done()
		return nil
	})
}

// TestProbeIsInterrupted checks that a worker is kept if its health function is slow but can be
// interrupted.
func TestProbeIsInterrupted(t *testing.T) {
	path := written(t, "import time\ndef health(): time.sleep(3600)\ndef echo(value): return value\n")
	runnertest.Retry(t, func() error {
		inst := begin(t, path, modes["one"])
		for range 3 {
			kind(t, probeFor(t, inst, 20*time.Millisecond), hook.Timeout)
			if _, err := inst.Call(t.Context(), encode(t, "echo", []int{1})); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestForks checks that calls can fork in each way that Python offers.
func TestForks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows does not fork")
	}
	for _, mode := range []string{"one", "pipeline"} {
		t.Run(mode, func(t *testing.T) {
			inst := begin(t, zoo(t, "forks.py"), modes[mode])
			answers(t, inst, encode(t, "fork", []int{5}), "5")
			answers(t, inst, encode(t, "pool", []string{"fork"}), "[0,1,4,9]")
			answers(t, inst, encode(t, "pool", []string{"spawn"}), "[0,1,4,9]")
		})
	}
}

// TestCrashWithChild checks that a crash is reported at once although a child of the plugin holds
// the pipes, and that the child is killed.
func TestCrashWithChild(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no descriptors to inherit")
	}
	inst := begin(t, written(t, `
import os, subprocess, sys
def leave():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"],
                     close_fds=False, pass_fds=[200, 201])
    os._exit(7)
`), modes["one"])
	_, err := inst.Call(t.Context(), hook.Call{Hook: "leave"})
	if e := kind(t, err, hook.Crash); e.Exit == nil || e.Exit.Code != 7 {
		t.Errorf("exit %+v, want code 7", e.Exit)
	}
}
