package pyworker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// modes are the ways in which one worker makes several calls.
var modes = map[string]func(*pyworker.Config){
	"one":      func(*pyworker.Config) {},
	"pipeline": func(c *pyworker.Config) { c.Concurrency = 8 },
	"threads":  func(c *pyworker.Config) { c.Concurrency, c.Threads = 8, true },
}

// written writes a plugin with a source, and returns its path.
func written(t testing.TB, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.py")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// touch creates an empty file.
func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// begin starts a worker, and stops it at the end of the test.
func begin(t *testing.T, plugin string, mode func(*pyworker.Config)) hook.Instance {
	t.Helper()
	runnertest.NothingLeft(t)
	cfg := config(t, plugin)
	mode(&cfg)
	inst, err := pyworker.New(cfg).Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inst.Stop(context.Background()) })
	return inst
}

// kind fails the test unless err has a kind.
func kind(t *testing.T, err error, want hook.Kind) *hook.Error {
	t.Helper()
	var e *hook.Error
	if !errors.As(err, &e) || e.Kind != want {
		t.Fatalf("got %v, want an error of kind %v", err, want)
	}
	return e
}

// answers checks the answer of a call.
func answers(t *testing.T, inst hook.Instance, c hook.Call, want string) {
	t.Helper()
	ctx, cancel := hook.WithLimit(t.Context(), 20*time.Second)
	defer cancel()
	if r, err := inst.Call(ctx, c); err != nil || string(r.Value) != want {
		t.Errorf("%s: got %s, %v; want %s", c.Hook, r.Value, err, want)
	}
}

// TestConformanceThreads runs the suite with calls in threads. The plugin hangs in short sleeps, not in
// a wait for a lock, because nothing interrupts a thread that waits for a lock.
func TestConformanceThreads(t *testing.T) {
	conformance(t, func(t testing.TB, plugin string) *pyworker.Launcher {
		text, err := os.ReadFile(plugin)
		if err != nil {
			t.Fatal(err)
		}
		source := strings.ReplaceAll(string(text), "threading.Event().wait()", "while True: time.sleep(0.001)")
		cfg := config(t, written(t, source))
		modes["threads"](&cfg)
		return pyworker.New(cfg)
	})
}

// TestRandomCancels cancels calls at random moments, and probes meanwhile. It checks that no
// call gets the answer of another one, and that the worker is kept. After half of the calls,
// coroutines start the event loop.
func TestRandomCancels(t *testing.T) {
	const source = `
import asyncio, time
def echo(value): return value
def wait(value):
    for _ in range(3): time.sleep(0.0005)
    return value
def items(value):
    for _ in range(200): yield value
async def later(value):
    await asyncio.sleep(0.001)
    return value
async def flow(value):
    for _ in range(200): yield value
def health(): time.sleep(0.0005)
`
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			runnertest.Retry(t, func() error { return randomCancels(t, begin(t, written(t, source), mode)) })
		})
	}
}

// randomCancels returns an error if the machine was so slow that the worker did not answer an
// interruption in time.
func randomCancels(t *testing.T, inst hook.Instance) error {
	t.Helper()
	var terminated atomic.Pointer[hook.Error]
	timedOut := func(err error) bool { // reports whether the worker still takes calls
		var e *hook.Error
		if errors.As(err, &e) && e.Kind == hook.Unavailable {
			terminated.Store(e)
			return false
		}
		return err == nil || kind(t, err, hook.Timeout) != nil
	}
	hooks := []string{"echo", "wait", "items", "later", "flow"}
	var all sync.WaitGroup
	for caller := range 5 {
		random := rand.New(rand.NewPCG(1, uint64(caller)))
		all.Go(func() {
			for i := range 200 {
				value := fmt.Sprintf("%d.%d", caller, i)
				known := hooks
				if i < 100 {
					known = hooks[:3]
				}
				c := encode(t, known[random.IntN(len(known))], []string{value})
				c.Emit = func(item hook.Item) error {
					if string(item.Value) != `"`+value+`"` {
						t.Errorf("%s got the item %s", value, item.Value)
					}
					return nil
				}
				ctx, cancel := hook.WithLimit(t.Context(), time.Duration(random.IntN(4000))*time.Microsecond)
				r, err := inst.Call(ctx, c)
				cancel()
				if err == nil && !r.Streamed && string(r.Value) != `"`+value+`"` {
					t.Errorf("%s got %s", value, r.Value)
				}
				if !timedOut(err) {
					return
				}
			}
		})
	}
	called := make(chan struct{})
	var probing sync.WaitGroup
	probing.Go(func() {
		random := rand.New(rand.NewPCG(1, 5))
		for {
			select {
			case <-called:
				return
			default:
			}
			if !timedOut(probeFor(t, inst, time.Duration(random.IntN(4000))*time.Microsecond)) {
				return
			}
		}
	})
	all.Wait()
	close(called)
	probing.Wait()
	if e := terminated.Load(); e != nil {
		return e
	}
	answers(t, inst, encode(t, "echo", []string{"last"}), `"last"`)
	return nil
}

// gate is a plugin whose calls wait for a file.
const gate = `
import collections, itertools, os, time
def wait(begun, until):
    open(begun, "w").close()
    while not os.path.exists(until): time.sleep(0.001)
    return "waited"
def leave(begun, until):
    wait(begun, until)
    os._exit(7)
def loop(begun):
    # One call of C code creates begun and never ends, so that no interruption comes in between.
    collections.deque(itertools.chain(map(os.mkdir, [begun]), itertools.repeat(None)), maxlen=0)
def echo(value): return value
`

// outcome is the result of a call that runs in the background.
type outcome struct {
	value string
	err   error
}

// callAsync makes a call in a goroutine, which ends with the call.
func callAsync(ctx context.Context, inst hook.Instance, c hook.Call) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		r, err := inst.Call(ctx, c)
		done <- outcome{string(r.Value), err}
	}()
	return done
}

// TestPipelineWhenTheFirstHangs checks that calls that wait in the worker behind a hung one are
// answered after it is canceled.
func TestPipelineWhenTheFirstHangs(t *testing.T) {
	runnertest.Retry(t, func() error {
		inst := begin(t, written(t, gate), modes["pipeline"])
		begun := filepath.Join(t.TempDir(), "begun")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := callAsync(ctx, inst, encode(t, "wait", []string{begun, "never"}))
		runnertest.Until(t, "the call has begun", runnertest.Exists(begun))
		var behind []<-chan outcome
		for i := range 7 {
			behind = append(behind, callAsync(t.Context(), inst, encode(t, "echo", []int{i})))
		}
		cancel()
		kind(t, (<-first).err, hook.Canceled)
		var failed error
		for i, one := range behind {
			o := <-one
			if failed = errors.Join(failed, o.err); o.err == nil && o.value != fmt.Sprint(i) {
				t.Errorf("call %d: got %q", i, o.value)
			}
		}
		return failed // the worker did not answer the interruption in time
	})
}

// TestPipelineGivenUp cancels calls that wait in the worker. It checks that their callers return
// at once, that the running call succeeds, and that the worker is kept.
func TestPipelineGivenUp(t *testing.T) {
	inst := begin(t, written(t, gate), modes["pipeline"])
	dir := t.TempDir()
	begun, until, never := filepath.Join(dir, "begun"), filepath.Join(dir, "until"), filepath.Join(dir, "never")
	first := callAsync(t.Context(), inst, encode(t, "wait", []string{begun, until}))
	runnertest.Until(t, "the call has begun", runnertest.Exists(begun))
	for range 20 { // more calls than slots
		ctx, cancel := hook.WithLimit(t.Context(), 5*time.Millisecond)
		_, err := inst.Call(ctx, encode(t, "wait", []string{never, never}))
		cancel()
		kind(t, err, hook.Timeout)
	}
	touch(t, until)
	if o := <-first; o.err != nil {
		t.Fatal(o.err)
	}
	answers(t, inst, encode(t, "echo", []int{1}), "1")
	if _, err := os.Stat(never); err == nil {
		t.Error("a call began that was given up before")
	}
}

// TestPipelineWhenItDies checks that only the running call fails with a crash or a timeout when
// the worker dies. The calls behind it have not begun, and can be made again.
func TestPipelineWhenItDies(t *testing.T) {
	for name, test := range map[string]struct {
		hook string
		want hook.Kind
	}{
		"crash":                 {"leave", hook.Crash},
		"an unanswered timeout": {"loop", hook.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			inst := begin(t, written(t, gate), modes["pipeline"])
			dir := t.TempDir()
			begun, until := filepath.Join(dir, "begun"), filepath.Join(dir, "until")
			args := []string{begun, until}
			if test.hook == "loop" {
				args = args[:1]
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first := callAsync(ctx, inst, encode(t, test.hook, args))
			runnertest.Until(t, "the call has begun", runnertest.Exists(begun))
			var behind []<-chan outcome
			for i := range 20 {
				behind = append(behind, callAsync(t.Context(), inst, encode(t, "echo", []int{i})))
			}
			touch(t, until)
			if test.hook == "loop" {
				cancel()
			}
			if e := kind(t, (<-first).err, test.want); !e.Begun {
				t.Error("the call that ran counts as not sent")
			}
			for i, one := range behind {
				if e := kind(t, (<-one).err, hook.Unavailable); e.Begun {
					t.Errorf("call %d had not begun and counts as sent", i)
				}
			}
		})
	}
}
