package supervise

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Options say what a [Supervisor] keeps alive, and how. They are copied.
type Options struct {
	// Launcher starts the instances. It is not closed.
	Launcher hook.Launcher
	// Rules say when a plugin is started again.
	Rules Rules
	// Bootstrap calls are made in order after every start, before the instance
	// is ready. One that fails fails the start. Shutdown calls are made before
	// an instance is stopped that was ready, unless it was condemned or has no
	// room for a call beside those that run. Each has CallTimeout; 0: 2 min.
	Bootstrap, Shutdown []hook.Call
	CallTimeout         time.Duration
	// Probe is the time from one probe to the next, 0: 10 s, negative: none is
	// made. Each has ProbeTimeout; 0: 2 s.
	Probe, ProbeTimeout time.Duration
	// Drain is how long the calls of an instance that was replaced may go on;
	// 0: 2 min.
	Drain time.Duration
	// Deterministic tells whether a start that failed so will fail so again
	// until the plugin's files change; nil: [Deterministic].
	Deterministic func(error) bool
	// Alone tells of a start that failed only because another instance lives:
	// from then on the rules are [Rules].OneAtATime, and a replacement that
	// failed so is tried again by them. Nil: none does.
	Alone func(error) bool
	// Changed tells whether they did since the last start. It is asked when
	// somebody wants the slot after a start of it failed, never twice at a time, and must
	// return soon: Stop waits for it. Nil: only Reload tells.
	Changed func() bool
	// Events is told of every transition, in order, from one goroutine. The
	// slot stands still until it returns, so it must not wait, and may call
	// no method but State.
	Events func(hook.Event)
	// Rand gives the chance in the delays, from 0 up to 1, from one goroutine;
	// nil: [rand.Float64].
	Rand func() float64
}

// The defaults of [Options].
const (
	defaultCall         = 2 * time.Minute
	defaultProbe        = 10 * time.Second
	defaultProbeTimeout = 2 * time.Second
	defaultDrain        = 2 * time.Minute
)

// complete fills in the defaults.
func (o Options) complete() Options {
	o.Rules = o.Rules.complete()
	o.CallTimeout = or(o.CallTimeout, defaultCall)
	if o.Probe == 0 {
		o.Probe = defaultProbe
	}
	o.ProbeTimeout = or(o.ProbeTimeout, defaultProbeTimeout)
	o.Drain = or(o.Drain, defaultDrain)
	if o.Deterministic == nil {
		o.Deterministic = Deterministic
	}
	if o.Alone == nil {
		o.Alone = func(error) bool { return false }
	}
	if o.Events == nil {
		o.Events = func(hook.Event) {}
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return o
}

// Supervisor keeps one slot filled. It is safe for concurrent use. It is made by
// [New], and ended by [Supervisor.Stop].
type Supervisor struct {
	opts  Options
	inbox chan message
	ended chan struct{}      // closed when the loop is
	kill  context.Context    // over once somebody has no time for the stop ladder
	hurry context.CancelFunc // ends kill

	// The loop's own.
	machine    machine
	live       map[int]*generation
	helpers    int // goroutines that will send a message which says that it is their last
	replaced   []chan error
	backoff    *time.Timer
	probe      *time.Timer
	probeOf    *generation // whose probe is due
	probeCalls int         // how many leases it had given when the last probe began

	mu      sync.Mutex // protects following, and what generations say it does
	current *generation
	waiting map[chan error]struct{} // each has room for one answer
	replays []hook.Call
	sealed  int // the newest generation that makes no more of them
	status  Status
	// stopping tells that Stop was called: what goes wrong with an end is then
	// part of stopErr.
	stopping bool
	stopErr  error
}

// message is an event on its way to the loop.
type message struct {
	event
	last  bool       // its sender ends
	reply chan error // of a replace; has room for the answer
}

// New makes a supervisor and begins the first start. The caller stops it.
func New(opts Options) *Supervisor {
	s := &Supervisor{
		opts:    opts.complete(),
		inbox:   make(chan message),
		ended:   make(chan struct{}),
		live:    make(map[int]*generation),
		backoff: time.NewTimer(0),
		probe:   time.NewTimer(0),
		waiting: make(map[chan error]struct{}),
		replays: append([]hook.Call(nil), opts.Bootstrap...),
	}
	s.backoff.Stop()
	s.probe.Stop()
	s.kill, s.hurry = context.WithCancel(context.Background())
	s.machine = machine{rules: s.opts.Rules, asks: s.opts.Changed != nil}
	go s.loop() // until Stop
	return s
}

// loop is the one goroutine that acts. It ends when the end was asked for and
// nothing is left.
func (s *Supervisor) loop() {
	defer close(s.ended)
	s.take(message{event: event{what: begin}})
	for !s.machine.over() || s.helpers > 0 {
		select {
		case m := <-s.inbox:
			s.take(m)
		case <-s.backoff.C:
			s.take(message{event: event{what: delayOver}})
		case <-s.probe.C:
			s.take(message{event: event{what: probeDue, gen: s.probeOf.number}})
		}
	}
	s.backoff.Stop()
	s.probe.Stop()
	s.hurry()
}

// take lets the machine decide about one event, and does what it says.
func (s *Supervisor) take(m message) {
	if m.last {
		s.helpers--
	}
	if m.reply != nil {
		s.replaced = append(s.replaced, m.reply)
	}
	next, actions := step(s.machine, s.witness(m.event))
	s.machine = next
	if m.last && (m.what == died || m.what == launched) {
		delete(s.live, m.gen)
	}
	s.publish()
	for _, a := range actions {
		s.do(a)
	}
}

// witness adds to an event what is known here.
func (s *Supervisor) witness(ev event) event {
	ev.now, ev.roll = time.Now(), s.opts.Rand()
	g := s.live[ev.gen]
	if g == nil {
		return ev
	}
	if ev.what == launched && ev.err != nil {
		// Not under the lock: an option may ask another supervisor how it is.
		ev.fixed, ev.alone = s.opts.Deterministic(ev.err), s.opts.Alone(ev.err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch ev.what {
	case died:
		asked := s.machine.cur.gen == ev.gen && (s.machine.probing || s.machine.misses > 0)
		ev.called = g.diedInCall(ev.exit, asked, ev.now)
	case probeDue:
		ev.busy = g.busy > 0
	case probed:
		ev.busy = g.busy > 0 || g.leases != s.probeCalls
	}
	return ev
}

// publish lets others see the machine as it is now.
func (s *Supervisor) publish() {
	m := &s.machine
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = nil
	if m.state.Takes() {
		s.current = s.live[m.cur.gen]
	}
	s.status = Status{State: m.state, Generation: m.gen, Restarts: m.restarts, Failures: m.failures, LastExit: m.exit, Since: m.since, Cause: m.cause}
	if m.cur.gen != 0 {
		s.status.Generation, s.status.PID = m.cur.gen, m.cur.pid
	}
	if m.state == hook.StateBackoff {
		s.status.next = m.since.Add(m.delay)
	}
}

// do performs one action. It does not wait.
func (s *Supervisor) do(a action) {
	switch a.op {
	case doLaunch:
		s.launch(a.gen)
	case doCancel:
		s.live[a.gen].cancel()
	case doRetire:
		s.live[a.gen].retire(true)
	case doStop:
		s.live[a.gen].retire(false)
	case doCondemn:
		s.live[a.gen].condemned.Store(true)
		s.live[a.gen].retire(false)
	case doWait:
		s.backoff.Reset(a.delay)
	case doRest:
		s.backoff.Stop()
	case doWatch:
		if s.opts.Probe > 0 {
			s.probeOf = s.live[a.gen]
			s.probe.Reset(s.opts.Probe)
		}
	case doProbe:
		s.startProbe(s.live[a.gen])
	case doAsk:
		s.helpers++
		go func() { // ends when Changed has returned
			s.send(message{event: event{what: checked, changed: s.opts.Changed()}, last: true})
		}()
	case doAnswer:
		s.answer(a.err)
	case doReplaced:
		for _, reply := range s.replaced {
			reply <- a.err
		}
		s.replaced = nil
	case doTell:
		s.opts.Events(a.tell)
	}
}

// send hands the loop a message, unless it has ended.
func (s *Supervisor) send(m message) {
	select {
	case s.inbox <- m:
	case <-s.ended:
	}
}

// answer lets all who wait look again, or tells them that there is nothing to
// wait for.
func (s *Supervisor) answer(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.waiting {
		w <- err
	}
	clear(s.waiting)
}

// Replay adds a call to those that are made after every start, in order, before
// the instance is ready. It does not make the call: instances up to the
// generation it returns, 0 for none, are ready without having made it, and all
// later ones make it.
func (s *Supervisor) Replay(c hook.Call) (generation int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replays = append(s.replays, c)
	return s.sealed
}

// Reload says that the plugin's files changed: a slot that has failed, or waits
// for its next start, is filled at once. A plugin that runs goes on: see
// [Supervisor.Replace].
func (s *Supervisor) Reload() { s.send(message{event: event{what: reload}}) }

// Replace puts a new instance into the slot, for a reason that events tell, and
// returns when it is ready. It is ready before the old one goes, unless
// [Rules].OneAtATime, and calls that run on the old one may go on for
// [Options].Drain. When the new one does not start, the old one stays, and the
// error is that of the start. Ending ctx ends the waiting only, with an error of
// kind Timeout or Canceled; that of a slot that is stopped is of kind
// Unavailable.
func (s *Supervisor) Replace(ctx context.Context, reason string) error {
	if reason == "" {
		reason = "a new instance was asked for"
	}
	began, reply := time.Now(), make(chan error, 1)
	s.send(message{event: event{what: replace, reason: reason}, reply: reply})
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the new instance was not ready", began, false)
	case <-s.ended:
		return errStopped
	}
}

// Stop ends the slot, from every state, and returns when nothing of it is left.
// Calls that run are not waited for. Ending ctx skips to the kill. It may be
// called more than once and at the same time. The error is that of a shutdown
// call, or of an instance that had to be killed.
func (s *Supervisor) Stop(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.hurry)()
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	s.send(message{event: event{what: stop}})
	<-s.ended // the launcher and the stop ladder bound it
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopErr
}

// Status says how a slot is. The zero Status is that of one which has not begun.
type Status struct {
	State      hook.State
	Generation int // counts the starts
	PID        int // 0 when none is ready
	// Restarts counts the starts after a failed start and after an end that
	// nobody asked for, Failures those in a row that count.
	Restarts, Failures int
	// LastExit is how the last process ended, nil when none did.
	LastExit *hook.Exit
	// NextStart is how long it is until the next start, 0 unless State is backoff.
	NextStart time.Duration
	// Since is when the state was entered.
	Since time.Time
	// Cause is what failed last, nil when nothing did since it was ready.
	Cause error

	next time.Time
}

// State tells how the slot is now.
func (s *Supervisor) State() Status {
	s.mu.Lock()
	status := s.status
	s.mu.Unlock()
	if !status.next.IsZero() {
		status.NextStart, status.next = max(0, time.Until(status.next)), time.Time{}
	}
	return status
}

// tooLong tells a caller whose ctx is over why there was no instance.
func (s *Supervisor) tooLong(ctx context.Context, began time.Time) error {
	e := hook.Ended(ctx, "", "the plugin was not ready", began, false)
	s.mu.Lock()
	defer s.mu.Unlock()
	if cause := s.status.Cause; cause != nil && !errors.Is(cause, errStopped) {
		e.Err = fmt.Errorf("%w: the last failure: %w", e.Err, cause)
	}
	return e
}
