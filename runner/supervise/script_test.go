package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// part is what one launch of a script does. The zero part starts at once and
// lives until it is stopped.
type part struct {
	takes time.Duration // until it is ready, or has failed
	err   error         // of the start
	dies  time.Duration // after it was ready; 0: not by itself
	exit  hook.Exit
	probe func(ctx context.Context) error
	call  func(ctx context.Context, i *actor, c hook.Call) error
	stops time.Duration // how long it takes to stop, unless it is killed
}

// script is a launcher that plays its parts in order, and the last one again and
// again.
type script struct {
	parts []part

	mu       sync.Mutex
	launches []time.Time
	actors   []*actor
	live     int // processes, with those that start
	most     int
	calls    []string // "generation hook" of each
}

func play(parts ...part) *script { return &script{parts: parts} }

func (s *script) Close(context.Context) error { return nil }

func (s *script) Launch(ctx context.Context) (hook.Instance, error) {
	s.mu.Lock()
	p := s.parts[min(len(s.launches), len(s.parts)-1)]
	s.launches = append(s.launches, time.Now())
	number := len(s.launches)
	s.live++
	s.most = max(s.most, s.live)
	s.mu.Unlock()
	err := p.err
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
		err = &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
	if err != nil {
		s.gone()
		return nil, err
	}
	i := &actor{part: p, script: s, number: number, done: make(chan struct{})}
	s.mu.Lock()
	s.actors = append(s.actors, i)
	s.mu.Unlock()
	if p.dies > 0 {
		go func() { // ends with the instance
			select {
			case <-time.After(p.dies):
				i.die(p.exit)
			case <-i.done:
			}
		}()
	}
	return i, nil
}

func (s *script) gone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live--
}

func (s *script) count() (launches, live, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.launches), s.live, s.most
}

// actor is an instance of a script.
type actor struct {
	part
	script *script
	number int
	done   chan struct{}
	once   sync.Once
	ended  hook.Exit
}

func (i *actor) die(exit hook.Exit) {
	i.once.Do(func() {
		i.ended = exit
		i.script.gone()
		close(i.done)
	})
}

func (i *actor) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	i.script.mu.Lock()
	i.script.calls = append(i.script.calls, fmt.Sprint(i.number, " ", c.Hook))
	i.script.mu.Unlock()
	if i.call == nil {
		return hook.Result{}, nil
	}
	return hook.Result{}, i.call(ctx, i, c)
}

func (i *actor) Describe(context.Context) (schema.Schema, error) { return schema.Schema{}, nil }
func (i *actor) Concurrency() int                                { return 1 }
func (i *actor) Done() <-chan struct{}                           { return i.done }
func (i *actor) Exit() hook.Exit                                 { return i.ended }
func (i *actor) Info() hook.Info                                 { return hook.Info{PID: 1000 + i.number} }

func (i *actor) Probe(ctx context.Context) error {
	if i.probe == nil {
		return nil
	}
	return i.probe(ctx)
}

var errKilled = &hook.Error{Kind: hook.Timeout, Err: errors.New("it was killed")}

func (i *actor) Stop(ctx context.Context) error {
	var err error
	select {
	case <-time.After(i.stops):
	case <-ctx.Done():
		err = errKilled
	case <-i.done:
	}
	i.die(hook.Exit{Signal: "SIGTERM", Code: -1, Stopped: true})
	return err
}

// record keeps the events of a supervisor.
type record struct {
	mu     sync.Mutex
	events []hook.Event
}

func (r *record) add(e hook.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// line is "generation from>to".
func line(e hook.Event) string {
	text := fmt.Sprint(e.Generation, " ", e.From, ">", e.To)
	if e.Delay > 0 {
		text += " " + e.Delay.String()
	}
	return text
}

func (r *record) take() []hook.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.events
	r.events = nil
	return taken
}

// want compares the events since the last look, such as "1 ready>backoff 1s",
// and forgets them.
func (r *record) want(t *testing.T, want ...string) []hook.Event {
	t.Helper()
	synctest.Wait()
	events := r.take()
	var got []string
	for _, e := range events {
		got = append(got, line(e))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("events:\n  got  %s\n  want %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
	return events
}

// noChance takes the chance out of the delays.
func noChance() float64 { return 0 }

// bubble runs f in a bubble, with a supervisor of its script that is stopped
// afterwards, and looks that nothing is left.
func bubble(t *testing.T, s *script, opts Options, f func(t *testing.T, v *Supervisor, r *record)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &record{}
		opts.Launcher, opts.Events = s, r.add
		if opts.Rand == nil {
			opts.Rand = noChance
		}
		v := New(opts)
		defer func() {
			_ = v.Stop(t.Context())
			synctest.Wait()
			if _, live, _ := s.count(); live != 0 {
				t.Errorf("%d processes are left", live)
			}
			if len(v.live) != 0 || v.helpers != 0 {
				t.Errorf("%d generations and %d helpers are left", len(v.live), v.helpers)
			}
		}()
		f(t, v, r)
	})
}

// acquire waits for an instance, at most as long as a test may take.
func acquire(t *testing.T, v *Supervisor) *Lease {
	t.Helper()
	l, err := v.Acquire(t.Context())
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	return l
}

// crash is a call during which the plugin dies.
func crash(t *testing.T, v *Supervisor) {
	t.Helper()
	l := acquire(t, v)
	i := l.Instance().(*actor)
	exit := hook.Exit{Code: -1, Signal: "SIGSEGV"}
	i.die(exit)
	l.Release(&hook.Error{Kind: hook.Crash, Exit: &exit, Err: errors.New("it crashed")})
}

func startError(text string) *hook.Error {
	return &hook.Error{Kind: hook.Start, Err: errors.New(text)}
}

// wantKind looks at the kind of an error and at a part of its text.
func wantKind(t *testing.T, err error, kind hook.Kind, part string) {
	t.Helper()
	e := (*hook.Error)(nil)
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(err.Error(), part) {
		t.Fatalf("got the error %v, want one of kind %s with %q", err, kind, part)
	}
}
