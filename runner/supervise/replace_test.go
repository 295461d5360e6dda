package supervise

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// replaceLater asks for a new instance, beside the test.
func replaceLater(t *testing.T, v *Supervisor, reason string) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- v.Replace(t.Context(), reason) }()
	synctest.Wait()
	return answer
}

func TestReplacementIsReadyBeforeTheOldOneGoes(t *testing.T) {
	s := play(part{}, part{takes: 3 * time.Second})
	bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
		call := acquire(t, v)
		began := time.Now()
		answer := replaceLater(t, v, "memory")
		if got := v.State(); got.State != hook.StateReady || got.Generation != 1 || got.PID != 1001 {
			t.Errorf("while it starts: %+v", got)
		}
		acquire(t, v).Release(nil)
		if err := <-answer; err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		l := acquire(t, v)
		if l.Generation() != 2 {
			t.Errorf("got generation %d", l.Generation())
		}
		l.Release(nil)
		e := r.want(t, append(started, "2 >starting", "2 starting>ready", "1 ready>stopping")...)
		if e[2].Reason != "memory" {
			t.Errorf("got the reason %q", e[2].Reason)
		}
		time.Sleep(time.Minute)
		if s.live != 2 {
			t.Error("the old one did not wait for its call")
		}
		call.Release(nil)
		r.want(t, "1 stopping>stopped")
		if got := v.State(); got.Restarts != 0 || got.Failures != 0 {
			t.Errorf("a replacement counts: %+v", got)
		}
	})
}

func TestDrainIsBounded(t *testing.T) {
	opts := always
	opts.Drain = time.Minute
	bubble(t, play(part{}), opts, func(t *testing.T, v *Supervisor, r *record) {
		l := acquire(t, v)
		if err := v.Replace(t.Context(), "age"); err != nil {
			t.Fatal(err)
		}
		r.take()
		time.Sleep(time.Minute)
		r.want(t, "1 stopping>stopped")
		l.Release(nil)
	})
}

func TestBrokenReplacementLeavesTheOldOne(t *testing.T) {
	s := play(part{}, part{takes: time.Second, err: startError("bad edit")}, part{})
	bubble(t, s, Options{Rules: Rules{Policy: Always, MaxFailures: 1}}, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		wantKind(t, v.Replace(t.Context(), "edit"), hook.Start, "bad edit")
		r.want(t, "2 >starting", "2 starting>failed")
		if got := v.State(); got.State != hook.StateReady || got.Generation != 1 || got.Failures != 0 {
			t.Errorf("got %+v", got)
		}
		if err := v.Replace(t.Context(), "edit"); err != nil {
			t.Error(err)
		}
		r.want(t, "3 >starting", "3 starting>ready", "1 ready>stopping", "1 stopping>stopped")
	})
}

func TestNewestReplacementWins(t *testing.T) {
	s := play(part{}, part{takes: time.Hour}, part{takes: time.Second})
	bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		first := replaceLater(t, v, "edit")
		second := replaceLater(t, v, "another edit")
		for _, answer := range []<-chan error{first, second} {
			if err := <-answer; err != nil {
				t.Error(err)
			}
		}
		e := r.want(t, "2 >starting", "2 starting>stopped", "3 >starting", "3 starting>ready", "1 ready>stopping", "1 stopping>stopped")
		if e[1].Reason != "superseded: another edit" {
			t.Errorf("the reason is %q", e[1].Reason)
		}
		// The next waits until the old one is gone.
		l := acquire(t, v)
		_ = v.Replace(t.Context(), "edit")
		answer := replaceLater(t, v, "edit")
		r.want(t, "4 >starting", "4 starting>ready", "3 ready>stopping")
		l.Release(nil)
		if err := <-answer; err != nil || s.most != 2 {
			t.Errorf("got %v with %d at once", err, s.most)
		}
		r.want(t, "3 stopping>stopped", "5 >starting", "5 starting>ready", "4 ready>stopping", "4 stopping>stopped")
	})
}

func TestReplaceDuringAStart(t *testing.T) {
	bubble(t, play(part{takes: time.Hour}, part{}), always, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, "1 >starting")
		if err := v.Replace(t.Context(), "edit"); err != nil {
			t.Error(err)
		}
		r.want(t, "2 starting>starting", "2 starting>ready")
	})
}

func TestReplaceSkipsTheDelay(t *testing.T) {
	bad := part{err: startError("no")}
	bubble(t, play(bad, bad, part{}), always, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, "1 >starting", "1 starting>backoff 1s")
		wantKind(t, v.Replace(t.Context(), "edit"), hook.Start, "no")
		r.want(t, "2 backoff>starting", "2 starting>backoff 1s") // counted anew
		v.Reload()
		r.want(t, "3 backoff>starting", "3 starting>ready")
		v.Reload()
		time.Sleep(time.Hour)
		r.want(t)
	})
	bubble(t, play(bad, part{}), Options{}, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, "1 >starting", "1 starting>failed")
		if err := v.Replace(t.Context(), "edit"); err != nil {
			t.Error(err)
		}
	})
}

func TestOneAtATime(t *testing.T) {
	s := play(part{stops: time.Second}, part{takes: time.Second}, part{err: startError("bad edit")}, part{})
	bubble(t, s, Options{Rules: Rules{Policy: Always, OneAtATime: true}}, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		l := acquire(t, v)
		answer := replaceLater(t, v, "edit")
		got := make(chan *Lease, 1)
		go func() { got <- acquire(t, v) }()
		time.Sleep(time.Second)
		r.want(t, "1 ready>stopping")
		l.Release(nil)
		if err := <-answer; err != nil {
			t.Error(err)
		}
		next := <-got
		if next.Generation() != 2 {
			t.Errorf("got generation %d", next.Generation())
		}
		next.Release(nil)
		e := r.want(t, "2 stopping>starting", "2 starting>ready")
		if e[0].Exit == nil || !e[0].Exit.Stopped {
			t.Errorf("the exit of generation 1 is not told: %+v", e[0])
		}
		wantKind(t, v.Replace(t.Context(), "edit"), hook.Start, "bad edit")
		r.want(t, "2 ready>stopping", "3 stopping>starting", "3 starting>backoff 1s")
		_, err := v.Acquire(t.Context())
		wantKind(t, err, hook.Start, "bad edit")
		time.Sleep(time.Second)
		acquire(t, v).Release(nil)
		if s.most != 1 {
			t.Errorf("%d at once", s.most)
		}
	})
}

// Whatever becomes of the old one while its replacement starts, the slot is the
// replacement's.
// TestAlone learns from a start that no two instances can live at once.
func TestAlone(t *testing.T) {
	s := play(part{}, part{err: startError("in use")}, part{}, part{})
	opts := always
	opts.Alone = func(err error) bool { return err.Error() == "in use" }
	bubble(t, s, opts, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		if err := v.Replace(t.Context(), "age"); err != nil {
			t.Fatal(err)
		}
		r.want(t, "2 >starting", "2 starting>failed", "1 ready>stopping", "3 stopping>starting", "3 starting>ready")
		if err := v.Replace(t.Context(), "age"); err != nil {
			t.Fatal(err)
		}
		r.want(t, "3 ready>stopping", "4 stopping>starting", "4 starting>ready")
		if got := v.State(); got.Failures != 0 || got.Restarts != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestOldOneDiesWhileItsReplacementStarts(t *testing.T) {
	s := play(part{}, part{takes: time.Second})
	bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		answer := replaceLater(t, v, "edit")
		s.actors[0].die(hook.Exit{Code: 1})
		r.want(t, "2 >starting", "1 ready>stopped")
		if got := v.State(); got.State != hook.StateStarting || got.Generation != 2 || got.Failures != 1 {
			t.Errorf("got %+v", got)
		}
		if err := <-answer; err != nil {
			t.Error(err)
		}
		r.want(t, "2 starting>ready")
	})
}

func TestReplaceWaitsNoLongerThanItsContext(t *testing.T) {
	bubble(t, play(part{}, part{takes: time.Hour}), always, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantKind(t, v.Replace(ctx, "edit"), hook.Timeout, "the new instance was not ready within 1s")
		time.Sleep(time.Hour)
		if got := v.State().Generation; got != 2 {
			t.Errorf("got generation %d: the waiting alone was to end", got)
		}
	})
}

func unhealthy(context.Context) error {
	return &hook.Error{Kind: hook.Unhealthy, Err: errors.New("no database")}
}

// missed is a probe that is not answered.
func missed(ctx context.Context) error {
	began := time.Now()
	<-ctx.Done()
	return hook.Ended(ctx, "", "no answer", began, true)
}

// answers plays probes in order, and the last one again and again.
func answers(probes ...func(context.Context) error) func(context.Context) error {
	n := 0
	return func(ctx context.Context) error {
		n++
		if p := probes[min(n, len(probes))-1]; p != nil {
			return p(ctx)
		}
		return nil
	}
}

func TestThreeMissesCondemn(t *testing.T) {
	s := play(part{err: startError("no")}, part{probe: missed, stops: time.Second}, part{})
	opts := always
	opts.Shutdown = []hook.Call{{Hook: "never"}}
	bubble(t, s, opts, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, "1 >starting", "1 starting>backoff 1s")
		time.Sleep(time.Minute)
		e := r.want(t, "2 backoff>starting", "2 starting>ready", // healthy, so it begins the schedule anew
			"2 ready>stopping", "2 stopping>backoff 1s", "3 backoff>starting", "3 starting>ready")
		if after := e[2].Time.Sub(e[1].Time); after != 36*time.Second { // three times ten, and two to miss
			t.Errorf("condemned after %v, want 36s", after)
		}
		if got := v.State(); got.Restarts != 2 || got.Failures != 1 || len(s.calls) != 0 {
			t.Errorf("got %+v and the calls %v", got, s.calls)
		}
	})
}

// A transport may kill what does not answer a probe: that is no call's fault, not
// even right after one.
// TestLookedAtIsNotBusy looks at an instance that does not answer, all the time.
func TestLookedAtIsNotBusy(t *testing.T) {
	bubble(t, play(part{probe: missed}, part{}), always, func(t *testing.T, v *Supervisor, r *record) {
		r.want(t, started...)
		for range 40 {
			if i, ok := v.Instance(); !ok || i.Info().PID != v.State().PID {
				t.Fatalf("got %v, %v, want the instance in the slot", i, ok)
			}
			time.Sleep(900 * time.Millisecond)
			synctest.Wait()
			if !v.State().State.Takes() {
				break
			}
		}
		if v.State().State.Takes() {
			t.Fatal("it was not condemned")
		}
		if i, ok := v.Instance(); ok {
			t.Errorf("got %v, which was condemned", i)
		}
	})
}

func TestTransportCondemnsForAProbe(t *testing.T) {
	s := play(part{})
	s.parts[0].probe = func(ctx context.Context) error {
		err := missed(ctx)
		s.actors[0].die(hook.Exit{Code: -1, Signal: "SIGKILL", Stopped: true})
		return err
	}
	bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(9 * time.Second)
		acquire(t, v).Release(nil)
		time.Sleep(3 * time.Second)
		r.want(t, append(started, "1 ready>backoff 1s")...)
	})
}

func TestMissesMustBeInARow(t *testing.T) {
	p := answers(missed, missed, nil, missed, missed, unhealthy, missed, missed, nil)
	bubble(t, play(part{probe: p}), always, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(5 * time.Minute)
		r.want(t, append(started, "1 ready>degraded", "1 degraded>ready")...)
	})
}

func TestUnhealthyIsDegradedNotDead(t *testing.T) {
	bubble(t, play(part{probe: answers(nil, unhealthy, unhealthy, unhealthy, unhealthy, nil)}), always, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(30 * time.Second)
		if e := r.want(t, append(started, "1 ready>degraded")...); e[2].Reason != "no database" {
			t.Errorf("got the reason %q", e[2].Reason)
		}
		acquire(t, v).Release(nil)
		time.Sleep(time.Hour)
		r.want(t, "1 degraded>ready")
	})
}

func TestBusyIsNotDead(t *testing.T) {
	var probes atomic.Int32
	s := play(part{probe: func(ctx context.Context) error { probes.Add(1); return missed(ctx) }})
	bubble(t, s, always, func(t *testing.T, v *Supervisor, r *record) {
		l := acquire(t, v)
		time.Sleep(time.Hour)
		if n := probes.Load(); n != 0 {
			t.Errorf("%d probes while a call runs", n)
		}
		l.Release(nil)
		for range 100 { // a call comes while the probe waits, and may be over before it misses
			n := probes.Load()
			for probes.Load() == n {
				time.Sleep(500 * time.Millisecond)
			}
			acquire(t, v).Release(nil)
		}
		r.want(t, started...)
	})
}

func TestProbesCanBeLeftOut(t *testing.T) {
	opts := always
	opts.Probe = -1
	bubble(t, play(part{probe: missed}), opts, func(t *testing.T, v *Supervisor, r *record) {
		time.Sleep(time.Hour)
		r.want(t, started...)
	})
}
