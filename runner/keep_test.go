package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// file is the configuration of a functions file with this text.
func file(t *testing.T, text string) runner.Config {
	t.Helper()
	python := runnertest.Python(t)
	dir := t.TempDir()
	put(t, dir, "plug.py", text)
	return runner.Config{Plugin: filepath.Join(dir, "plug.py"), Python: python, Environ: os.Environ(), Cwd: dir}
}

// put writes a file.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keeping keeps a plugin, which the caller closes.
func keeping(t *testing.T, ctx context.Context, cfg runner.Config) (*kept, error) {
	t.Helper()
	o, err := runner.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.Start(ctx)
	return &kept{p}, err
}

// kept is a plugin that runs, with short forms for tests.
type kept struct{ *runner.Pool }

func (k *kept) status() hook.Status {
	st, _ := k.Status(context.Background()) // it never fails
	return st
}

func (k *kept) replay(ctx context.Context, c hook.Call) (hook.Result, error) {
	c.Replay = true
	return k.Call(ctx, c)
}

// keep keeps a plugin until the test ends.
func keep(t *testing.T, cfg runner.Config) *kept {
	t.Helper()
	k, err := keeping(t, t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return k
}

func call(name, args string) hook.Call {
	return hook.Call{Hook: name, Args: hook.Args{JSON: []byte(args)}}
}

// answers wants a call to return something.
func answers(t *testing.T, k hook.Caller, c hook.Call, want string) {
	t.Helper()
	if r, err := k.Call(t.Context(), c); err != nil || string(r.Value) != want {
		t.Fatalf("%s%s: got %s, %v; want %s", c.Hook, c.Args.JSON, r.Value, err, want)
	}
}

// kindOf is an error's kind, 0 when it has none.
func kindOf(err error) hook.Kind {
	e := (*hook.Error)(nil)
	if !errors.As(err, &e) {
		return 0
	}
	return e.Kind
}

// busybody is a functions file whose hooks do what goes wrong.
const busybody = `
import os, time
def ok(n): return n
def pid(): return os.getpid()
def die(): os._exit(3)
def nap(seconds): time.sleep(seconds)
def wait(path):
    open(path + ".began", "w").close()
    while not os.path.exists(path): time.sleep(0.001)
    return path
`

func TestKeepCrashes(t *testing.T) {
	runnertest.NothingLeft(t)
	k := keep(t, file(t, busybody))
	for n := range 3 {
		answers(t, k, call("ok", fmt.Sprintf("[%d]", n)), fmt.Sprint(n))
		_, err := k.Call(t.Context(), call("die", ""))
		if e := (*hook.Error)(nil); !errors.As(err, &e) || e.Kind != hook.Crash || e.Exit == nil || e.Exit.Code != 3 {
			t.Fatalf("got %v, want a crash with exit code 3", err)
		}
	}
	answers(t, k, call("ok", "[7]"), "7")
	st := k.status()
	if st.Restarts != 3 || st.Calls != 7 || st.Failed != 3 || st.Generation != 4 || st.State != hook.StateReady || st.LastExit.Code != 3 {
		t.Errorf("got %+v", st)
	}
	if st.PID == 0 || st.Uptime <= 0 || st.Workers != 1 || st.Ready != 1 || st.Running != 0 || st.Queued != 0 {
		t.Errorf("got %+v", st)
	}
}

// TestKeepTimeout has a trivial call follow one that ran out of time, in the same
// worker.
func TestKeepTimeout(t *testing.T) {
	runnertest.NothingLeft(t)
	k := keep(t, file(t, busybody))
	runnertest.Retry(t, func() error {
		answers(t, k, call("ok", "[1]"), "1")
		before := k.status().PID
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := k.Call(ctx, call("nap", "[3600]")); kindOf(err) != hook.Timeout {
			t.Fatalf("got %v, want a timeout", err)
		}
		answers(t, k, call("ok", "[2]"), "2")
		if now := k.status().PID; now != before {
			return errors.New("the worker was replaced, though it gave the call up")
		}
		return nil
	})
}

func TestKeepFirstStartFails(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		kind hook.Kind
	}{
		"import":        {"import nosuchmodule", hook.Start},
		"syntax":        {"def", hook.Start},
		"not for ever":  {"import os; os._exit(3)", hook.Start},
		"raises":        {"raise OSError('busy')", hook.Start},
		"no such start": {"raise KeyboardInterrupt", hook.Start},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := file(t, "import os\nopen('starts', 'a').write('x')\n"+c.text)
			var log events
			cfg.Keep = runner.Keep{Workers: 3, Events: log.take}
			_, err := keeping(t, t.Context(), cfg)
			if kindOf(err) != c.kind {
				t.Errorf("got %v, want kind %v", err, c.kind)
			}
			if name == "import" && !strings.Contains(err.Error(), "nosuchmodule") {
				t.Errorf("got %v, want the module named", err)
			}
			starts, _ := os.ReadFile(filepath.Join(cfg.Cwd, "starts"))
			if name != "syntax" && string(starts) != "x" {
				t.Errorf("started %d times, want once", len(starts))
			}
			if got := log.states(1); got != "starting failed stopped" {
				t.Errorf("got the events %s", got)
			}
		})
	}
}

// events collects events.
type events struct {
	mu  sync.Mutex
	all []hook.Event
}

func (l *events) take(e hook.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
}

// states are those that one worker entered, in order.
func (l *events) states(worker int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, e := range l.all {
		if e.Worker == worker {
			all = append(all, e.To.String())
		}
	}
	return strings.Join(all, " ")
}

// TestKeepCanceledStart ends a start that is under way, and tells where it was.
func TestKeepCanceledStart(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, "import time\nopen('began', 'w').close()\ntime.sleep(3600)\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	go func() {
		runnertest.Until(t, "the import to begin", runnertest.Exists(filepath.Join(cfg.Cwd, "began")))
		cancel(interrupted)
	}()
	_, err := keeping(t, ctx, cfg)
	if kindOf(err) != hook.Canceled || !errors.Is(err, interrupted) {
		t.Errorf("got %v, want it canceled by its cause", err)
	}
}

// TestKeepCancels gives calls up at random, and looks that no other one gets the
// wrong answer.
func TestKeepCancels(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, "import time\ndef echo(n, seconds):\n    time.sleep(seconds)\n    return n\n")
	cfg.Keep.Workers = 2
	k := keep(t, cfg)
	total := 1000
	if testing.Short() {
		total = 100
	}
	var calls sync.WaitGroup
	for first := range 4 {
		calls.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(first), 1))
			for n := first; n < total; n += 4 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(chance.IntN(4000))*time.Microsecond)
				r, err := k.Call(ctx, call("echo", fmt.Sprintf("[%d, %f]", n, chance.Float64()*0.003)))
				cancel()
				if err == nil && string(r.Value) != fmt.Sprint(n) {
					t.Errorf("call %d got %s", n, r.Value)
				}
				if kind := kindOf(err); err != nil && kind != hook.Timeout && kind != hook.Crash {
					t.Errorf("call %d: %v", n, err)
				}
			}
		})
	}
	calls.Wait()
	answers(t, k, call("echo", "[1, 0]"), "1")
}

func TestKeepErrorField(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, "def f(error): return {'error': error}\ndef g():\n    yield {'error': ''}\n    yield {'error': 'no'}\n    yield {}\n")
	cfg.ErrorField = "error"
	k := keep(t, cfg)
	answers(t, k, call("f", `[""]`), `{"error":""}`)
	if _, err := k.Call(t.Context(), call("f", `["broken"]`)); kindOf(err) != hook.Failed || err.Error() != "broken" {
		t.Errorf("got %v", err)
	}
	var items bytes.Buffer
	streamed := call("g", "")
	streamed.Emit = func(i hook.Item) error { items.Write(i.Value); return nil }
	if _, err := k.Call(t.Context(), streamed); kindOf(err) != hook.Failed || items.String() != `{"error":""}` {
		t.Errorf("got %v after %s", err, items.String())
	}
	if st := k.status(); st.Failed != 2 {
		t.Errorf("%d calls failed, want 2", st.Failed)
	}
}
