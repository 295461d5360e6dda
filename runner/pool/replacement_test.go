package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestReplacement(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.start = time.Second })
		old := w.launcher.last()
		var calls sync.WaitGroup
		calls.Go(func() {
			if err := w.call("sleep 10s"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if d := took(func() {
			if err := w.Restart(w.t.Context(), "a test"); err != nil {
				t.Error(err)
			}
		}); d != time.Second {
			t.Errorf("took %v", d)
		}
		if w.works(); hook.IsClosed(old.done) {
			t.Error("the old instance did not drain")
		}
		calls.Wait()
		w.states("1:starting 1:ready 2:starting 2:ready 1:stopping 1:stopped")
	})
}

// TestReplacementsOverlap checks that two replacements do not wait until earlier instances have
// drained, and that the third one does.
func TestReplacementsOverlap(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.start = time.Second })
		var calls sync.WaitGroup
		for _, want := range []time.Duration{time.Second, time.Second, 9 * time.Second} {
			calls.Go(func() {
				if err := w.call("sleep 10s"); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
			d := took(func() {
				if err := w.Restart(w.t.Context(), "a test"); err != nil {
					t.Error(err)
				}
			})
			if d != want {
				t.Errorf("took %v, want %v", d, want)
			}
		}
		calls.Wait()
	})
}

func TestReplacementFails(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.fail = failing("SyntaxError") })
		if err := w.Restart(w.t.Context(), "a test"); hook.AsError(err).Kind != hook.Start {
			t.Errorf("got %v", err)
		}
		w.works()
		if st := w.status(); st.Generation != 1 || st.State != hook.StateReady || !strings.Contains(st.Note, "old one stays") {
			t.Errorf("got %+v", st)
		}
		w.states("1:starting 1:ready 2:starting 2:failed")
	})
}

// TestNewestReplacementWins checks that a request for a replacement cancels a replacement that is
// still starting.
func TestNewestReplacementWins(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.start = time.Minute })
		var all sync.WaitGroup
		for i := range 2 {
			time.Sleep(time.Second)
			all.Go(func() {
				if err := w.Restart(w.t.Context(), fmt.Sprint("restart ", i)); err != nil {
					t.Error(err)
				}
			})
		}
		if d := took(all.Wait); d != time.Minute {
			t.Errorf("took %v", d)
		}
		w.states("1:starting 1:ready 2:starting 2:stopped 3:starting 3:ready 1:stopping 1:stopped")
	})
}

// TestOldDiesFirst checks that a starting replacement takes over if the old instance exits.
func TestOldDiesFirst(t *testing.T) {
	bubble(t, Options{Policy: always}, nil, func(w *world) {
		w.launcher.set(func() { w.launcher.start = time.Second })
		go func() { _ = w.Restart(w.t.Context(), "a test") }()
		synctest.Wait()
		w.launcher.last().end(hook.Exit{Code: 1})
		if d := took(w.works); d != time.Second {
			t.Errorf("took %v", d)
		}
		w.states("1:starting 1:ready 2:starting 1:stopped 2:ready")
	})
}

// TestReplace checks that new instances serve all calls once Replace has returned, and that only
// Restart reads the plugin's files again.
func TestReplace(t *testing.T) {
	bubble(t, Options{Workers: 2, Policy: always}, nil, func(w *world) {
		w.status() // waits until both workers are ready
		for _, replace := range []func(context.Context, string) error{w.Replace, w.Restart} {
			old := w.launcher.last().pid
			if err := replace(w.t.Context(), "a test"); err != nil {
				t.Fatal(err)
			}
			w.works()
			w.launcher.mu.Lock()
			if made := w.launcher.made; made[old+1]+made[old+2] != "ok" {
				t.Errorf("after worker %d: got %v", old, made)
			}
			w.launcher.made = nil
			w.launcher.mu.Unlock()
		}
		if w.launcher.renewed != 1 {
			t.Errorf("the files were read again %d times, want 1", w.launcher.renewed)
		}
	})
}

// TestAllButOneLeave checks that all workers but one leave the pool if two instances cannot live at
// once, even if they start together.
func TestAllButOneLeave(t *testing.T) {
	bubble(t, Options{Workers: 4, Policy: always}, func(l *fakeLauncher) {
		l.alone = &hook.Error{Kind: hook.Start, Alone: true, Err: errors.New("alone")}
	}, func(w *world) {
		synctest.Wait()
		if st := w.status(); st.Workers != 1 || st.Ready != 1 {
			t.Errorf("got %+v, want one worker", st)
		}
		w.works()
	})
}

// TestReplaceWhileOthersLeave checks that Replace does not wait for workers that leave the pool
// meanwhile.
func TestReplaceWhileOthersLeave(t *testing.T) {
	bubble(t, Options{Workers: 3, Policy: always}, func(l *fakeLauncher) {
		l.start, l.alone = time.Second, &hook.Error{Kind: hook.Start, Alone: true, Err: errors.New("alone")}
	}, func(w *world) {
		synctest.Wait() // the others have begun to start
		w.launcher.set(func() { w.launcher.start = 3 * time.Second })
		time.AfterFunc(2*time.Second, func() { w.launcher.set(func() { w.launcher.alone = nil }) })
		if err := w.Restart(w.t.Context(), "a test"); err != nil {
			t.Error(err)
		}
		if st := w.status(); st.Workers != 1 || st.Generation != 2 {
			t.Errorf("got %+v, want the one worker replaced", st)
		}
	})
}

// TestAlone checks that the old instance stops first if two cannot live at once.
func TestAlone(t *testing.T) {
	opt := Options{Workers: 2, Policy: always}
	var notes []string
	opt.Note = func(text string) { notes = append(notes, text) }
	bubble(t, opt, func(l *fakeLauncher) {
		l.collide, l.alone = true, &hook.Error{Kind: hook.Start, Alone: true, Err: errors.New("alone")}
	}, func(w *world) {
		if st := w.status(); st.Workers != 1 || len(notes) != 1 || notes[0] != "only one worker is used: alone" {
			t.Errorf("got %+v, %q", st, notes)
		}
		w.states("1:starting 1:ready 1:starting")
		if err := w.Restart(w.t.Context(), "a test"); err != nil {
			t.Error(err)
		}
		w.works()
		w.states("1:stopping 2:starting 2:ready")
	})
}
