package supervise

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// world plays what is outside a machine: it does what the machine says, and
// knows which events are possible.
type world struct {
	t     *testing.T
	m     machine
	at    time.Time
	lives map[int]*fate      // the generations that have not ended
	armed bool               // the delay runs
	wild  bool               // any event comes, also impossible ones
	chain map[int]hook.State // where the events of each generation are
}

// fate is a generation out there.
type fate struct {
	up    bool // started
	asked bool // told to end
}

// FuzzStep holds what is always so, whatever happens in whatever order: first for
// what can happen, then also for what cannot.
func FuzzStep(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{0, 4, 0, 0, 8, 0, 1, 0, 2, 0, 8, 0, 8, 0, 3, 0})
	f.Add([]byte{7, 0, 0, 1, 0, 6, 0, 0, 1, 0, 9, 1, 8, 2, 8, 0, 9, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, wild := range []bool{false, true} {
			play := data
			w := &world{t: t, at: t0, wild: wild, lives: map[int]*fate{}, chain: map[int]hook.State{}}
			if len(play) > 0 {
				c := play[0]
				w.m.rules.Patient = c&64 != 0
				w.m.asks, w.m.rules.OneAtATime = c&1 != 0, c&2 != 0
				w.m.rules.Policy, w.m.rules.MaxFailures = Policy(c>>2%3), int(c>>4%4)
				play = play[1:]
			}
			w.m.rules = w.m.rules.complete()
			w.step(event{what: begin})
			for ; len(play) >= 2; play = play[2:] {
				w.happen(play[0], play[1])
			}
			w.finish()
		}
	})
}

// happen lets one event come, if it can.
func (w *world) happen(kind, detail byte) {
	w.at = w.at.Add(time.Duration(detail>>3) * time.Second / 2)
	ev := event{what: what(kind % byte(stop+1)), gen: [...]int{w.m.cur.gen, w.m.next.gen, w.m.old.gen, int(kind >> 4)}[detail%4],
		roll: float64(detail) / 256, called: kind&16 != 0, busy: kind&32 != 0, changed: kind&64 != 0, fixed: kind&128 != 0, alone: detail&128 != 0, reason: "why"}
	if kind&64 != 0 {
		ev.err = [...]error{errBad, &hook.Error{Kind: hook.Unhealthy}, &hook.Error{Kind: hook.Timeout}, errors.New("x")}[detail>>2%4]
		ev.exit.Code = 1
	}
	if !w.wild && !w.possible(ev) {
		return
	}
	w.step(ev)
}

// possible tells whether an event can come.
func (w *world) possible(ev event) bool {
	g := w.lives[ev.gen]
	switch ev.what {
	case begin:
		return false
	case launched:
		return g != nil && !g.up
	case died:
		return g != nil && g.up
	case delayOver:
		return w.armed
	}
	return true
}

// step steps, and looks at what came of it.
func (w *world) step(ev event) {
	ev.now = w.at
	before := w.m
	m, actions := step(before, ev)
	if again, same := step(before, ev); !reflect.DeepEqual(m, again) || !reflect.DeepEqual(actions, same) {
		w.t.Fatalf("%+v: two different steps", ev)
	}
	if g := w.lives[ev.gen]; g != nil && (ev.what == died || ev.what == launched && ev.err != nil) {
		delete(w.lives, ev.gen)
	} else if g != nil && ev.what == launched {
		g.up = true
	}
	if ev.what == delayOver {
		w.armed = false
	}
	w.m = m
	for _, a := range actions {
		if a.op == doTell {
			w.told(a.tell, before.state)
		}
		w.do(a)
	}
	w.consistent(ev)
}

// do does what the machine says.
func (w *world) do(a action) {
	switch a.op {
	case doLaunch:
		if w.m.final {
			w.t.Fatal("a start after the end was asked for")
		}
		w.lives[a.gen] = &fate{}
	case doCancel, doRetire, doStop, doCondemn:
		if g := w.lives[a.gen]; g != nil {
			g.asked = true
		} else if !w.wild {
			w.t.Fatalf("%s %d, which is gone", opNames[a.op], a.gen)
		}
	case doProbe, doWatch:
		if g := w.lives[a.gen]; !w.wild && (g == nil || !g.up) {
			w.t.Fatalf("%s %d, which does not run", opNames[a.op], a.gen)
		}
	case doWait:
		w.armed = true
		if a.delay < w.m.rules.Backoff || a.delay > w.m.rules.BackoffMax {
			w.t.Fatalf("a delay of %v", a.delay)
		}
	case doRest:
		w.armed = false
	}
}

// told looks whether events follow each other. The first of a generation begins
// where the slot was, unless the generation is a replacement.
func (w *world) told(e hook.Event, slot hook.State) {
	from, known := w.chain[e.Generation]
	if !known && e.From != 0 {
		from = slot
	}
	if from != e.From || !known && e.Generation > 0 && e.To != hook.StateStarting {
		w.t.Errorf("%s after %s", line(e), from)
	}
	w.chain[e.Generation] = e.To
}

// consistent looks at what must always be so.
func (w *world) consistent(ev event) {
	m := w.m
	bad := func(what string) {
		w.t.Helper()
		w.t.Fatalf("%s after %+v: %+v", what, ev, m)
	}
	resting := m.resting() || m.state == hook.StateBackoff
	switch {
	case resting && (m.cur.gen != 0 || m.next.gen != 0):
		bad("something in a slot that rests")
	case (m.state.Takes() || m.state == hook.StateStarting) && m.cur.gen == 0:
		bad("nothing in the slot")
	case m.state.Takes() != (m.cur.up && m.state != hook.StateStopping):
		bad("taking calls, but not up")
	case m.next.gen != 0 && m.old.gen != 0:
		bad("a replacement and a replaced one")
	case m.rules.OneAtATime && (m.next.gen != 0 || m.old.gen != 0):
		bad("two at a time")
	case m.next.gen != 0 && !m.state.Takes() && !m.final:
		bad("a replacement for nothing")
	case m.rules.MaxFailures > 0 && m.state == hook.StateBackoff && m.failures >= m.rules.MaxFailures:
		bad("a budget that is spent")
	case m.answers() && m.cause == nil:
		bad("no answer")
	case m.state.Takes() && m.misses >= missedProbes:
		bad("not condemned")
	case m.final && m.state != hook.StateStopping && m.state != hook.StateStopped:
		bad("not ending")
	}
	if w.wild {
		return
	}
	if (m.state == hook.StateBackoff) != w.armed {
		bad("the delay")
	}
	known := 0
	for _, l := range []life{m.cur, m.next, m.old} {
		if l.gen == 0 {
			continue
		}
		known++
		if g := w.lives[l.gen]; g == nil || g.up != l.up {
			bad("a life that is not so")
		} else if ending := m.final || l == m.old || l == m.cur && m.state == hook.StateStopping; ending && !g.asked {
			bad("nobody ends it")
		}
	}
	if known != len(w.lives) || known > 2 {
		bad("lives")
	}
}

// finish stops, and lets all come to its end.
func (w *world) finish() {
	w.step(event{what: stop})
	if w.wild {
		return
	}
	for _, gen := range slices.Sorted(maps.Keys(w.lives)) {
		if w.lives[gen].up {
			w.step(event{what: died, gen: gen})
		} else {
			w.step(event{what: launched, gen: gen, err: errBad})
		}
	}
	if !w.m.over() {
		w.t.Fatalf("not over: %+v", w.m)
	}
}
