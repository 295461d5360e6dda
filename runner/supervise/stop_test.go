package supervise

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// stopped stops a supervisor and tells how long it took.
func stopped(ctx context.Context, v *Supervisor) (time.Duration, error) {
	began := time.Now()
	err := v.Stop(ctx)
	return time.Since(began), err
}

func TestStopFromEveryState(t *testing.T) {
	failing := part{err: startError("no")}
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, test := range []struct {
		name  string
		parts []part
		opts  Options
		after time.Duration
		takes time.Duration
		want  []string
	}{
		{"starting", []part{{takes: time.Hour}}, always, time.Second, 0, []string{"1 starting>stopping", "1 stopping>stopped"}},
		{"bootstrap", []part{{call: func(ctx context.Context, _ *actor, _ hook.Call) error { <-ctx.Done(); return ctx.Err() }}},
			Options{Bootstrap: []hook.Call{{Hook: "a"}}}, time.Second, 0, []string{"1 starting>stopping", "1 stopping>stopped"}},
		{"ready", []part{{stops: 3 * time.Second}}, always, time.Second, 3 * time.Second, []string{"1 ready>stopping", "1 stopping>stopped"}},
		{"probe", []part{{probe: hangs}}, always, 11 * time.Second, 0, []string{"1 ready>stopping", "1 stopping>stopped"}},
		{"degraded", []part{{probe: unhealthy}}, always, 11 * time.Second, 0, []string{"1 degraded>stopping", "1 stopping>stopped"}},
		{"backoff", []part{failing}, always, time.Millisecond, 0, []string{"1 backoff>stopped"}},
		{"failed", []part{failing}, Options{}, time.Second, 0, []string{"1 failed>stopped"}},
		{"stopped", []part{{dies: time.Millisecond}}, Options{}, time.Second, 0, nil},
		{"crash in the middle", []part{{dies: 2 * time.Second, exit: hook.Exit{Code: 1}, stops: time.Hour}}, always, time.Second, time.Second,
			[]string{"1 ready>stopping", "1 stopping>stopped"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, play(test.parts...), test.opts, func(t *testing.T, v *Supervisor, r *record) {
				time.Sleep(test.after)
				synctest.Wait()
				r.take()
				took, err := stopped(t.Context(), v)
				if err != nil || took != test.takes {
					t.Errorf("took %v with %v, want %v", took, err, test.takes)
				}
				r.want(t, test.want...)
				if got := v.State(); got.State != hook.StateStopped || got.PID != 0 {
					t.Errorf("got %+v", got)
				}
				if took, err := stopped(t.Context(), v); took != 0 || err != nil {
					t.Errorf("the second took %v with %v", took, err)
				}
				_, err = v.Acquire(t.Context())
				wantKind(t, err, hook.Unavailable, "stopped")
				wantKind(t, v.Replace(t.Context(), "x"), hook.Unavailable, "stopped")
				v.Reload()
				time.Sleep(time.Hour)
				r.want(t)
			})
		})
	}
}

func TestStopAnswersWhoWaits(t *testing.T) {
	bubble(t, play(part{takes: time.Hour}), always, func(t *testing.T, v *Supervisor, r *record) {
		answers := make(chan error, 6)
		for range 3 {
			go func() { _, err := v.Acquire(t.Context()); answers <- err }()
			go func() { answers <- v.Replace(t.Context(), "") }()
		}
		synctest.Wait()
		if err := v.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		for range cap(answers) {
			wantKind(t, <-answers, hook.Unavailable, "stopped")
		}
	})
}

func TestStopSkipsToTheKill(t *testing.T) {
	bubble(t, play(part{stops: time.Hour}), always, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		var stops sync.WaitGroup
		stops.Go(func() { _ = v.Stop(t.Context()) }) // has time
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		took, err := stopped(ctx, v)
		if took != 2*time.Second || !errors.Is(err, errKilled) {
			t.Errorf("took %v with %v, want 2s and that it was killed", took, err)
		}
		stops.Wait()
	})
}

func TestStopDoesNotWaitForADrain(t *testing.T) {
	bubble(t, play(part{}), always, func(t *testing.T, v *Supervisor, r *record) {
		l := acquire(t, v)
		if err := v.Replace(t.Context(), "limit"); err != nil {
			t.Fatal(err)
		}
		if took, err := stopped(t.Context(), v); took != 0 || err != nil {
			t.Errorf("took %v with %v", took, err)
		}
		l.Release(nil)
	})
}

func TestStopDuringAReplacement(t *testing.T) {
	bubble(t, play(part{}, part{takes: time.Hour}), always, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		go func() { _ = v.Replace(t.Context(), "limit") }()
		r.want(t, "2 >starting")
		if took, err := stopped(t.Context(), v); took != 0 || err != nil {
			t.Errorf("took %v with %v", took, err)
		}
		events := r.take()
		for _, want := range []string{"1 ready>stopping", "2 starting>stopped", "1 stopping>stopped"} {
			if !slices.ContainsFunc(events, func(e hook.Event) bool { return line(e) == want }) {
				t.Errorf("no event %s", want)
			}
		}
	})
}

func TestShutdownCalls(t *testing.T) {
	refused := &hook.Error{Kind: hook.Failed, Err: errors.New("no")}
	s := play(part{}, part{}, part{call: func(_ context.Context, _ *actor, c hook.Call) error {
		if c.Hook == "x" {
			return refused
		}
		return nil
	}})
	opts := always
	opts.Shutdown = []hook.Call{{Hook: "x"}, {Hook: "y"}}
	bubble(t, s, opts, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		if err := v.Replace(t.Context(), "limit"); err != nil { // the first is asked
			t.Fatal(err)
		}
		synctest.Wait()
		crash(t, v) // the second cannot be
		acquire(t, v).Release(nil)
		if err := v.Stop(t.Context()); !errors.Is(err, refused) { // the third refuses
			t.Errorf("got %v", err)
		}
		if want := []string{"1 x", "1 y", "3 x"}; !slices.Equal(s.calls, want) {
			t.Errorf("got the calls %v, want %v", s.calls, want)
		}
	})
}

func TestNoShutdownCallWithoutRoom(t *testing.T) {
	s := play(part{})
	opts := always
	opts.Shutdown = []hook.Call{{Hook: "x"}}
	bubble(t, s, opts, func(t *testing.T, v *Supervisor, r *record) {
		defer acquire(t, v).Release(nil)
		if took, err := stopped(t.Context(), v); took != 0 || err != nil || len(s.calls) != 0 {
			t.Errorf("took %v with %v and the calls %v", took, err, s.calls)
		}
	})
}

// An option may ask how a supervisor is, as one does that decides about several of
// them: it is not called under the lock that this takes.
func TestOptionsMayAsk(t *testing.T) {
	var v atomic.Pointer[Supervisor]
	asks := func(error) bool { // the first start may fail before v is known
		if v := v.Load(); v != nil {
			v.State()
		}
		return false
	}
	opts := Options{Rules: Rules{Policy: Always}, Deterministic: asks, Alone: asks}
	bubble(t, play(part{takes: time.Second, err: startError("no room")}), opts, func(t *testing.T, s *Supervisor, r *record) {
		v.Store(s)
		time.Sleep(10 * time.Second)
		if st := s.State(); st.Failures < 3 {
			t.Errorf("got %+v, want some failures", st)
		}
	})
}
