package pool

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestLater tells those who wait at once why the last slot has no instance, though it
// tries again, and has one that waits for another slot get that which comes.
func TestLater(t *testing.T) {
	cause := errors.New("no room")
	later := func(next time.Duration) error {
		return &hook.Error{Kind: hook.Start, Err: &LaterError{Err: cause, Next: next}}
	}
	bubble(t, 2, Options{}, nil, func(t *testing.T, p *Pool, slots []*fakeSlot) {
		good(t, p)
		slots[0].failing(later(10 * time.Second))
		slots[0].current().end()
		held, err := p.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began, answered := time.Now(), make(chan error, 1)
		go func() { answered <- call(t, p, t.Context(), "echo", "1") }()
		synctest.Wait()
		slots[0].failing(nil)
		if err := <-answered; err != nil {
			t.Errorf("a call that waited for a busy slot: %v", err)
		}
		if took := time.Since(began); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("it waited %v, want until the slot is filled after 10s", took)
		}
		held.Close()

		for _, s := range slots {
			s.failing(later(time.Hour))
			s.current().end()
		}
		began = time.Now()
		e := want(t, call(t, p, t.Context(), "echo", "1"), hook.Start)
		if took := time.Since(began); took != 0 || !errors.Is(e, cause) || e.Hook != "echo" {
			t.Errorf("got %+v after %v, want it at once", e, took)
		}
	})
}

func TestLaterWords(t *testing.T) {
	for next, want := range map[time.Duration]string{
		0: "it is being started again", time.Millisecond: "it is started again in 100ms", 2240 * time.Millisecond: "it is started again in 2.2s",
	} {
		e := &LaterError{Err: errors.New("no room"), Next: next}
		if got := e.When(); got != want || e.Error() != "no room" {
			t.Errorf("got %q and %q, want %q", got, e, want)
		}
	}
}
