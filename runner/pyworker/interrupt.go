package pyworker

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/wire"
)

const (
	// answerLimit is how long an interrupted call may take to answer before
	// its worker is condemned.
	answerLimit = 200 * time.Millisecond
	// overtakeTime is how long a call that was given up before it began may take
	// to be answered before it is taken for one that has begun.
	overtakeTime = 5 * time.Millisecond
	// drainLimit is how long the other calls of a condemned worker may go on.
	drainLimit = 5 * time.Second
)

// interrupt makes the worker give a call up, and condemns it when it does not
// answer in time. It tells whether the call may have reached the plugin, and
// where that was, as far as that is known.
//
// One that waits in the worker behind another is not waited for: the worker
// answers for it when its turn comes, and it keeps its place until then.
func (w *instance) interrupt(p *pending) (sent bool, at []hook.Frame) {
	w.mu.Lock()
	switch {
	case p.answered || p.lost:
		w.mu.Unlock()
		return true, nil
	case w.unqueue(p):
		w.mu.Unlock()
		return false, nil
	case p.sent == partly: // half a frame cannot be taken back
		w.mu.Unlock()
		return true, w.condemn(p)
	}
	w.control(wire.Cancel, p.number)
	if w.inOrder && w.head() != p {
		w.give(p)
		w.mu.Unlock()
		return true, nil
	}
	w.mu.Unlock()
	switch {
	case w.press(p):
		return true, answeredAt(p.answer)
	case p.probe:
		w.mu.Lock()
		defer w.mu.Unlock()
		if !p.answered {
			w.hung = p
			w.give(p)
		}
		return true, nil
	}
	return true, w.whereabouts(p, w.condemn(p))
}

// trace takes where a cancelled call is that goes on. It may have been answered
// since.
func (w *instance) trace(f wire.Frame) error {
	stood := new(hook.Raised)
	if err := json.Unmarshal(f.Body, stood); err != nil {
		return fmt.Errorf("the worker's trace: %w", err)
	}
	addSource(stood, make(map[string][]string))
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.calls[f.Call]; p != nil {
		p.stood = stood.Frames
	}
	return nil
}

// whereabouts is where a call was that did not end: as it was told of itself, else
// as the end of the process showed, where several may have been.
func (w *instance) whereabouts(p *pending, seen []hook.Frame) []hook.Frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.stood != nil {
		return p.stood
	}
	return seen
}

// give leaves a call without its caller: it keeps its place until it is answered.
// It is called with mu held.
func (w *instance) give(p *pending) {
	p.given = true
	w.givenUp++
}

// relieve waits for a probe that did not answer in time, and not even when it was
// interrupted. While nobody needs the worker it is let be: whoever probes counts
// its misses. A call cannot wait for that, and has the worker condemned.
func (w *instance) relieve(t wire.Type) *hook.Error {
	w.mu.Lock()
	hung := w.hung
	w.mu.Unlock()
	switch {
	case hung == nil || t != wire.Probe && w.cfg.Threads || w.press(hung):
		return nil
	case t == wire.Probe:
		return &hook.Error{Kind: hook.Timeout, Hook: hung.hook, Err: errHung}
	}
	w.condemn(hung)
	return nil
}

// errHung answers a probe while an earlier one still runs.
var errHung = errors.New("an earlier probe has not ended")

// press waits for the answer of a call that is cancelled, at most answerLimit, and
// sends SIGINT as often as it takes. It tells whether one came, or none can.
func (w *instance) press(p *pending) bool {
	w.proc.Respite(answerLimit) // who is stopped for its CPU limit could not answer
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	again := time.NewTicker(answerLimit / 2)
	defer again.Stop()
	for {
		// Python does not see a signal that comes just before it blocks, so there
		// is a second; the worker minds only one.
		w.signal(p)
		for signal := false; !signal; {
			select {
			case <-p.wake:
				if w.isOver(p) {
					return true
				}
			case <-again.C:
				signal = true
			case <-limit.C:
				return w.isOver(p)
			}
		}
	}
}

// isOver tells whether nothing else comes for a call, and wakes whoever else waits
// for that.
func (w *instance) isOver(p *pending) bool {
	_, _, over := w.arrived(p)
	if over {
		p.tell()
	}
	return over
}

// signal sends SIGINT if it hits this call and no other: when there is no other,
// and when the worker runs them in order, since it then looks for the cancel before
// it minds the signal. Calls in threads are not reached by it. mu is held until the
// signal is sent: no call can begin before, and the worker sees the signal before it
// reads of one that begins after.
func (w *instance) signal(p *pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cfg.Threads || w.calls[p.number] != p || p.answered {
		return
	}
	if len(w.calls) == 1 || w.inOrder && w.head() == p {
		_ = w.proc.Interrupt() // a process that is gone is told by lost
	}
}

// head is the call that the worker runs, or takes next, while it runs them in
// order. It is called with mu held.
func (w *instance) head() *pending {
	var head *pending
	for _, p := range w.calls {
		if head == nil || int32(p.number-head.number) < 0 {
			head = p
		}
	}
	return head
}

// overlap comes when the worker no longer runs its calls in order: the turn of each
// call whose caller is gone may have come.
func (w *instance) overlap() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inOrder = false
	for _, p := range w.calls {
		if p.given && p != w.hung {
			go w.overtake(p)
		}
	}
}

// overtake looks after a call whose caller is gone and whose turn has come: it
// may have begun just before the cancel came. It ends within answerLimit and
// what condemning takes, which a probe is not a reason for.
func (w *instance) overtake(p *pending) {
	select {
	case <-p.wake:
	case <-time.After(overtakeTime):
	}
	switch {
	case w.isOver(p) || w.press(p):
	case p.probe:
		w.mu.Lock()
		defer w.mu.Unlock()
		if !p.answered {
			w.hung = p
		}
	default:
		w.condemn(p)
	}
}

// condemn lets no new call begin, gives those that may run at the same time 5 s,
// and kills the worker. It returns at once when others run, else when the process
// is gone; then it tells where the plugin was, as far as that is known.
func (w *instance) condemn(p *pending) []hook.Frame {
	w.mu.Lock()
	first := !w.condemned
	w.condemned = true
	others := len(w.calls) - w.givenUp
	if w.calls[p.number] == p && !p.given {
		others--
	}
	if w.inOrder {
		others = 0 // they wait for this one
	}
	w.mu.Unlock()
	if others == 0 {
		return stackFrames(w.proc.Kill().Stacks)
	}
	if first {
		go func() { // ends by itself within drainLimit
			select {
			case <-w.idle:
			case <-w.proc.Done():
			case <-time.After(drainLimit):
			}
			w.proc.Kill()
		}()
	}
	return nil
}

// answeredAt is where an interrupted call says that it was.
func answeredAt(f wire.Frame) []hook.Frame {
	a, err := readAnswer(f)
	if err != nil {
		return nil
	}
	if raised := a.raised(); raised != nil {
		return raised.Frames
	}
	return nil
}
