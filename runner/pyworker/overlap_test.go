package pyworker_test

import (
	"bufio"
	"context"
	"errors"
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

// TestOverlapGivenUp cancels a call that waits behind the one that starts the event loop. It checks
// that the next calls are answered, or the worker is gone, whenever the cancel comes.
func TestOverlapGivenUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGINT for one process")
	}
	path := written(t, `
async def first(): return 1
def forever():
    while True: pass
async def later(): return 2
def ok(): return 3
`)
	for others, limits := range [][]int{{20, 80}, {40}} { // the index is the number of other calls; limits are in ms
		for _, limit := range limits {
			t.Run(fmt.Sprintf("%d others, %d ms", others, limit), func(t *testing.T) {
				inst := begin(t, path, modes["pipeline"])
				overlapGivenUp(t, inst, time.Duration(limit)*time.Millisecond, others)
			})
		}
	}
}

func overlapGivenUp(t *testing.T, inst hook.Instance, limit time.Duration, others int) {
	t.Helper()
	calls := []<-chan outcome{callAsync(t.Context(), inst, hook.Call{Hook: "first"})}
	ctx, cancel := hook.WithLimit(t.Context(), limit)
	defer cancel()
	given := callAsync(ctx, inst, hook.Call{Hook: "forever"})
	for range others {
		calls = append(calls, callAsync(t.Context(), inst, hook.Call{Hook: "later"}))
	}
	kind(t, (<-given).err, hook.Timeout)
	for range 2 {
		calls = append(calls, callAsync(t.Context(), inst, hook.Call{Hook: "ok"}))
	}
	limited, stop := hook.WithLimit(t.Context(), 20*time.Second)
	defer stop()
	for i, call := range calls {
		select {
		case o := <-call:
			if e := (*hook.Error)(nil); o.err != nil && (!errors.As(o.err, &e) || e.Kind != hook.Crash && e.Kind != hook.Unavailable) {
				t.Errorf("call %d: %v", i, o.err)
			}
		case <-limited.Done():
			t.Fatalf("call %d is never answered", i)
		}
	}
	if err := inst.Probe(limited); err != nil {
		kind(t, err, hook.Unavailable)
		<-inst.Done() // the worker is terminating
	}
}

// lateOverlap is the behavior of a Python that begins its second call just after the call was
// canceled, and before pyplug knows that the first call is a task.
const lateOverlap = "late overlap"

// pretendLateOverlap acts as such a Python. It never answers the second call. It sends a frame of
// files to show that the call has come.
func pretendLateOverlap() {
	r := bufio.NewReader(os.Stdin)
	out := packed('H', 0, `{"python":"3.12.4","implementation":"cpython","pid":1}`)
	out = append(out, packed('Y', 0, `{"module":"fake"}`)...)
	for {
		if _, err := os.Stdout.Write(out); err != nil {
			return
		}
		kind, number, err := readCommand(r)
		switch out = nil; {
		case err != nil:
			return
		case kind == 'C' && number == 2:
			out = packed('F', 0, "[]")
		case kind == 'K':
			out = append(packed('O', 1, ""), packed('R', 1, "1")...)
		}
	}
}

// TestOverlapHeardLate checks that a worker exits if it runs a call that nobody waits for and that
// does not end.
func TestOverlapHeardLate(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runnertest.NothingLeft(t)
	sent, came := make(chan struct{}), make(chan struct{})
	inst, err := pyworker.New(pyworker.Config{
		Python: path, Plugin: zoo(t, "greeter.py"), Concurrency: 2, DebugWire: true,
		Debug: func(_, text string) {
			switch {
			case strings.HasPrefix(text, "to worker C call 1,"):
				close(sent)
			case strings.HasPrefix(text, "from worker F "):
				close(came)
			}
		},
		Env: proc.Environ(os.Environ(), false, []string{behavior + "=" + lateOverlap, "GORACE=atexit_sleep_ms=0"}),
	}).Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := callAsync(t.Context(), inst, hook.Call{Hook: "first"})
	<-sent
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	second := callAsync(ctx, inst, hook.Call{Hook: "second"})
	<-came
	cancel()
	kind(t, (<-second).err, hook.Canceled)
	if o := <-first; o.value != "1" {
		t.Errorf("the first call: got %s, %v", o.value, o.err)
	}
	select {
	case <-inst.Done():
	case <-time.After(20 * time.Second):
		t.Error("it lives on, with a call that nobody ends")
		_ = inst.Stop(stopped(t))
	}
}

// TestProbeWithOrphan checks that Probe counts the worker as healthy while a call runs, and probes
// it when only a call is left whose caller is gone.
func TestProbeWithOrphan(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGINT for one process")
	}
	dir := t.TempDir()
	begun, until := filepath.Join(dir, "begun"), filepath.Join(dir, "until")
	inst := begin(t, written(t, gate), func(c *pyworker.Config) { c.Concurrency = 2 })
	first := callAsync(t.Context(), inst, encode(t, "wait", []string{begun, until}))
	runnertest.Until(t, "the call has begun", runnertest.Exists(begun))
	ctx, cancel := hook.WithLimit(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, err := inst.Call(ctx, encode(t, "wait", []string{begun, until}))
	kind(t, err, hook.Timeout)
	if err := probeFor(t, inst, 5*time.Second); err != nil {
		t.Errorf("while a call runs: %v", err)
	}
	touch(t, until)
	if o := <-first; o.err != nil {
		t.Fatal(o.err)
	}
	if err := probeFor(t, inst, runnertest.WaitTimeout); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestInterruptedByTwo makes a call and a probe while another probe hangs. Both send signals to end
// the hung probe. The test checks that the signals interrupt neither of the two.
func TestInterruptedByTwo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGINT for one process")
	}
	for range 3 {
		runnertest.Retry(t, func() error { return interruptedByTwo(t) })
	}
}

// interruptedByTwo returns an error if the machine was so slow that the worker was terminated
// before the end of the test.
func interruptedByTwo(t *testing.T) error {
	t.Helper()
	dir := t.TempDir()
	hit, until := filepath.Join(dir, "hit"), filepath.Join(dir, "until")
	inst := begin(t, written(t, fmt.Sprintf(`
import os, signal, time
where = "nowhere"
def note(*_):
    with open(%q, "a") as file: file.write(where + "\n")
signal.signal(signal.SIGINT, note)
def health():
    global where
    where = "health"
    while not os.path.exists(%q): time.sleep(0.001)
    where = "after"
def work():
    global where
    where = "work"
    for _ in range(300): time.sleep(0.001)
    where = "done"
`, hit, until)), modes["one"])
	hits := func() []string {
		text, err := os.ReadFile(hit)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
	interrupted := func(what string, before int) {
		runnertest.Until(t, what, func() bool {
			select {
			case <-inst.Done():
				return true
			default:
				return len(hits()) > before
			}
		})
	}
	kind(t, probeFor(t, inst, 20*time.Millisecond), hook.Timeout)
	before := len(hits())
	work := callAsync(t.Context(), inst, hook.Call{Hook: "work"})
	interrupted("the call interrupts the probe", before)
	probed := make(chan error, 1)
	before = len(hits())
	go func() { probed <- inst.Probe(t.Context()) }()
	interrupted("the second probe interrupts it, too", before)
	touch(t, until)
	worked, err := <-work, <-probed
	if all := hits(); slices.Contains(all, "work") || slices.Contains(all, "done") {
		t.Errorf("SIGINT hit %q", all)
	}
	return errors.Join(worked.err, err)
}

// stopped returns a context that is done.
func stopped(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestPlainWithTasks cancels plain functions while a coroutine runs and a call waits behind them.
// It checks that only the canceled call fails, and that a call that has not begun can be made
// again.
func TestPlainWithTasks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGINT for one process")
	}
	path := written(t, `
import asyncio, itertools, os, pathlib, time
async def task(until):
    while not os.path.exists(until): await asyncio.sleep(0.005)
    return "task"
def sleep(begun):
    pathlib.Path(begun).touch()
    time.sleep(600)
def c_code(begun): # no bytecode runs once begun exists, so that nothing notices SIGINT
    any(itertools.chain(map(os.mkdir, [begun]), itertools.repeat(None)))
def gate(begun, until):
    pathlib.Path(begun).touch()
    while not os.path.exists(until): time.sleep(0.005)
    return "gate"
def ok(): return "ok"
`)
	for name, test := range map[string]struct {
		hook       string
		waiting    bool // the waiting call is canceled, not the running one
		task, next string
	}{
		"a sleep":   {"sleep", false, `"task"`, `"ok"`},
		"C code":    {"c_code", false, string(hook.Crash), string(hook.Unavailable)},
		"a waiting": {"gate", true, `"task"`, string(hook.Canceled)},
	} {
		t.Run(name, func(t *testing.T) {
			inst, dir := begin(t, path, modes["pipeline"]), t.TempDir()
			begun, until := filepath.Join(dir, "begun"), filepath.Join(dir, "until")
			sent := func(calls int) {
				runnertest.Until(t, "the calls are sent", func() bool { return pyworker.Sent(inst) == calls })
			}
			task := callAsync(t.Context(), inst, encode(t, "task", []string{until}))
			sent(1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first, behind := ctx, t.Context()
			args := []string{begun}
			if test.waiting {
				first, behind, args = behind, first, []string{begun, until}
			}
			plain := callAsync(first, inst, encode(t, test.hook, args))
			runnertest.Until(t, "it runs", runnertest.Exists(begun))
			next := callAsync(behind, inst, hook.Call{Hook: "ok"})
			sent(3)
			cancel()
			if !test.waiting {
				kind(t, (<-plain).err, hook.Canceled)
			}
			if got := outcomeOf(<-next); got != test.next {
				t.Errorf("the call behind it: got %s, want %s", got, test.next)
			}
			if err := os.WriteFile(until, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := outcomeOf(<-task); got != test.task {
				t.Errorf("the task: got %s, want %s", got, test.task)
			}
			if test.waiting {
				if got := outcomeOf(<-plain); got != `"gate"` {
					t.Errorf("the running call: got %s", got)
				}
			}
		})
	}
}

// outcomeOf returns the value of a call, or the kind of its error.
func outcomeOf(o outcome) string {
	if o.err != nil {
		return string(hook.AsError(o.err).Kind)
	}
	return o.value
}
