package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// runDir makes this process use a run directory of the test, whose path is short enough for a
// socket.
func runDir(t testing.TB) string {
	t.Helper()
	parent := "/tmp"
	if runtime.GOOS == "windows" {
		parent = ""
	}
	base, err := os.MkdirTemp(parent, "pd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	dir := filepath.Join(base, "pyplug")
	t.Setenv("PYPLUG_RUN_DIR", dir)
	return dir
}

var errStopped = errors.New("the plugin was stopped during the call")

// fake is a plugin whose hooks are functions of the test.
type fake struct {
	hooks map[string]func(ctx context.Context, c hook.Call) (hook.Result, error)
	drain time.Duration // how long Close waits for calls

	mu       sync.Mutex
	running  int
	idle     *sync.Cond // signals that running became 0
	replayed []string
	reasons  []string
	over     chan struct{} // closed by Close
	health   error
	events   chan hook.Event
}

func newFake() *fake {
	f := &fake{over: make(chan struct{}), events: make(chan hook.Event, 10)}
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
				e := hook.Ended(ctx, c.Hook, "", true)
				e.At = []hook.Frame{{File: "a.py", Line: 7, Function: "block"}}
				return hook.Result{}, e
			case <-f.over:
				return hook.Result{}, &hook.Error{Kind: hook.Canceled, Hook: c.Hook, Begun: true, Err: errStopped}
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
	f.running++
	if c.Replay {
		f.replayed = append(f.replayed, c.Hook)
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running--
		f.idle.Broadcast()
	}()
	do := f.hooks[c.Hook]
	if do == nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Reason: "no-hook", Hook: c.Hook, Err: errors.New("no such hook")}
	}
	return do(ctx, c)
}

func (f *fake) Hooks(_ context.Context, q schema.Query) (schema.Schema, error) {
	return schema.Schema{Hooks: []schema.Hook{{Name: "echo" + q.Hook, Params: []schema.Param{{Name: "text", Required: true, Kind: schema.Ordinary}}}}}, nil
}

func (f *fake) Health(context.Context) error { return f.health }

func (f *fake) Status(context.Context) (hook.Status, error) {
	return hook.Status{State: hook.StateReady, PID: 42, Generation: 3, Workers: 1, Ready: 1,
		LastExit: &hook.Exit{Code: -1, Signal: "SIGSEGV", Stderr: []string{"Fatal"}}}, nil
}

func (f *fake) Events(ctx context.Context) iter.Seq2[hook.Event, error] {
	return func(yield func(hook.Event, error) bool) {
		for {
			select {
			case e := <-f.events:
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			case <-f.over:
				return
			}
		}
	}
}

func (f *fake) Restart(_ context.Context, reason string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reasons = append(f.reasons, reason)
	return nil
}

func (f *fake) Close(ctx context.Context) error {
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		f.mu.Lock()
		defer f.mu.Unlock()
		for f.running > 0 {
			f.idle.Wait()
		}
	}()
	select {
	case <-idle:
	case <-time.After(f.drain):
	case <-ctx.Done():
	}
	close(f.over)
	<-idle
	return nil
}

// served is a daemon in the test's own process.
type served struct {
	*Server
	*fake
	end  context.CancelFunc
	over chan struct{} // closed when Serve has returned
}

// hasSockets is false on a system without Unix sockets, such as Wine 10.
var hasSockets = sync.OnceValue(func() bool {
	_, err := net.Dial("unix", "nowhere")
	return !errors.Is(err, noSockets)
})

func needSockets(t testing.TB) {
	t.Helper()
	if !hasSockets() {
		t.Skip("there are no Unix sockets here")
	}
}

func listen(t testing.TB, o Options) *Server {
	t.Helper()
	needSockets(t)
	s, err := Listen(Identity{Name: "p", Plugin: "p.py", Entry: "/x/p.py", About: "p.py (python 3)", Version: "1.0"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start serves a fake plugin under the name "p" until the test ends.
func start(t testing.TB, f *fake, o Options) *served {
	t.Helper()
	return startPlugin(t, f, f, o)
}

// startPlugin serves p, which wraps f.
func startPlugin(t testing.TB, f *fake, p hook.Plugin, o Options) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	d := &served{Server: listen(t, o), fake: f, end: cancel, over: make(chan struct{})}
	go func() {
		defer close(d.over)
		if err := d.Serve(ctx, p); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(d.stop)
	return d
}

func (d *served) stop() { d.end(); <-d.over }

// open opens a client of "p".
func open(t testing.TB) *Client {
	t.Helper()
	c, err := Open(context.Background(), "p")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// files returns the names in a directory except logs, which outlive their daemon.
func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".log") {
			names = append(names, e.Name())
		}
	}
	return names
}

// kindOf returns an error's kind.
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

// awaitCall waits until the plugin runs a call. The server counts a call earlier, when it can still
// reject it.
func (f *fake) awaitCall(t *testing.T) {
	t.Helper()
	runnertest.Until(t, "the call runs", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.running > 0
	})
}

// awaitRequests waits until n calls have reached a server whose plugin is starting.
func awaitRequests(t *testing.T, s *Server, n int) {
	t.Helper()
	runnertest.Until(t, "the calls wait", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.calls >= n
	})
}

func isEnding(s *Server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}
