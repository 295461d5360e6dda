package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// fakeLauncher starts fakes. mu protects its fields.
type fakeLauncher struct {
	mu       sync.Mutex
	start    time.Duration  // how long a start takes
	fail     error          // the error of every start
	alone    error          // the error of a start while another fake lives
	kind     func(f *fake)  // changes each new fake, or nil
	launched []*fake        // the fakes that became ready
	starts   int            // the number of starts that began
	made     map[int]string // the calls made in each fake, by its number
	closed   bool
	renewed  int  // how often Renew was called
	collide  bool // the fakes report MayCollide
	takes    int
}

func (l *fakeLauncher) Launch(ctx context.Context) (hook.Instance, error) {
	l.mu.Lock()
	l.starts++
	start := l.start
	l.mu.Unlock()
	if start > 0 {
		select {
		case <-time.After(start):
		case <-ctx.Done():
			return nil, &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return nil, l.fail
	}
	for _, other := range l.launched {
		if l.alone != nil && !hook.IsClosed(other.done) {
			return nil, l.alone
		}
	}
	f := &fake{launcher: l, pid: len(l.launched) + 1, takes: max(l.takes, 1), born: time.Now(), done: make(chan struct{})}
	if l.kind != nil {
		l.kind(f)
	}
	l.launched = append(l.launched, f)
	return f, nil
}

func (l *fakeLauncher) Renew() { l.set(func() { l.renewed++ }) }

func (l *fakeLauncher) Close(context.Context) error { l.closed = true; return nil }

// set calls change under mu.
func (l *fakeLauncher) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// last returns the newest fake.
func (l *fakeLauncher) last() *fake {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.launched[len(l.launched)-1]
}

func (l *fakeLauncher) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.starts
}

// fake is an instance. The name of a hook says what the hook does.
type fake struct {
	launcher *fakeLauncher
	pid      int
	takes    int
	born     time.Time
	done     chan struct{}
	stopping time.Duration // how long a stop takes

	mu      sync.Mutex
	exit    hook.Exit
	running int
	probe   func(ctx context.Context) error
	refuses bool // rejects calls, as after a transport has decided to kill it
}

func (f *fake) Concurrency() int      { return f.takes }
func (f *fake) Done() <-chan struct{} { return f.done }
func (f *fake) Info() hook.Info {
	return hook.Info{PID: f.pid, Started: f.born, MayCollide: f.launcher.collide}
}
func (f *fake) Exit() hook.Exit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exit
}

// end ends the process.
func (f *fake) end(exit hook.Exit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !hook.IsClosed(f.done) {
		f.exit = exit
		close(f.done)
	}
}

func (f *fake) Stop(ctx context.Context) error {
	if f.stopping > 0 {
		select {
		case <-time.After(f.stopping):
		case <-ctx.Done():
			f.end(hook.Exit{Signal: "SIGKILL", Stopped: true})
			return errors.New("killed")
		}
	}
	f.end(hook.Exit{Stopped: true})
	return nil
}

func (f *fake) Crash() error { f.end(hook.Exit{Signal: "SIGKILL", Code: -1}); return nil }

func (f *fake) Describe(_ context.Context, q schema.Query) (schema.Schema, error) {
	if q.Hook != "" {
		return schema.Schema{}, hook.NewError(hook.Request, &schema.NoHookError{Hook: q.Hook})
	}
	return schema.Schema{Hooks: []schema.Hook{{Name: fmt.Sprint("hook", f.pid)}}}, nil
}

func (f *fake) Probe(ctx context.Context) error {
	f.mu.Lock()
	probe := f.probe
	f.mu.Unlock()
	if probe == nil {
		return nil
	}
	return probe(ctx)
}

func (f *fake) Health(ctx context.Context) error { return f.Probe(ctx) }

func (f *fake) Stack() []hook.Frame { return []hook.Frame{{File: "fake.py", Line: f.pid}} }

func (f *fake) Attach() json.RawMessage { return nil }

func (f *fake) probes(probe func(ctx context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.probe = probe
}

// hang is a probe without an answer.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return hook.Ended(ctx, "", "no answer", false)
}

func (f *fake) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	f.mu.Lock()
	if hook.IsClosed(f.done) || f.refuses {
		f.mu.Unlock()
		return hook.Result{}, &hook.Error{Kind: hook.Unavailable, Hook: c.Hook, Err: errors.New("the plugin has exited")}
	}
	if f.running++; f.running > f.takes {
		panic("too many calls at once")
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	f.launcher.set(func() {
		if f.launcher.made == nil {
			f.launcher.made = map[int]string{}
		}
		f.launcher.made[f.pid] = strings.TrimSpace(f.launcher.made[f.pid] + " " + c.Hook)
	})
	return f.do(ctx, c)
}

// do does what the name of a hook says.
func (f *fake) do(ctx context.Context, c hook.Call) (hook.Result, error) {
	fail := func(k hook.Kind) (hook.Result, error) {
		return hook.Result{}, &hook.Error{Kind: k, Hook: c.Hook, Begun: true, Err: errors.New(c.Hook)}
	}
	switch name, rest, _ := strings.Cut(c.Hook, " "); name {
	case "fail":
		return fail(hook.Failed)
	case "crash":
		f.end(hook.Exit{Code: 3})
		return fail(hook.Crash)
	case "panic":
		panic("in a callback")
	case "sleep", "deaf", "mute": // deaf ignores the end of ctx; mute does not confirm that the call has ended
		d, _ := time.ParseDuration(rest)
		over := ctx.Done()
		if name == "deaf" {
			over = nil
		}
		select {
		case <-time.After(d):
		case <-over:
			e := hook.Ended(ctx, c.Hook, "", true)
			e.Unanswered = name == "mute"
			return hook.Result{}, e
		case <-f.done:
			return fail(hook.Crash)
		}
		if name == "deaf" && ctx.Err() != nil {
			return hook.Result{}, hook.Ended(ctx, c.Hook, "", true)
		}
	}
	return hook.Result{Item: hook.Item{Value: c.Args.JSON}}, nil
}

// world is a pool of fakes in a bubble of synctest.
type world struct {
	*Pool
	t        *testing.T
	launcher *fakeLauncher
	mu       sync.Mutex
	events   []hook.Event
}

// sleep advances the clock of a bubble.
func sleep(d time.Duration) { time.Sleep(d) }

// bubble runs a test of a pool with a fake clock, and closes the pool.
func bubble(t *testing.T, opt Options, with func(*fakeLauncher), test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, launcher: &fakeLauncher{}}
		if with != nil {
			with(w.launcher)
		}
		w.launcher.takes = max(w.launcher.takes, opt.Concurrency)
		opt.Events = func(e hook.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		}
		if opt.Rand == nil {
			opt.Rand = func() float64 { return 0 }
		}
		p, err := Start(t.Context(), w.launcher, opt)
		if err != nil {
			t.Fatal(err)
		}
		w.Pool = p
		test(w)
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if !w.launcher.closed {
			t.Error("the launcher was not closed")
		}
		for _, f := range w.launcher.launched {
			if !hook.IsClosed(f.done) {
				t.Errorf("instance %d was left", f.pid)
			}
		}
	})
}

// call makes a call and returns its error.
func (w *world) call(name string) *hook.Error {
	return w.callWithin(time.Hour, name)
}

func (w *world) callWithin(limit time.Duration, name string) *hook.Error {
	w.t.Helper()
	ctx, cancel := hook.WithLimit(w.t.Context(), limit)
	defer cancel()
	value := json.RawMessage(`"` + name + `"`)
	r, err := w.Call(ctx, hook.Call{Hook: name, Args: hook.Args{JSON: value}})
	if err == nil {
		if string(r.Value) != string(value) {
			w.t.Errorf("%s: got the answer %s", name, r.Value)
		}
		return nil
	}
	return hook.AsError(err)
}

// works makes a call that succeeds.
func (w *world) works() {
	w.t.Helper()
	if err := w.call("ok"); err != nil {
		w.t.Fatalf("got %v: %v", err.Kind, err)
	}
}

// fails makes a call that fails with a kind and a reason.
func (w *world) fails(name string, kind hook.Kind, reason string) *hook.Error {
	w.t.Helper()
	err := w.call(name)
	if err == nil || err.Kind != kind || err.Reason != reason {
		w.t.Fatalf("%s: got %+v, want %v %q", name, err, kind, reason)
	}
	return err
}

// states checks the states that were entered since its last call, in order.
func (w *world) states(want string) {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, e := range w.events {
		all = append(all, fmt.Sprintf("%d:%v", e.Generation, e.To))
	}
	if got := strings.Join(all, " "); got != want {
		w.t.Errorf("got the states %s\nwant %s", got, want)
	}
	w.events = nil
}

func (w *world) status() hook.Status {
	synctest.Wait()
	st, _ := w.Status(context.Background())
	return st
}

// took returns how long do takes, by the clock of the bubble.
func took(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// CallSeries makes calls up to one that crashes or sleeps. It asks for more before the last one.
func (f *fake) CallSeries(ctx context.Context, s *hook.Series) {
	for over := false; len(s.Calls) > 0 && !over; {
		if len(s.Calls) == 1 {
			s.Extend(3)
		}
		name := s.Calls[0].Hook
		r, err := f.Call(ctx, s.Calls[0])
		over = err != nil || strings.HasPrefix(name, "sleep")
		if err != nil {
			s.Answer(r, hook.AsError(err))
		} else {
			s.Answer(r, nil)
		}
	}
}
