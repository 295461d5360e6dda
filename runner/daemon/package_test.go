package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// runDir has this process's names in a directory of the test's own, whose path is
// short enough for a socket.
func runDir(t testing.TB) string {
	t.Helper()
	if !supported {
		t.Skip("there are no background plugins here")
	}
	base, err := os.MkdirTemp("/tmp", "pd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	dir := filepath.Join(base, "pyplug")
	t.Setenv("PYPLUG_RUN_DIR", dir)
	return dir
}

// fake is a session whose hooks are functions of the test.
type fake struct {
	hooks map[string]func(ctx context.Context, c hook.Call) (hook.Result, error)

	mu       sync.Mutex
	replayed []string
	reasons  []string
	closed   bool
	calls    int
	idle     *sync.Cond    // calls went down
	over     chan struct{} // closed by Close
	probe    error
}

func newFake() *fake {
	f := &fake{over: make(chan struct{})}
	f.idle = sync.NewCond(&f.mu)
	f.hooks = map[string]func(context.Context, hook.Call) (hook.Result, error){
		"echo": func(_ context.Context, c hook.Call) (hook.Result, error) {
			if len(c.Args.Words) > 0 {
				return value(c.Args.Words), nil
			}
			return hook.Result{Item: hook.Item{Value: c.Args.JSON}}, nil
		},
		"block": func(ctx context.Context, c hook.Call) (hook.Result, error) {
			select {
			case <-ctx.Done():
				e := hook.Ended(ctx, c.Hook, "no result", testBegan, true)
				e.At = []hook.Frame{{File: "a.py", Line: 7, Function: "block"}}
				return hook.Result{}, e
			case <-f.over:
				return hook.Result{}, &hook.Error{Kind: hook.Canceled, Hook: c.Hook, Begun: true,
					Err: errors.New("the plugin was stopped during the call")}
			}
		},
	}
	return f
}

func value(v any) hook.Result {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return hook.Result{Item: hook.Item{Value: text}}
}

func (f *fake) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	f.mu.Lock()
	f.calls++
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.calls--
		f.idle.Broadcast()
		f.mu.Unlock()
	}()
	do := f.hooks[c.Hook]
	if do == nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Hook: c.Hook, Err: &schema.NoHookError{Hook: c.Hook, Known: []string{"echo"}}}
	}
	return do(ctx, c)
}

func (f *fake) Describe(context.Context) (schema.Schema, error) {
	return schema.Schema{Hooks: []schema.Hook{{Name: "echo", Params: []schema.Param{{Name: "text", Required: true, Kind: schema.Ordinary}}}}}, nil
}

func (f *fake) Template(_ context.Context, name string) ([]byte, error) {
	return []byte("{\n  \"hook\": \"" + name + "\"\n}\n"), nil
}

func (f *fake) Probe(context.Context) error { return f.probe }

func (f *fake) Status() hook.Status {
	return hook.Status{State: hook.StateReady, PID: 42, Generation: 3, Workers: 1, Ready: 1,
		LastExit: &hook.Exit{Code: -1, Signal: "SIGSEGV", Stderr: []string{"Fatal"}}}
}

func (f *fake) Restart(_ context.Context, reason string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reasons = append(f.reasons, reason)
	return nil
}

func (f *fake) Replay(ctx context.Context, c hook.Call) (hook.Result, error) {
	f.mu.Lock()
	f.replayed = append(f.replayed, c.Hook)
	f.mu.Unlock()
	return f.Call(ctx, c)
}

func (f *fake) Drain(ctx context.Context) error {
	defer context.AfterFunc(ctx, f.idle.Broadcast)()
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.calls > 0 && ctx.Err() == nil {
		f.idle.Wait()
	}
	return ctx.Err()
}

func (f *fake) Close(context.Context) error {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.over)
	}
	f.mu.Unlock()
	return f.Drain(context.Background())
}

// served is a daemon of the test's own process.
type served struct {
	*Server
	*fake
	end  context.CancelFunc
	over chan struct{} // closed when Serve has returned
}

// start serves a fake session under the name "p" until the test ends.
func start(t testing.TB, f *fake, o Options) *served {
	t.Helper()
	s, err := Listen(Identity{Name: "p", Plugin: "p.py", Entry: "/x/p.py", Version: "1.0"}, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &served{Server: s, fake: f, end: cancel, over: make(chan struct{})}
	go func() {
		defer close(d.over)
		if err := s.Serve(ctx, f); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(d.stop)
	return d
}

func (d *served) stop() { d.end(); <-d.over }

// open connects to "p" until the test ends.
func open(t testing.TB) *Client {
	t.Helper()
	c, err := Open(context.Background(), "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// files are the names in a directory.
func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// kindOf is an error's kind.
func kindOf(t testing.TB, err error) hook.Kind {
	t.Helper()
	e := (*hook.Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *hook.Error", err)
	}
	return e.Kind
}

func nothingLeft(t *testing.T) string {
	t.Helper()
	runnertest.NothingLeft(t)
	return runDir(t)
}
