package pool

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// fakeSlot is a slot whose instances are scripted. It holds the pool to the
// promises of Slot.
type fakeSlot struct {
	t     testing.TB
	start time.Duration // how long an instance takes to start
	takes int           // its concurrency
	kind  func(*fake)   // changes each new instance; nil for none
	fail  error         // if set, it gives up instead of starting one

	mu       sync.Mutex
	wake     chan struct{} // closed, and made anew, when there is news
	ready    *fake
	starting bool
	stopped  bool
	count    int
	holds    map[*fake]int
	errs     []error // that holds were released with
	reasons  []string
	asked    []time.Time // when the reasons came
	acquires int
}

// fake is one instance.
type fake struct {
	slot    *fakeSlot
	pid     int
	takes   int
	started time.Time
	done    chan struct{}
	die     sync.Once
	probe   func(ctx context.Context) error

	mu      sync.Mutex
	running int
	calls   int
	refuses bool // was condemned by its transport
	slow    bool // takes half a second to say so
}

func newSlot(t testing.TB) *fakeSlot {
	return &fakeSlot{t: t, takes: 1, wake: make(chan struct{}), holds: map[*fake]int{}}
}

func (s *fakeSlot) news() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// launch starts an instance. s.mu is held.
func (s *fakeSlot) launch() {
	if s.starting || s.stopped {
		return
	}
	s.starting = true
	if s.start == 0 {
		s.launched()
		return
	}
	time.AfterFunc(s.start, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.launched()
	})
}

func (s *fakeSlot) launched() {
	defer s.news()
	s.starting = false
	if s.stopped || s.fail != nil {
		return
	}
	s.count++
	old := s.ready
	s.ready = &fake{slot: s, pid: s.count, takes: s.takes, started: time.Now(), done: make(chan struct{})}
	if s.kind != nil {
		s.kind(s.ready)
	}
	if old != nil && s.holds[old] == 0 {
		old.end()
	}
}

func (s *fakeSlot) Acquire(ctx context.Context) (Hold, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acquires++
	for {
		switch {
		case s.ready != nil && ended(s.ready):
			s.ready = nil
			continue
		case s.ready != nil:
			return s.hold(s.ready), nil
		case s.stopped:
			return nil, errors.New("stopped")
		case s.fail != nil:
			return nil, s.fail
		}
		if s.launch(); s.ready != nil {
			continue
		}
		if err := s.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// wait waits for news. s.mu is held, but not meanwhile.
func (s *fakeSlot) wait(ctx context.Context) error {
	wake := s.wake
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *fakeSlot) TryAcquire() (Hold, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready == nil || ended(s.ready) {
		return nil, false
	}
	return s.hold(s.ready), true
}

// fakeHold is a hold on an instance.
type fakeHold struct {
	f        *fake
	released bool
}

// hold makes one. s.mu is held.
func (s *fakeSlot) hold(f *fake) *fakeHold {
	s.holds[f]++
	return &fakeHold{f: f}
}

func (h *fakeHold) Instance() hook.Instance { return h.f }

func (h *fakeHold) Release(err error) {
	s := h.f.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.released {
		s.t.Errorf("a hold on instance %d was released twice", h.f.pid)
	}
	h.released = true
	s.holds[h.f]--
	if err != nil {
		s.errs = append(s.errs, err)
	}
	if s.ready != h.f && s.holds[h.f] == 0 {
		h.f.end()
	}
}

func (s *fakeSlot) Replace(ctx context.Context, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reasons, s.asked = append(s.reasons, reason), append(s.asked, time.Now())
	for before := s.count; s.count == before; {
		switch {
		case s.stopped:
			return errors.New("stopped")
		case s.fail != nil:
			return s.fail
		}
		if s.launch(); s.count > before {
			break
		}
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *fakeSlot) Stop(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for f := range s.holds {
		f.end()
	}
	if s.ready != nil {
		s.ready.end()
	}
	s.news()
	return nil
}

// free checks that nothing is held.
func (s *fakeSlot) free() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for f, n := range s.holds {
		if n != 0 {
			s.t.Errorf("instance %d is still held %d times", f.pid, n)
		}
	}
}

// current is the instance that is ready.
func (s *fakeSlot) current() *fake {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// failing makes it give up from now on, or not.
func (s *fakeSlot) failing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *fakeSlot) replaced() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reasons)
}

func (f *fake) end() { f.die.Do(func() { close(f.done) }) }

func (f *fake) Concurrency() int           { return f.takes }
func (f *fake) Done() <-chan struct{}      { return f.done }
func (f *fake) Exit() hook.Exit            { return hook.Exit{Code: f.pid} }
func (f *fake) Stop(context.Context) error { f.end(); return nil }
func (f *fake) Info() hook.Info            { return hook.Info{PID: f.pid, Started: f.started} }
func (f *fake) Describe(context.Context) (schema.Schema, error) {
	return schema.Schema{Hooks: []schema.Hook{{Name: "echo"}}}, nil
}
func (f *fake) Probe(ctx context.Context) error {
	if f.probe != nil {
		return f.probe(ctx)
	}
	return nil
}

// Call does what the hook's name says; its argument is the answer.
func (f *fake) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	f.mu.Lock()
	if ended(f) || f.refuses {
		slow := f.slow
		f.mu.Unlock()
		if slow {
			time.Sleep(500 * time.Millisecond)
		}
		return hook.Result{}, &hook.Error{Kind: hook.Unavailable, Hook: c.Hook, Err: errors.New("refused")}
	}
	f.running++
	f.calls++
	if f.running > f.takes {
		f.slot.t.Errorf("instance %d runs %d calls at once, want at most %d", f.pid, f.running, f.takes)
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	answer := hook.Result{Item: hook.Item{Value: c.Args.JSON}}
	switch c.Hook {
	case "pid":
		return hook.Result{Item: hook.Item{Value: f.name()}}, nil
	case "second", "stubborn", "deaf", "long":
		return f.last(ctx, c, answer)
	case "crash":
		f.end()
	case "fail":
		return hook.Result{}, &hook.Error{Kind: hook.Failed, Hook: c.Hook, Begun: true, Err: errors.New("raised")}
	case "panic":
		panic("emit")
	}
	if ended(f) {
		exit := f.Exit()
		return hook.Result{}, &hook.Error{Kind: hook.Crash, Hook: c.Hook, Begun: true, Exit: &exit, Err: errors.New("died")}
	}
	return answer, nil
}

// last takes a second, "long" a minute. Interrupted, a call of "stubborn" takes another 100 ms,
// and that of "deaf" 200 ms and then its instance.
func (f *fake) last(ctx context.Context, c hook.Call, answer hook.Result) (hook.Result, error) {
	began := time.Now()
	takes := time.Second
	if c.Hook == "long" {
		takes = time.Minute
	}
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		return answer, nil
	case <-f.done:
		exit := f.Exit()
		return hook.Result{}, &hook.Error{Kind: hook.Crash, Hook: c.Hook, Begun: true, Exit: &exit, Err: errors.New("died")}
	case <-ctx.Done():
	}
	switch c.Hook {
	case "stubborn":
		time.Sleep(100 * time.Millisecond)
	case "deaf":
		time.Sleep(200 * time.Millisecond)
		f.end()
	}
	return hook.Result{}, hook.Ended(ctx, c.Hook, "no result", began, true)
}

func (f *fake) name() json.RawMessage {
	text, _ := json.Marshal(f.pid)
	return text
}

// bubble runs a test in a bubble with a pool over n slots, each changed by with.
func bubble(t *testing.T, n int, opt Options, with func(*fakeSlot), test func(t *testing.T, p *Pool, slots []*fakeSlot)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		slots, keepers := make([]*fakeSlot, n), make([]Slot, n)
		for i := range slots {
			slots[i] = newSlot(t)
			if with != nil {
				with(slots[i])
			}
			keepers[i] = slots[i]
		}
		p := New(keepers, opt)
		synctest.Wait()
		test(t, p, slots)
		if err := p.Close(t.Context()); err != nil {
			t.Errorf("closing: %v", err)
		}
		synctest.Wait()
		for _, s := range slots {
			s.free()
		}
		if st := p.Stats(); st.Queued != 0 || st.Running != 0 {
			t.Errorf("after the end: %+v", st)
		}
	})
}

// call calls with a value and checks that the answer is the same.
func call(t testing.TB, p hook.Caller, ctx context.Context, name, value string) error {
	t.Helper()
	r, err := p.Call(ctx, hook.Call{Hook: name, Args: hook.Args{JSON: json.RawMessage(value)}})
	if err == nil && string(r.Value) != value {
		t.Errorf("%s(%s) answered %s", name, value, r.Value)
	}
	return err
}

// want checks that an error is a hook's of a kind, and gives it.
func want(t testing.TB, err error, kind hook.Kind) *hook.Error {
	t.Helper()
	var e *hook.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("got %v, want an error of kind %v", err, kind)
	}
	return e
}

// good checks that a call is answered.
func good(t testing.TB, p hook.Caller) {
	t.Helper()
	if err := call(t, p, t.Context(), "echo", `"good"`); err != nil {
		t.Errorf("a plain call: %v", err)
	}
}
