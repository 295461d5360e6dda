package supervise

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

var always = Options{Rules: Rules{Policy: Always}}

// started are the events of a first start.
var started = []string{"1 >starting", "1 starting>ready"}

func TestDeathDuringACall(t *testing.T) {
	bubble(t, play(part{}), Options{Rules: Rules{Policy: OnFailure, MaxFailures: 2}}, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		began := time.Now()
		for n := range 20 {
			if n%2 == 0 {
				crash(t, v)
			} else { // the call came through, and the plugin did not
				l := acquire(t, v)
				l.Instance().(*actor).die(hook.Exit{Code: 1})
				l.Release(nil)
			}
			acquire(t, v).Release(nil)
			if got := v.State(); got.Restarts != n+1 || got.Failures != 0 || got.State != hook.StateReady || got.PID != 1002+n {
				t.Fatalf("crash %d: %+v", n, got)
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("20 crashes during calls took %v, want no delay", d)
		}
		e := r.take()
		if line(e[0]) != "2 ready>starting" || e[0].Exit == nil || e[0].Exit.Signal != "SIGSEGV" || !strings.Contains(e[0].Reason, "during a call") {
			t.Errorf("got %+v", e[0])
		}
	})
}

func TestScheduleDoublesAndKeepsItsCap(t *testing.T) {
	bubble(t, play(part{dies: time.Millisecond, exit: hook.Exit{Code: 1}}), always, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(10 * time.Minute)
		var delays []time.Duration
		for _, e := range r.take() {
			if e.To == hook.StateBackoff {
				delays = append(delays, e.Delay)
			}
		}
		want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}
		for i, w := range want {
			if delays[i] != w*time.Second {
				t.Fatalf("got the delays %v, want %v s", delays, want)
			}
		}
	})
}

func TestHealthyRunResetsTheSchedule(t *testing.T) {
	quick, healthy := part{dies: 9 * time.Second, exit: hook.Exit{Code: 1}}, part{dies: 10 * time.Second, exit: hook.Exit{Code: 1}}
	bubble(t, play(quick, quick, healthy, quick, part{}), always, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(5 * time.Minute)
		r.want(t, append(started, "1 ready>backoff 1s",
			"2 backoff>starting", "2 starting>ready", "2 ready>backoff 2s",
			"3 backoff>starting", "3 starting>ready", "3 ready>backoff 1s",
			"4 backoff>starting", "4 starting>ready", "4 ready>backoff 2s",
			"5 backoff>starting", "5 starting>ready")...)
	})
}

func TestFailedStartsSpendTheBudget(t *testing.T) {
	cause := startError("no room")
	bubble(t, play(part{takes: time.Second, err: cause}), Options{Rules: Rules{Policy: OnFailure, MaxFailures: 5, Patient: true}}, func(t *testing.T, v *Supervisor, r *record) {
		_, err := v.Acquire(t.Context()) // waits for all five
		wantKind(t, err, hook.Unavailable, "gave up restarting after 5 failures in a row: no room")
		if !errors.Is(err, cause) {
			t.Error("the last cause is not wrapped")
		}
		events := r.want(t, "1 >starting", "1 starting>backoff 1s", "2 backoff>starting", "2 starting>backoff 2s",
			"3 backoff>starting", "3 starting>backoff 4s", "4 backoff>starting", "4 starting>backoff 8s",
			"5 backoff>starting", "5 starting>failed")
		if last := events[len(events)-1]; last.Reason != "no room" {
			t.Errorf("got the reason %q", last.Reason)
		}
		_, again := v.Acquire(t.Context())
		wantKind(t, again, hook.Unavailable, "gave up restarting")
		v.Reload()
		r.want(t, "6 failed>starting")
	})
}

func TestPolicies(t *testing.T) {
	for _, test := range []struct {
		policy Policy
		exit   hook.Exit
		call   bool
		want   string
		answer string
	}{
		{No, hook.Exit{}, false, "1 ready>stopped", "restart policy no"},
		{No, hook.Exit{Code: 1}, false, "1 ready>failed", "no call was running"},
		{No, hook.Exit{Code: 1}, true, "1 ready>failed", "during a call"},
		{OnFailure, hook.Exit{}, false, "1 ready>stopped", "restart policy on-failure"},
		{OnFailure, hook.Exit{Code: 1}, false, "1 ready>backoff 1s", ""},
		{OnFailure, hook.Exit{}, true, "2 ready>starting", ""},
		{OnFailure, hook.Exit{Code: -1, Signal: "SIGKILL"}, false, "1 ready>backoff 1s", ""},
		{Always, hook.Exit{}, false, "1 ready>backoff 1s", ""},
		{Always, hook.Exit{}, true, "2 ready>starting", ""},
	} {
		s := play(part{}, part{takes: time.Hour})
		bubble(t, s, Options{Rules: Rules{Policy: test.policy}}, func(t *testing.T, v *Supervisor, r *record) {
			r.want(t, started...)
			if test.call {
				defer acquire(t, v).Release(nil)
			}
			s.actors[0].die(test.exit)
			r.want(t, test.want)
			if test.answer != "" {
				_, err := v.Acquire(t.Context())
				wantKind(t, err, hook.Unavailable, test.answer)
				if e := (*hook.Error)(nil); errors.As(err, &e) && e.Exit == nil {
					t.Error("the error does not tell the exit")
				}
			}
		})
	}
}

func TestPolicyNoTellsTheStartsError(t *testing.T) {
	cause := startError("boom")
	bubble(t, play(part{takes: time.Second, err: cause}), Options{}, func(t *testing.T, v *Supervisor, r *record) {
		for range 2 {
			if _, err := v.Acquire(t.Context()); err != error(cause) {
				t.Errorf("got %v, want the start's error itself", err)
			}
		}
		r.want(t, "1 >starting", "1 starting>failed")
	})
}

func TestDeterministicFailureWaitsForTheFiles(t *testing.T) {
	broken := &hook.Error{Kind: hook.Start, Python: &hook.Raised{Type: "SyntaxError", Message: "bad"}}
	var changed atomic.Bool
	var asked atomic.Int32
	opts := Options{Rules: Rules{Policy: Always}, Changed: func() bool {
		asked.Add(1)
		time.Sleep(time.Millisecond)
		return changed.Swap(false)
	}}
	s := play(part{err: broken}, part{err: broken}, part{})
	bubble(t, s, opts, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(24 * time.Hour)
		r.want(t, "1 >starting", "1 starting>failed")
		if n, _, _ := s.count(); n != 1 || asked.Load() != 0 {
			t.Fatalf("%d launches and %d questions while nobody wanted it", n, asked.Load())
		}
		many := make(chan error, 8)
		for range cap(many) {
			go func() {
				_, err := v.Acquire(t.Context())
				many <- err
			}()
		}
		for range cap(many) {
			if err := <-many; err != error(broken) {
				t.Errorf("got %v, want the start's error itself", err)
			}
		}
		if asked.Load() != 1 {
			t.Errorf("%d questions for callers that came together, want 1", asked.Load())
		}
		changed.Store(true)
		if _, err := v.Acquire(t.Context()); err != error(broken) {
			t.Errorf("after a change: got %v", err)
		}
		v.Reload()
		acquire(t, v).Release(nil)
		r.want(t, "2 failed>starting", "2 starting>failed", "3 failed>starting", "3 starting>ready")
	})
}

func TestJitterStaysWithinItsBounds(t *testing.T) {
	opts := Options{Rules: Rules{Policy: Always}, Rand: func() func() float64 {
		n := 0
		return func() float64 { n++; return float64(n%10) / 10 }
	}()}
	seen := map[time.Duration]bool{}
	bubble(t, play(part{dies: 10 * time.Second, exit: hook.Exit{Code: 1}}), opts, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(time.Hour)
		for _, e := range r.take() {
			if e.To != hook.StateBackoff {
				continue
			}
			if e.Delay < time.Second || e.Delay > 1250*time.Millisecond {
				t.Errorf("a delay of %v, want from 1s to 1.25s", e.Delay)
			}
			seen[e.Delay] = true
		}
	})
	if len(seen) < 3 {
		t.Errorf("only the delays %v", seen)
	}
}

func TestBootstrapIsReplayed(t *testing.T) {
	s := play(part{call: func(context.Context, *actor, hook.Call) error { time.Sleep(time.Second); return nil }})
	opts := always
	opts.Bootstrap = []hook.Call{{Hook: "a"}, {Hook: "b"}}
	bubble(t, s, opts, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(1500 * time.Millisecond)
		if got := v.Replay(hook.Call{Hook: "c"}); got != 0 { // while b is made
			t.Errorf("generation %d has not made it, want none", got)
		}
		r.want(t, "1 >starting")
		acquire(t, v).Release(nil)
		if got := v.Replay(hook.Call{Hook: "d"}); got != 1 {
			t.Errorf("generation %d has not made it, want 1", got)
		}
		crash(t, v)
		acquire(t, v).Release(nil)
		want := []string{"1 a", "1 b", "1 c", "2 a", "2 b", "2 c", "2 d"}
		if !slices.Equal(s.calls, want) {
			t.Errorf("got the calls %v, want %v", s.calls, want)
		}
		r.want(t, "1 starting>ready", "2 ready>starting", "2 starting>ready")
	})
}

func TestBootstrapThatFailsFailsTheStart(t *testing.T) {
	failing := part{call: func(context.Context, *actor, hook.Call) error {
		return &hook.Error{Kind: hook.Failed, Hook: "a", Err: errors.New("no")}
	}}
	missing := part{call: func(context.Context, *actor, hook.Call) error {
		return &hook.Error{Kind: hook.Request, Hook: "a", Err: errors.New("no such hook")}
	}}
	hangs := part{call: func(ctx context.Context, i *actor, c hook.Call) error {
		began := time.Now()
		<-ctx.Done()
		return hook.Ended(ctx, c.Hook, "no result", began, true)
	}}
	opts := Options{Rules: Rules{Policy: Always, Patient: true}, Bootstrap: []hook.Call{{Hook: "a"}}, CallTimeout: 5 * time.Second}
	s := play(failing, hangs, missing)
	bubble(t, s, opts, func(t *testing.T, v *Supervisor, r *record) {
		_, err := v.Acquire(t.Context())
		wantKind(t, err, hook.Request, "no such hook")
		e := r.want(t, "1 >starting", "1 starting>backoff 1s", "2 backoff>starting", "2 starting>backoff 2s",
			"3 backoff>starting", "3 starting>failed")
		if d := e[3].Time.Sub(e[2].Time); d != 5*time.Second {
			t.Errorf("a bootstrap call that hangs took %v, want its limit of 5s", d)
		}
	})
}

func TestAcquireIsBounded(t *testing.T) {
	opts := Options{Rules: Rules{Policy: Always, Patient: true}}
	bubble(t, play(part{err: startError("no room")}, part{takes: time.Hour}), opts, func(t *testing.T, v *Supervisor, r *record) {
		for _, wait := range []time.Duration{500 * time.Millisecond, time.Minute} { // in backoff, then while it starts
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			_, err := v.Acquire(ctx)
			cancel()
			wantKind(t, err, hook.Timeout, "the plugin was not ready within "+wait.String()+": the last failure: no room")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := v.Acquire(ctx)
		wantKind(t, err, hook.Canceled, "")
		if len(v.waiting) != 0 {
			t.Errorf("%d wishes are left", len(v.waiting))
		}
	})
}

func TestTryAcquireDoesNotWait(t *testing.T) {
	bubble(t, play(part{takes: time.Second}), always, func(t *testing.T, v *Supervisor, r *record) {
		if _, ok := v.TryAcquire(); ok {
			t.Error("got an instance that starts")
		}
		acquire(t, v).Release(nil)
		l, ok := v.TryAcquire()
		if !ok || l.Generation() != 1 {
			t.Fatal("got none, though it is ready")
		}
		l.Instance().(*actor).die(hook.Exit{})
		if _, ok := v.TryAcquire(); ok {
			t.Error("got an instance that has ended")
		}
		l.Release(nil)
	})
}

func TestReleaseIsOnce(t *testing.T) {
	bubble(t, play(part{}), always, func(t *testing.T, v *Supervisor, r *record) {
		l, other := acquire(t, v), acquire(t, v)
		l.Release(nil)
		if g := other.g; g.busy != 1 {
			t.Errorf("%d leases are out, want 1", g.busy)
		}
		other.Release(nil)
		defer func() {
			if recover() == nil {
				t.Error("one release too many was taken")
			}
			l.g.busy = 0
		}()
		l.Release(nil)
	})
}

// A call may tell of the crash before all of the process is gone.
func TestCrashIsToldBeforeTheDeath(t *testing.T) {
	s := play(part{})
	bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
		acquire(t, v).Release(&hook.Error{Kind: hook.Crash})
		time.Sleep(time.Second)
		s.actors[0].die(hook.Exit{Code: 1})
		r.want(t, append(started, "2 ready>starting", "2 starting>ready")...)
	})
}

// A call that ran out of time may get its instance killed after it was told.
func TestTransportCondemns(t *testing.T) {
	s := play(part{})
	killed := hook.Exit{Code: -1, Signal: "SIGKILL", Stopped: true}
	bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
		acquire(t, v).Release(&hook.Error{Kind: hook.Timeout})
		time.Sleep(5 * time.Second)
		s.actors[0].die(killed)
		r.want(t, append(started, "2 ready>starting", "2 starting>ready")...)
		// Without a call of late it is no call's fault.
		s.actors[1].die(killed)
		r.want(t, "2 ready>backoff 1s")
		acquire(t, v).Release(nil)
		time.Sleep(11 * time.Second)
		s.actors[2].die(killed)
		r.want(t, "3 backoff>starting", "3 starting>ready", "3 ready>backoff 1s")
	})
}

func TestDayOfCrashes(t *testing.T) {
	for name, p := range map[string]part{
		"at once": {dies: time.Millisecond, exit: hook.Exit{Code: 1}},
		"healthy": {dies: 15 * time.Second, exit: hook.Exit{Code: 1}},
		"start":   {takes: time.Second, err: startError("no")},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(p)
			bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
				time.Sleep(86400 * time.Second)
				synctest.Wait()
				n, live, most := s.count()
				if most != 1 || live > 1 || len(v.live) > 1 || v.helpers > 1 {
					t.Errorf("%d live, %d at most, %d generations, %d helpers, want 1", live, most, len(v.live), v.helpers)
				}
				if want := 86400 / 62; n < want || n > 86400/16+1 {
					t.Errorf("%d launches in a day, want at least %d", n, want)
				}
				from := hook.State(0)
				for _, e := range r.take() {
					if e.From != from {
						t.Fatalf("%s after %s", line(e), from)
					}
					from = e.To
				}
			})
		})
	}
}

// BenchmarkAcquire is what a supervisor adds to a call.
func BenchmarkAcquire(b *testing.B) {
	v := New(Options{Launcher: play(part{}), Probe: -1})
	defer func() { _ = v.Stop(b.Context()) }()
	for b.Loop() {
		l, err := v.Acquire(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		l.Release(nil)
	}
}
