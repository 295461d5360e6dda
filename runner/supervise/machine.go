package supervise

import (
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// machine is all that the restart policy knows. It is a value: step returns a
// new one. The zero machine, with rules, has not begun.
type machine struct {
	rules Rules
	// asks tells that somebody can be asked whether the plugin's files changed.
	asks bool

	state hook.State
	final bool // the end was asked for: nothing is started any more
	gen   int  // the newest generation

	// cur is starting, ready or being stopped, by the state; next is a
	// replacement that starts; old was replaced and is being stopped. The last
	// two are never there together.
	cur, next, old life
	left           life   // whom the end of a stop is told of
	last           int    // which generation was in the slot last, when none is
	again          string // why to replace, as soon as that is possible; empty: not

	failures int  // in a row
	restarts int  // starts after an end that nobody asked for
	misses   int  // probes in a row
	probing  bool // cur is being probed
	asking   bool // about changed files

	cause error         // what failed last; the answer to who waits, where there is one
	exit  *hook.Exit    // how the last one ended
	delay time.Duration // in backoff
	vain  bool          // in backoff: it was a start that failed, and who waits is told
	since time.Time     // when the state was entered
}

// life is one generation in its place. The zero life is none.
type life struct {
	gen, pid int
	up       bool // its start came out well
	ready    time.Time
}

// started is the life once its start came out well.
func (l life) started(ev event) life {
	l.pid, l.up, l.ready = ev.pid, true, ev.now
	return l
}

// what happened.
type what uint8

const (
	begin     what = iota
	wanted         // somebody waits for an instance
	launched       // the start of gen came out: err, fixed; else pid
	died           // gen is gone: exit, called
	delayOver      // of backoff
	probeDue       // for gen: busy
	probed         // gen answered: err, busy
	checked        // whether the files changed: changed
	reload         // somebody says that they did
	replace        // a new instance is asked for: reason
	stop           // the end is asked for
)

// event is what happened, with what is known of it. All have now and roll.
type event struct {
	what    what
	gen     int
	now     time.Time
	roll    float64 // by chance, from 0 up to 1
	pid     int
	err     error
	fixed   bool // the error will come again until the files change
	alone   bool // the error came only because another instance lives
	exit    hook.Exit
	called  bool // it was a call that it died of
	busy    bool // a call was running
	changed bool
	reason  string
}

// op is what is to be done.
type op uint8

const (
	doLaunch   op = iota // start gen
	doCancel             // give the start of gen up
	doRetire             // let the calls of gen end, then stop it
	doStop               // stop gen, and hurry if it is being retired
	doCondemn            // the same, and ask nothing of it any more
	doWait               // tell when the delay is over
	doRest               // do not
	doWatch              // tell when a probe of gen is due
	doProbe              // probe gen
	doAsk                // whether the files changed
	doAnswer             // answer those who wait for an instance: err, or nil to look again
	doReplaced           // answer those who asked for a new instance: err
	doTell               // tell
)

// action is one thing to do, with what it needs.
type action struct {
	op    op
	gen   int
	delay time.Duration
	err   error
	tell  hook.Event
}

var errStopped = &hook.Error{Kind: hook.Unavailable, Err: errors.New("the plugin was stopped")}

// step is the whole restart policy: no clock, no process, no goroutine. The
// actions are in the order in which they are to be performed. An event that
// means nothing in the present state changes nothing.
func step(m machine, ev event) (machine, []action) {
	t := turn{machine: m, ev: ev}
	t.take()
	return t.machine, t.actions
}

// turn is one step under way.
type turn struct {
	machine
	ev      event
	actions []action
}

func (t *turn) take() {
	switch t.ev.what {
	case begin:
		if t.state == 0 && !t.final {
			t.launch("the first start")
		}
	case wanted:
		t.wanted()
	case launched:
		t.launched()
	case died:
		t.died()
	case delayOver:
		if t.state == hook.StateBackoff {
			t.restarts++
			t.launch("the delay is over")
		}
	case probeDue:
		t.probeDue()
	case probed:
		t.probed()
	case checked:
		t.checked()
	case reload:
		if !t.final && (t.resting() || t.state == hook.StateBackoff) {
			t.afresh("a new start was asked for")
		}
	case replace:
		t.replace(t.ev.reason)
	case stop:
		t.stop()
	}
}

func (t *turn) do(op op, gen int)       { t.actions = append(t.actions, action{op: op, gen: gen}) }
func (t *turn) answer(op op, err error) { t.actions = append(t.actions, action{op: op, err: err}) }

// enter changes the state and tells it.
func (t *turn) enter(to hook.State, of life, reason string, exit *hook.Exit) {
	from := t.state
	t.state, t.since = to, t.ev.now
	t.tell(from, to, of, reason, exit)
}

// tell tells a transition of one generation.
func (t *turn) tell(from, to hook.State, of life, reason string, exit *hook.Exit) {
	e := hook.Event{Time: t.ev.now, Generation: of.gen, PID: of.pid, From: from, To: to, Reason: reason, Exit: exit}
	if to == hook.StateBackoff {
		e.Delay = t.delay
	}
	t.actions = append(t.actions, action{op: doTell, tell: e})
}

// resting tells that nothing is started until somebody asks for it.
func (m machine) resting() bool {
	return m.state == hook.StateFailed || m.state == hook.StateStopped
}

// answers tells that who waits is told what failed. In the delay after the end of
// an instance that ran nobody is: nothing says that the next start will fail.
func (m machine) answers() bool {
	return m.resting() || m.state == hook.StateBackoff && m.vain
}

// born is the next generation.
func (t *turn) born() life {
	t.gen++
	return life{gen: t.gen}
}

// launch fills the slot, at once.
func (t *turn) launch(reason string) {
	var before *hook.Exit
	if t.ev.what == died {
		before = t.exit
	}
	if t.state == hook.StateBackoff {
		t.do(doRest, 0)
	}
	t.cur, t.again, t.delay = t.born(), "", 0
	t.enter(hook.StateStarting, t.cur, reason, before)
	t.do(doLaunch, t.cur.gen)
}

// afresh is launch by somebody's wish: what failed before does not matter.
func (t *turn) afresh(reason string) {
	t.failures = 0
	t.launch(reason)
}

// launched takes how a start came out.
func (t *turn) launched() {
	switch err := t.ev.err; {
	case t.ev.gen == 0:
	case t.ev.gen == t.next.gen:
		t.replacementLaunched()
	case t.ev.gen != t.cur.gen || t.cur.up:
	case t.state == hook.StateStarting && err == nil:
		t.ready()
	case t.state == hook.StateStarting && t.again != "":
		t.launch(t.again)
	case t.state == hook.StateStarting:
		t.failed(err, t.ev.fixed, reasonOf(err), exitOf(err))
	case err == nil: // it was quicker than our giving it up
		t.cur = t.cur.started(t.ev)
		t.do(doStop, t.cur.gen)
	default:
		t.cur = life{}
		t.settle()
	}
}

// ready puts the instance that was started to use.
func (t *turn) ready() {
	t.cur = t.cur.started(t.ev)
	t.misses, t.probing, t.cause = 0, false, nil
	t.enter(hook.StateReady, t.cur, "it started", nil)
	t.do(doWatch, t.cur.gen)
	t.answer(doAnswer, nil)
	if t.again == "" {
		t.answer(doReplaced, nil)
	} else {
		t.replace(t.again)
	}
}

// died takes the end of a process.
func (t *turn) died() {
	exit := t.ev.exit
	switch t.ev.gen {
	case 0:
	case t.old.gen:
		t.tell(hook.StateStopping, hook.StateStopped, t.old, "it was replaced", &exit)
		t.old = life{}
		if t.final {
			t.settle()
		} else if t.again != "" && t.state.Takes() {
			t.replace(t.again)
		}
	case t.next.gen: // up only when the end was asked for: else it is cur by then
		if t.next.up {
			t.tell(hook.StateStarting, hook.StateStopped, t.next, "it was asked for", &exit)
			t.next = life{}
			t.settle()
		}
	case t.cur.gen:
		if t.cur.up {
			t.curDied(exit)
		}
	}
}

// curDied takes the end of the instance in the slot.
func (t *turn) curDied(exit hook.Exit) {
	t.exit = &exit
	switch {
	case t.state.Takes():
		t.ended(exit)
	case t.final:
		t.left, t.cur = t.cur, life{}
		t.settle()
	case t.again != "":
		t.launch(t.again)
	default: // condemned
		t.failed(t.cause, false, reasonOf(t.cause), &exit)
	}
}

// ended takes an end that nobody asked for.
func (t *turn) ended(exit hook.Exit) {
	reason := "the plugin ended while no call was running"
	if t.ev.called {
		reason = "the plugin ended during a call"
	}
	err := &hook.Error{Kind: hook.Unavailable, Exit: &exit, Err: errors.New(reason)}
	t.healthy()
	clean := exit.Code == 0 && exit.Signal == "" && !t.ev.called
	switch {
	case t.next.gen != 0:
		if !t.ev.called {
			t.failures++
		}
		t.handOver(hook.StateStopped, reason, &exit)
	case t.again != "":
		t.launch(t.again)
	case clean && t.rules.Policy != Always:
		t.cause = &hook.Error{Kind: hook.Unavailable, Exit: &exit,
			Err: fmt.Errorf("the plugin ended by itself, and is not started again (restart policy %s)", t.rules.Policy)}
		t.finish(hook.StateStopped, reason, &exit)
	case t.ev.called && t.rules.Policy != No:
		t.restarts++
		t.launch(reason)
	default:
		t.failed(err, false, reason, &exit)
	}
}

// healthy lets a run that was long enough begin the schedule anew.
func (t *turn) healthy() {
	if t.ev.now.Sub(t.cur.ready) >= t.rules.HealthyAfter {
		t.failures = 0
	}
}

// failed takes a failure that counts: a start, or an end that no call waited for.
func (t *turn) failed(err error, fixed bool, reason string, exit *hook.Exit) {
	t.failures++
	if exit != nil {
		t.exit = exit
	}
	switch {
	case fixed || t.rules.Policy == No:
		t.cause = err
	case t.rules.MaxFailures > 0 && t.failures >= t.rules.MaxFailures:
		t.cause = gaveUp(t.failures, err)
	default:
		t.cause, t.delay = err, t.rules.delay(t.failures, t.ev.roll)
		t.vain = !t.cur.up && !t.rules.Patient
		t.enter(hook.StateBackoff, t.cur, reason, exit)
		t.last, t.cur = t.cur.gen, life{}
		t.actions = append(t.actions, action{op: doWait, delay: t.delay})
		if t.vain {
			t.answer(doAnswer, err)
		}
		t.answer(doReplaced, err)
		return
	}
	t.finish(hook.StateFailed, reason, exit)
}

// finish rests: nothing starts until somebody asks for it.
func (t *turn) finish(in hook.State, reason string, exit *hook.Exit) {
	t.enter(in, t.cur, reason, exit)
	t.last, t.cur = t.cur.gen, life{}
	t.answer(doAnswer, t.cause)
	t.answer(doReplaced, t.cause)
}
