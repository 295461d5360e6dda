package runnertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Suite is the conformance suite. Every field is required.
type Suite struct {
	// New returns a launcher of a plugin that supports the calls below.
	New func(t *testing.T) hook.Launcher
	// Broken returns a launcher of a plugin that exits before it is ready.
	Broken func(t *testing.T) hook.Launcher
	// Echo returns its text as the result. Text reads the text from the result.
	Echo func(text string) hook.Call
	Text func(r hook.Result) string
	// Raise raises an error whose message contains "on purpose".
	Raise hook.Call
	// Missing calls an unknown hook. BadArgs has arguments that do not fit.
	Missing, BadArgs hook.Call
	// Hang never returns but can be interrupted. Stubborn cannot be interrupted.
	Hang, Stubborn hook.Call
	// Exit exits with code 7.
	Exit hook.Call
	// Stream streams n items.
	Stream func(n int) hook.Call
	// Hook is the name of a hook that Describe must list.
	Hook string
}

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	for name, test := range map[string]func(*testing.T, hook.Instance){
		"echo":             s.echo,
		"raise":            s.raise,
		"missing hook":     s.missing,
		"bad arguments":    s.badArguments,
		"cancel":           s.cancel,
		"timeout":          s.timeout,
		"stubborn":         s.stubborn,
		"crash":            s.crash,
		"stop":             s.stop,
		"stop during call": s.stopDuringCall,
		"describe":         s.describe,
		"probe":            s.probe,
		"series":           s.series,
		"stream":           s.stream,
		"stream refused":   s.streamRefused,
		"many callers":     s.manyCallers,
	} {
		t.Run(name, func(t *testing.T) {
			NothingLeft(t)
			test(t, s.launch(t))
		})
	}
	t.Run("broken start", func(t *testing.T) {
		NothingLeft(t)
		inst, err := s.Broken(t).Launch(within(t))
		if inst != nil || err == nil {
			t.Fatalf("got %v, %v, expected an error alone", inst, err)
		}
		wantKind(t, err, hook.Start, hook.Interpreter, hook.Handshake)
	})
	t.Run("canceled start", func(t *testing.T) {
		NothingLeft(t)
		ctx, cancel := context.WithCancel(within(t))
		cancel()
		inst, err := s.New(t).Launch(ctx)
		if inst != nil {
			t.Fatal("a canceled start returned an instance")
		}
		wantKind(t, err, hook.Canceled)
	})
}

func (s Suite) launch(t *testing.T) hook.Instance {
	t.Helper()
	l := s.New(t)
	inst, err := l.Launch(within(t))
	if err != nil {
		t.Fatalf("launch: %v", err)
	}
	t.Cleanup(func() {
		if err := inst.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
		if err := l.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return inst
}

// within returns a context for a test. It ends after [WaitTimeout].
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	t.Cleanup(cancel)
	return ctx
}

// wantKind checks that err is an *Error of one of the kinds.
func wantKind(t *testing.T, err error, kinds ...hook.Kind) *hook.Error {
	t.Helper()
	var e *hook.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %T %v, expected *hook.Error", err, err)
	}
	for _, k := range kinds {
		if e.Kind == k {
			return e
		}
	}
	t.Fatalf("got kind %v (%v), expected %v", e.Kind, e, kinds)
	return nil
}

// works checks that the instance answers.
func (s Suite) works(t *testing.T, inst hook.Instance) {
	t.Helper()
	if err := s.answers(t, inst); err != nil {
		t.Fatal(err)
	}
}

func (s Suite) answers(t *testing.T, inst hook.Instance) error {
	r, err := inst.Call(within(t), s.Echo("still here"))
	if err != nil || s.Text(r) != "still here" {
		return fmt.Errorf("the next call: got %s, %v", r.Value, err)
	}
	return nil
}

func (s Suite) echo(t *testing.T, inst hook.Instance) {
	for _, text := range []string{"", "World", "ünï → 😀", "a\nb\x00c", `"quoted" \`, strings.Repeat("0123456789abcdef", 1<<16)} {
		r, err := inst.Call(within(t), s.Echo(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Text(r); got != text {
			t.Errorf("a text of %d bytes was returned as %d bytes %.40q", len(text), len(got), got)
		}
	}
}

func (s Suite) raise(t *testing.T, inst hook.Instance) {
	_, err := inst.Call(within(t), s.Raise)
	e := wantKind(t, err, hook.Failed)
	if !strings.Contains(e.Error(), "on purpose") || !e.Begun || e.Hook == "" {
		t.Errorf("got %q, sent %v, hook %q", e, e.Begun, e.Hook)
	}
	s.works(t, inst)
}

func (s Suite) missing(t *testing.T, inst hook.Instance) {
	_, err := inst.Call(within(t), s.Missing)
	wantKind(t, err, hook.Request)
	s.works(t, inst)
}

func (s Suite) badArguments(t *testing.T, inst hook.Instance) {
	_, err := inst.Call(within(t), s.BadArgs)
	wantKind(t, err, hook.Request)
	s.works(t, inst)
}

func (s Suite) cancel(t *testing.T, inst hook.Instance) {
	s.interrupted(t, inst, func(inst hook.Instance) {
		ctx, cancel := context.WithCancelCause(within(t))
		why := errors.New("enough")
		time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
		_, err := inst.Call(ctx, s.Hang)
		if e := wantKind(t, err, hook.Canceled); !errors.Is(e, why) {
			t.Errorf("got %v, expected the cause of the cancel", e)
		}
	})
}

func (s Suite) timeout(t *testing.T, inst hook.Instance) {
	s.interrupted(t, inst, func(inst hook.Instance) {
		ctx, cancel := hook.WithLimit(within(t), 50*time.Millisecond)
		defer cancel()
		_, err := inst.Call(ctx, s.Hang)
		wantKind(t, err, hook.Timeout)
	})
}

// interrupted checks that the instance answers after an interrupted call. On a busy machine it may
// react too late and be killed, so this is tried again.
func (s Suite) interrupted(t *testing.T, inst hook.Instance, call func(hook.Instance)) {
	Retry(t, func() error {
		call(inst)
		err := s.answers(t, inst)
		if err != nil {
			inst = s.launch(t)
		}
		return err
	})
}

// stubborn checks that a call that cannot be interrupted ends at its limit, whether the transport
// then kills the process or leaves that to probes.
func (s Suite) stubborn(t *testing.T, inst hook.Instance) {
	limited, cancel := hook.WithLimit(within(t), 50*time.Millisecond)
	defer cancel()
	_, err := inst.Call(limited, s.Stubborn)
	wantKind(t, err, hook.Timeout)
	if err := inst.Stop(limited); err != nil { // kills at once
		t.Fatal(err)
	}
	wantDone(t, inst)
	_, err = inst.Call(within(t), s.Echo("x"))
	wantKind(t, err, hook.Unavailable)
}

func wantDone(t *testing.T, inst hook.Instance) {
	t.Helper()
	select {
	case <-inst.Done():
	case <-time.After(WaitTimeout):
		t.Fatal("the process still runs")
	}
}

func (s Suite) crash(t *testing.T, inst hook.Instance) {
	_, err := inst.Call(within(t), s.Exit)
	e := wantKind(t, err, hook.Crash)
	if e.Exit == nil || e.Exit.Code != 7 || e.Exit.Uptime <= 0 || !e.Begun {
		t.Errorf("got exit %+v, sent %v; want code 7", e.Exit, e.Begun)
	}
	wantDone(t, inst)
	if inst.Exit().Code != 7 {
		t.Errorf("exit %+v, expected code 7", inst.Exit())
	}
	_, err = inst.Call(within(t), s.Echo("x"))
	wantKind(t, err, hook.Unavailable)
}

func (s Suite) stop(t *testing.T, inst hook.Instance) {
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := inst.Stop(within(t)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantDone(t, inst)
	if !inst.Exit().Stopped {
		t.Errorf("exit %+v does not report that it was requested", inst.Exit())
	}
	_, err := inst.Call(within(t), s.Echo("x"))
	wantKind(t, err, hook.Unavailable)
}

func (s Suite) stopDuringCall(t *testing.T, inst hook.Instance) {
	failed := make(chan error, 1)
	go func() {
		_, err := inst.Call(within(t), s.Stubborn)
		failed <- err
	}()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // kills at once
	if err := inst.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		wantKind(t, err, hook.Canceled, hook.Crash, hook.Unavailable)
	case <-time.After(WaitTimeout):
		t.Fatal("the call did not end with its process")
	}
}

func (s Suite) describe(t *testing.T, inst hook.Instance) {
	sch, err := inst.Describe(within(t), schema.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range sch.Hooks {
		if h.Name == s.Hook {
			return
		}
	}
	t.Errorf("%s is not among %v", s.Hook, sch.Hooks)
}

func (s Suite) probe(t *testing.T, inst hook.Instance) {
	if err := inst.Probe(within(t)); err != nil {
		t.Error(err)
	}
	if err := inst.Health(within(t)); err != nil {
		t.Error(err)
	}
	if inst.Concurrency() < 1 {
		t.Errorf("concurrency %d", inst.Concurrency())
	}
	if info := inst.Info(); info.PID <= 0 || info.Started.IsZero() || info.Ready <= 0 {
		t.Errorf("info %+v", info)
	}
}

// series checks that the answered calls of a series are the first ones, in order, and that the
// others are left.
func (s Suite) series(t *testing.T, inst hook.Instance) {
	var got []string
	calls := &hook.Series{Calls: []hook.Call{s.Echo("a"), s.Echo("b"), s.Echo("c")}}
	calls.Answered = func(r hook.Result, err *hook.Error) {
		if err != nil {
			t.Error(err)
		}
		got = append(got, s.Text(r))
	}
	inst.CallSeries(within(t), calls)
	if all := []string{"a", "b", "c"}; len(got)+len(calls.Calls) != 3 || !slices.Equal(got, all[:len(got)]) {
		t.Errorf("got %q, and %d calls are left", got, len(calls.Calls))
	}
	s.works(t, inst)
}

func (s Suite) stream(t *testing.T, inst hook.Instance) {
	const n = 1000
	count := 0
	c := s.Stream(n)
	c.Emit = func(hook.Item) error { count++; return nil }
	r, err := inst.Call(within(t), c)
	if err != nil {
		t.Fatal(err)
	}
	if count != n || !r.Streamed {
		t.Errorf("%d items, streamed %v; want %d", count, r.Streamed, n)
	}
	c.Emit = nil
	if r, err = inst.Call(within(t), c); err != nil {
		t.Fatal(err)
	}
	if !r.Streamed || r.Value != nil {
		t.Errorf("got %.80s, streamed %v, expected no value of a stream", r.Value, r.Streamed)
	}
}

func (s Suite) streamRefused(t *testing.T, inst hook.Instance) {
	full := errors.New("no more room")
	c := s.Stream(1_000_000)
	count := 0
	c.Emit = func(hook.Item) error {
		if count++; count == 3 {
			return full
		}
		return nil
	}
	_, err := inst.Call(within(t), c)
	if e := wantKind(t, err, hook.Canceled); !errors.Is(e, full) {
		t.Errorf("got %v, expected the receiver's own error", e)
	}
	if count != 3 {
		t.Errorf("%d items after the receiver refused", count-3)
	}
	s.works(t, inst)
}

func (s Suite) manyCallers(t *testing.T, inst hook.Instance) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			text := fmt.Sprint("caller ", i)
			r, err := inst.Call(within(t), s.Echo(text))
			if err != nil || s.Text(r) != text {
				t.Errorf("%s got %s, %v", text, r.Value, err)
			}
		})
	}
	all.Wait()
}
