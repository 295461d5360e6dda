package supervise

import (
	"errors"
	"fmt"

	"github.com/pyplug/pyplug/runner/hook"
)

// wanted answers somebody who waits, where there is nothing to wait for.
func (t *turn) wanted() {
	switch {
	case t.final:
		t.answer(doAnswer, errStopped)
	case !t.answers():
	case t.state != hook.StateStopped && t.asks && t.rules.Policy != No:
		if !t.asking {
			t.asking = true
			t.do(doAsk, 0)
		}
	default:
		t.answer(doAnswer, t.cause)
	}
}

// checked takes whether the plugin's files changed since it failed.
func (t *turn) checked() {
	t.asking = false
	switch {
	case t.final || t.state == hook.StateStopped || !t.answers(): // who waits is answered otherwise
	case t.ev.changed:
		t.afresh("the plugin's files changed")
	default:
		t.answer(doAnswer, t.cause)
	}
}

// probeDue probes, unless a call shows that the instance lives.
func (t *turn) probeDue() {
	switch {
	case t.ev.gen != t.cur.gen || !t.state.Takes() || t.probing:
	case t.ev.busy:
		t.do(doWatch, t.cur.gen)
	default:
		t.probing = true
		t.do(doProbe, t.cur.gen)
	}
}

// probed takes what a probe said.
func (t *turn) probed() {
	if t.ev.gen != t.cur.gen || !t.state.Takes() || !t.probing {
		return
	}
	t.probing = false
	kind := hook.Kind(0)
	if e := (*hook.Error)(nil); errors.As(t.ev.err, &e) {
		kind = e.Kind
	}
	switch {
	case t.ev.err == nil:
		t.misses = 0
		if t.state == hook.StateDegraded {
			t.enter(hook.StateReady, t.cur, "it is healthy again", nil)
		}
	case kind == hook.Unhealthy:
		t.misses = 0
		if t.state == hook.StateReady {
			t.enter(hook.StateDegraded, t.cur, reasonOf(t.ev.err), nil)
		}
	case kind == hook.Canceled || t.ev.busy: // it says nothing about the instance
	default:
		if t.misses++; t.misses >= missedProbes {
			t.condemn(t.ev.err)
			return
		}
	}
	t.do(doWatch, t.cur.gen)
}

// condemn stops an instance that does not answer. What follows is what follows
// an end that nobody was calling for.
func (t *turn) condemn(err error) {
	reason := fmt.Sprintf("%d probes in a row were not answered", missedProbes)
	t.healthy()
	t.do(doCondemn, t.cur.gen)
	if t.next.gen != 0 {
		t.failures++
		t.old = t.cur
		t.handOver(hook.StateStopping, reason, nil)
		return
	}
	t.cause = &hook.Error{Kind: hook.Unavailable, Err: fmt.Errorf("%s: %w", reason, err)}
	t.enter(hook.StateStopping, t.cur, reason, nil)
}

// handOver gives the slot to the replacement that is starting, since the present
// instance can no longer wait for it.
func (t *turn) handOver(to hook.State, reason string, exit *hook.Exit) {
	t.tell(t.state, to, t.cur, reason, exit)
	t.cur, t.next = t.next, life{}
	t.state, t.since = hook.StateStarting, t.ev.now // was told when it began
}

// replace begins a replacement, or remembers it until that is possible.
func (t *turn) replace(reason string) {
	t.again = reason
	switch {
	case t.final:
		t.again = ""
		t.answer(doReplaced, errStopped)
	case t.resting(), t.state == hook.StateBackoff:
		t.afresh(reason)
	case t.state == hook.StateStarting:
		t.do(doCancel, t.cur.gen)
	case !t.state.Takes(): // stopping: when it is gone
	case t.rules.OneAtATime:
		t.enter(hook.StateStopping, t.cur, reason, nil)
		t.do(doRetire, t.cur.gen)
	case t.next.gen != 0: // of files that are no longer the newest
		t.do(doCancel, t.next.gen)
	case t.old.gen == 0:
		t.next, t.again = t.born(), ""
		t.tell(0, hook.StateStarting, t.next, reason, nil)
		t.do(doLaunch, t.next.gen)
	}
}

// alone is why an instance goes before the next one starts.
const alone = "no other can start beside it"

// replacementLaunched takes how the start of a replacement came out.
func (t *turn) replacementLaunched() {
	next := t.next
	switch err := t.ev.err; {
	case next.up: // was told already
	case t.final && err == nil:
		t.next = next.started(t.ev)
		t.do(doStop, next.gen)
	case t.final:
		t.tell(hook.StateStarting, hook.StateStopped, next, "it was asked for", nil)
		t.next = life{}
		t.settle()
	case err != nil:
		if t.again != "" { // it was given up for that
			t.tell(hook.StateStarting, hook.StateStopped, next, "superseded: "+t.again, exitOf(err))
		} else {
			t.tell(hook.StateStarting, hook.StateFailed, next, reasonOf(err), exitOf(err))
		}
		t.next = life{}
		if t.ev.alone && !t.rules.OneAtATime {
			t.rules.OneAtATime = true
			if t.again == "" {
				t.again = alone
			}
		}
		if t.again != "" {
			t.replace(t.again)
			return
		}
		t.answer(doReplaced, err)
	default:
		t.swap()
	}
}

// swap puts a replacement that is ready to use, and lets the old one go.
func (t *turn) swap() {
	old, from := t.cur, t.state
	t.cur, t.next, t.old = t.next.started(t.ev), life{}, old
	t.misses, t.probing, t.cause = 0, false, nil
	t.state, t.since = hook.StateReady, t.ev.now
	t.tell(hook.StateStarting, hook.StateReady, t.cur, fmt.Sprintf("it started, and replaces generation %d", old.gen), nil)
	t.tell(from, hook.StateStopping, old, fmt.Sprintf("generation %d replaces it", t.cur.gen), nil)
	t.do(doRetire, old.gen)
	t.do(doWatch, t.cur.gen)
	if t.again == "" { // else a newer one is owed, when the old one is gone
		t.answer(doReplaced, nil)
	}
}

// stop ends all, from every state.
func (t *turn) stop() {
	if t.final {
		return
	}
	t.final, t.again, t.cause = true, "", errStopped
	t.answer(doAnswer, errStopped)
	t.answer(doReplaced, errStopped)
	if t.state == hook.StateBackoff {
		t.do(doRest, 0)
	}
	if t.left = t.cur; t.cur.gen == 0 {
		t.left = life{gen: t.last}
	}
	was := t.state
	if !t.empty() && was != hook.StateStopping {
		t.enter(hook.StateStopping, t.left, "it was asked for", nil)
	}
	t.end(t.cur, was == hook.StateStarting)
	t.end(t.next, true)
	t.end(t.old, false)
	t.settle()
}

// end ends one generation, whatever it is doing.
func (t *turn) end(l life, starting bool) {
	switch {
	case l.gen == 0:
	case starting:
		t.do(doCancel, l.gen)
	default:
		t.do(doStop, l.gen)
	}
}

// empty tells that nothing lives, or is about to.
func (m machine) empty() bool { return m.cur.gen == 0 && m.next.gen == 0 && m.old.gen == 0 }

// over tells that the end that was asked for has come.
func (m machine) over() bool { return m.final && m.state == hook.StateStopped }

// settle ends the stop once nothing is left.
func (t *turn) settle() {
	if !t.empty() || t.state == hook.StateStopped {
		return
	}
	var exit *hook.Exit
	if t.left.up {
		exit = t.exit
	}
	t.enter(hook.StateStopped, t.left, "it was asked for", exit)
}
