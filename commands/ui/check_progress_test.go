package ui

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out, _ := Test("")
		errs := &sized{width: 80}
		s.Err, s.ErrTTY, s.OutTTY = errs, true, true
		var stage atomic.Value
		stage.Store("launch\t\x1b")
		stop := s.Progress(func() string { return stage.Load().(string) })
		synctest.Wait()
		if got, want := errs.take(), `| launch \x1b (0.0 s)`; got != want {
			t.Fatalf("got %q at once, want %q", got, want)
		}
		time.Sleep(tick)
		synctest.Wait()
		s.Note("by the way")
		stage.Store("health")
		time.Sleep(tick)
		synctest.Wait()
		// A stage's line erases it, and it is back before the next picture.
		if err := s.Checks(false).Stage(hook.Stage{Name: "launch"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		stop()
		stop()
		time.Sleep(time.Second)
		want := eraseLine + `/ launch \x1b (0.1 s)` + eraseLine + "note: by the way\n" +
			"- health (0.2 s)" + eraseLine + "- health (0.2 s)" + eraseLine
		if got := errs.take(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := out.String(), "  ok       launch\n"; got != want {
			t.Errorf("got %q on standard output, want %q", got, want)
		}
	})
}

// On one terminal for both streams every line of a check stands by itself.
func TestProgressBetweenStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := Test("")
		both := &sized{width: 80}
		s.Out, s.Err, s.ErrTTY, s.OutTTY = both, both, true, true
		stop := s.Progress(func() string { return "checking" })
		p := s.Checks(false)
		for range 20 {
			time.Sleep(tick / 2)
			if err := p.Stage(hook.Stage{Name: "stop"}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		stop()
		got := both.take()
		if n := strings.Count(got, eraseLine+"  ok       stop\n"); n != 20 || !strings.HasSuffix(got, "checking (1.0 s)"+eraseLine) {
			t.Errorf("got %q, with %d lines that stand alone", got, n)
		}
	})
}

// What is waited for inside takes the line after its second, and gives it back.
func TestProgressAroundWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := Test("")
		errs := &sized{width: 80}
		s.Err, s.ErrTTY = errs, true
		outer := s.Progress(func() string { return "outer" })
		inner := s.Waiting("inner")
		for _, step := range []struct {
			after     time.Duration
			does      func()
			has, lack string
		}{
			{quick - tick/2, nil, "outer (0.9 s)", "inner"},
			{3 * tick, nil, "inner (1.0 s)", "outer"},
			{0, inner, "", "outer"},
			{3 * tick, nil, "outer (1.", "inner"},
			{time.Minute, nil, "outer (1 min 1 s)", "inner"},
			{0, outer, eraseLine, "outer"},
			{quick, nil, "", "outer"},
		} {
			if step.does != nil {
				step.does()
			}
			time.Sleep(step.after)
			synctest.Wait()
			if got := errs.take(); !strings.Contains(got, step.has) || strings.Contains(got, step.lack) {
				t.Errorf("got %q, want %q and no %q", got, step.has, step.lack)
			}
		}
	})
}

func TestProgressElsewhere(t *testing.T) {
	drawsNothing(t, time.Second, func(where string, s *Streams) (stop func()) {
		return s.Progress(func() string { t.Errorf("%s: asked", where); return "" })
	})
}
