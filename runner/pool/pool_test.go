package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/settings"
)

var always = Policy{Restart: settings.Always}

func failing(kind string) error {
	raised := &hook.Raised{Type: kind, Message: "no room"}
	return &hook.Error{Kind: hook.Start, Python: raised, Permanent: raised.Permanent()}
}

func TestFirstStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLauncher{fail: failing("OSError")}
		var states []hook.State
		opt := Options{Workers: 3, Policy: always, Events: func(e hook.Event) { states = append(states, e.To) }}
		p, err := Start(t.Context(), l, opt)
		if got := fmt.Sprint(states); got != "[starting failed stopped]" {
			t.Errorf("got the states %s", got)
		}
		if p != nil || hook.AsError(err).Kind != hook.Start || l.count() != 1 || !l.closed {
			t.Errorf("got %v, %v after %d starts", p, err, l.count())
		}
	})
}

func TestStartCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLauncher{start: time.Hour}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("interrupted")
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := Start(ctx, l, Options{}); hook.AsError(err).Kind != hook.Canceled || !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDeathDuringCall(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		for range 3 {
			w.fails("crash", hook.Crash, "")
			if d := took(w.works); d != 0 {
				t.Errorf("restarted after %v, want at once", d)
			}
		}
		w.states("1:starting 1:ready 2:starting 2:ready 3:starting 3:ready 4:starting 4:ready")
		if st := w.status(); st.Restarts != 3 || st.Calls != 6 || st.Failed != 3 || st.State != hook.StateReady || st.LastExit.Code != 3 {
			t.Errorf("got %+v", st)
		} else if st.Failures[hook.Crash] != 3 || st.RestartCauses["crash"] != 3 || st.LastRestart != exitedInCall+" of crash (exit code 3)" || st.LastRestartAt != time.Now() {
			t.Errorf("by kind and cause: got %+v", st)
		}
	})
}

func TestIdleDeathBacksOff(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			w.launcher.last().end(hook.Exit{Code: 1})
			synctest.Wait()
			if st := w.status(); st.State != hook.StateBackoff || st.Reason == "" || time.Duration(st.NextStart) != want*time.Second {
				t.Errorf("got %+v", st)
			}
			if d := took(w.works); d != want*time.Second { // calls wait for the next start
				t.Errorf("restarted after %v, want %d s", d, want)
			}
		}
		time.Sleep(10 * time.Second) // the worker then counts as healthy, which resets the count
		w.launcher.last().end(hook.Exit{Code: 1})
		if d := took(w.works); d != time.Second {
			t.Errorf("restarted after %v", d)
		}
	})
}

func TestPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		restart string
		exit    hook.Exit
		state   hook.State
		reason  string
	}{
		"no":                {settings.No, hook.Exit{Code: 1}, hook.StateFailed, ""},
		"no, clean":         {settings.No, hook.Exit{}, hook.StateStopped, "stopped"},
		"on-failure, clean": {settings.OnFailure, hook.Exit{}, hook.StateStopped, "stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Options{Policy: Policy{Restart: c.restart}}, nil, func(w *world) {
				w.launcher.last().end(c.exit)
				<-w.Failed()
				if st := w.status(); st.State != c.state || st.Reason == "" || st.LastExit == nil {
					t.Errorf("got %+v", st)
				}
				w.fails("ok", hook.Unavailable, c.reason)
				if err := w.Restart(w.t.Context(), ""); err != nil { // a restart revives the plugin
					t.Error(err)
				}
				w.works()
			})
		})
	}
}

func TestBudget(t *testing.T) {
	bubble(t, Options{Policy: Policy{Restart: settings.Always, MaxFailures: 3}, Patient: true}, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.fail = failing("OSError") })
		w.launcher.last().end(hook.Exit{Code: 1})
		err := w.fails("ok", hook.Unavailable, "gave-up") // waits for all attempts
		if err.Error() != "the plugin failed 3 times in a row; giving up: OSError: no room" || err.Python == nil || err.Hook != "ok" {
			t.Errorf("got %+v", err)
		}
		<-w.Failed()
		if err := hook.AsError(w.Health(w.t.Context())); err.Kind != hook.Unavailable || err.Reason != "gave-up" {
			t.Errorf("health: got %+v", err)
		}
		if st := w.status(); st.State != hook.StateFailed || st.Reason == "" || st.Calls < st.Failed || w.launcher.count() != 3 {
			t.Errorf("got %+v after %d starts", st, w.launcher.count())
		}
	})
}

// TestFailedStart checks that calls fail at once after a failed start, and that the pool tries
// again after the back-off, or for a call after the files changed.
func TestFailedStart(t *testing.T) {
	var version atomic.Int64
	opt := Options{Policy: always, Version: func() int { return int(version.Load()) }}
	bubble(t, opt, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.fail = failing("OSError") })
		w.fails("crash", hook.Crash, "")
		synctest.Wait()
		if d := took(func() {
			err := w.fails("ok", hook.Start, "start-failed")
			if len(err.Hints) != 1 || !strings.Contains(hook.Word(err.Hints[0]), "restarts in 1s") {
				t.Errorf("got %q", err.Hints)
			}
		}); d != 0 {
			t.Errorf("failed after %v", d)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := w.launcher.count(); n != 3 {
			t.Errorf("started %d times", n)
		}
		w.launcher.set(func() { w.launcher.fail = nil })
		version.Store(1)
		if d := took(w.works); d != 0 {
			t.Errorf("started after %v", d)
		}
	})
}

// TestPermanentFailure checks that a permanent failure is not retried until the files have changed
// and a call comes.
func TestPermanentFailure(t *testing.T) {
	var version atomic.Int64
	bubble(t, Options{Policy: always, Version: func() int { return int(version.Load()) }}, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.fail = failing("SyntaxError") })
		w.fails("crash", hook.Crash, "")
		for range 3 {
			w.fails("ok", hook.Start, "")
		}
		time.Sleep(time.Hour)
		version.Store(1)
		if time.Sleep(time.Hour); w.launcher.count() != 2 {
			t.Errorf("started %d times", w.launcher.count())
		}
		w.launcher.set(func() { w.launcher.fail = nil })
		w.works()
	})
}

// TestRefused checks that a call that never began goes to another instance, and that an instance
// that takes no more calls is replaced.
func TestRefused(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		f := w.launcher.last()
		f.mu.Lock()
		f.refuses = true
		f.mu.Unlock()
		w.works()
		if st := w.status(); st.Generation != 2 || st.Failed != 0 || st.Calls != 1 {
			t.Errorf("got %+v", st)
		}
	})
}

// TestLeastBusy checks that calls are spread over the workers, and that idle workers stay idle.
func TestLeastBusy(t *testing.T) {
	bubble(t, Options{Workers: 3, Policy: always}, nil, func(w *world) {
		synctest.Wait()
		for range 5 {
			w.works()
		}
		if len(w.launcher.made) != 1 {
			t.Errorf("calls were made in %v", w.launcher.made)
		}
		var calls sync.WaitGroup
		if d := took(func() {
			for range 3 {
				calls.Go(func() { _ = w.call("sleep 1s") })
			}
			calls.Wait()
		}); d != time.Second {
			t.Errorf("took %v", d)
		}
	})
}

func TestPanic(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		func() {
			defer func() { _ = recover() }()
			_ = w.call("panic")
		}()
		w.works()
		if st := w.status(); st.Generation != 2 || st.Running != 0 {
			t.Errorf("got %+v", st)
		}
	})
}

func TestDrainAndClose(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		var calls sync.WaitGroup
		for range 2 {
			calls.Go(func() {
				if err := w.call("sleep 2s"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		closed := make(chan error)
		began := time.Now()
		go func() { closed <- w.Close(w.t.Context()) }()
		synctest.Wait()
		w.fails("ok", hook.Unavailable, "stopping")
		if err := <-closed; err != nil || time.Since(began) != 4*time.Second {
			t.Errorf("closed after %v: %v", time.Since(began), err)
		}
		calls.Wait()
		w.states("1:starting 1:ready 1:stopping 1:stopped")
	})
}

// TestCloseKills checks that Close kills at once when its context ends, whatever the pool does.
func TestCloseKills(t *testing.T) {
	for name, do := range map[string]func(w *world){
		"ready":    func(*world) {},
		"a call":   func(w *world) { go func() { _ = w.call("sleep 1h") }() },
		"starting": func(w *world) { go func() { _ = w.Restart(w.t.Context(), "a test") }() },
		"backoff":  func(w *world) { w.launcher.last().end(hook.Exit{Code: 1}) },
		"failed": func(w *world) {
			w.launcher.set(func() { w.launcher.fail = failing("SyntaxError") })
			w.launcher.last().end(hook.Exit{Code: 1})
			time.Sleep(time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Options{Policy: always}, func(l *fakeLauncher) {
				l.kind = func(f *fake) { f.stopping = time.Hour }
			}, func(w *world) {
				w.launcher.set(func() { w.launcher.start = time.Hour })
				do(w)
				synctest.Wait()
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				if d := took(func() { _ = w.Close(ctx) }); d != 0 {
					t.Errorf("took %v", d)
				}
				w.stopErr = nil
			})
		})
	}
}

func TestEvents(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		events := w.Events(w.t.Context())
		w.fails("crash", hook.Crash, "")
		w.works()
		var got []hook.State
		for e, err := range events {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, e.To); len(got) == 2 {
				break
			}
		}
		if got[0] != hook.StateStarting || got[1] != hook.StateReady {
			t.Errorf("got %v", got)
		}
	})
}

// TestEventsOfClosed checks that Events of a closed pool yields nothing and does not wait.
func TestEventsOfClosed(t *testing.T) {
	bubble(t, Options{}, nil, func(w *world) {
		if err := w.Close(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		for e, err := range w.Events(w.t.Context()) {
			t.Errorf("got %+v, %v", e, err)
		}
	})
}

// TestSeriesGoesOn checks that a series gets more calls until a call waits for the worker, or
// the worker is being replaced.
func TestSeriesGoesOn(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		for name, end := range map[string]func(){
			"a call that waits": func() { w.works() },
			"a restart":         func() { _ = w.Restart(w.t.Context(), "test") },
		} {
			answered := 0
			s := &hook.Series{Calls: make([]hook.Call, 2), More: func(n int) []hook.Call { return make([]hook.Call, n) }}
			s.Answered = func(hook.Result, *hook.Error) {
				if answered++; answered == 10 {
					go end()
					synctest.Wait()
				}
			}
			if w.CallSeries(w.t.Context(), s); answered < 10 || answered > 13 || len(s.Calls) != 0 {
				t.Errorf("%s: %d calls were made, %d are left", name, answered, len(s.Calls))
			}
			synctest.Wait()
		}
	})
}

// TestCallSeries checks that a series takes one place, if one is free, that each of its
// calls counts, and that the calls after a crash stay in the series.
func TestCallSeries(t *testing.T) {
	slow := func(l *fakeLauncher) { l.start = time.Second } // so that no worker is ready after the crash
	bubble(t, Options{Policy: always}, slow, func(w *world) {
		answered := 0
		made := func(names ...string) int {
			s := &hook.Series{Answered: func(hook.Result, *hook.Error) { answered++ }}
			for _, name := range names {
				s.Calls = append(s.Calls, hook.Call{Hook: name})
			}
			w.CallSeries(w.t.Context(), s)
			return len(names) - len(s.Calls)
		}
		if n := made("a", "b", "crash", "c"); n != 3 || answered != 3 {
			t.Errorf("made %d and answered %d calls", n, answered)
		}
		w.works()
		go made("e", "sleep 1s")
		synctest.Wait()
		if n := made("f"); n != 0 {
			t.Error("two calls were made at once")
		}
		w.works()
		if st := w.status(); st.Calls != 7 || st.Failed != 1 || st.Running != 0 {
			t.Errorf("got %+v", st)
		}
	})
}

// TestRunningCalls checks that the status lists the running calls, oldest first, and that Locate
// adds where they are.
func TestRunningCalls(t *testing.T) {
	bubble(t, Options{Policy: always, Workers: 2}, nil, func(w *world) {
		for _, name := range []string{"sleep 1m", "sleep 2m"} {
			go func() { _ = w.call(name) }()
			synctest.Wait()
			sleep(10 * time.Second)
		}
		calls := w.status().RunningCalls
		w.Locate(calls)
		if got := fmt.Sprint(calls); got != "[{sleep 1m 20000000000 1 1 [fake.py:1]} {sleep 2m 10000000000 2 2 [fake.py:2]}]" {
			t.Errorf("got %s", got)
		}
		sleep(2 * time.Minute)
		if calls := w.status().RunningCalls; len(calls) > 0 {
			t.Errorf("got %v after their end", calls)
		}
	})
}
