package supervise

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// afterCall is how long after its last call the transport may still kill an
// instance because of one: it lets the other calls of a condemned one end first.
const afterCall = 10 * time.Second

// generation is one start and what comes of it.
type generation struct {
	number    int
	ctx       context.Context // of its start and its probes
	cancel    context.CancelFunc
	inst      hook.Instance // once its start came out well
	retired   chan struct{} // closed when it is to go
	hurried   chan struct{} // closed when its calls are not waited for
	condemned atomic.Bool   // it is asked nothing any more

	// Of the supervisor's mu.
	lease    Lease         // all that are given
	busy     int           // leases out
	leases   int           // leases ever given
	released time.Time     // when the last was given back that was out, the zero time for none
	inCall   bool          // a lease saw its end
	idle     chan struct{} // closed when no lease is out, and none will be given
	idling   bool          // idle is wanted
}

// launch begins a generation.
func (s *Supervisor) launch(number int) {
	g := &generation{
		number:  number,
		retired: make(chan struct{}),
		hurried: make(chan struct{}),
		idle:    make(chan struct{}),
	}
	g.lease = Lease{s: s, g: g}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	s.live[number] = g
	s.helpers++
	go s.run(g) // until the instance is gone
}

// run is the life of one generation.
func (s *Supervisor) run(g *generation) {
	defer g.cancel() // a probe that goes on
	inst, err := s.start(g)
	if err != nil {
		s.send(message{event: event{what: launched, gen: g.number, err: err}, last: true})
		return
	}
	g.inst = inst
	s.send(message{event: event{what: launched, gen: g.number, pid: inst.Info().PID}})
	select {
	case <-inst.Done():
	case <-g.retired:
		s.end(g)
	}
	<-inst.Done() // Stop has returned, or it died
	s.send(message{event: event{what: died, gen: g.number, exit: inst.Exit()}, last: true})
}

// start launches an instance and makes the bootstrap calls. On error nothing of
// it is left.
func (s *Supervisor) start(g *generation) (hook.Instance, error) {
	inst, err := s.opts.Launcher.Launch(g.ctx)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		c, more := s.nextReplay(g, n)
		if !more {
			return inst, nil
		}
		if err := s.call(g.ctx, inst, c); err != nil {
			_ = inst.Stop(s.kill) // the first error is the one to tell
			<-inst.Done()
			return nil, err
		}
	}
}

// nextReplay is the call that comes after n others. When there is none, the
// generation makes no more.
func (s *Supervisor) nextReplay(g *generation, n int) (c hook.Call, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < len(s.replays) {
		return s.replays[n], true
	}
	s.sealed = max(s.sealed, g.number)
	return c, false
}

// call makes one bootstrap or shutdown call.
func (s *Supervisor) call(ctx context.Context, inst hook.Instance, c hook.Call) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	_, err := inst.Call(ctx, c)
	return err
}

// retire lets a generation go: after its calls, or at once. It may be called
// again, to hurry it. It is called by the loop alone.
func (g *generation) retire(drain bool) {
	if !drain {
		closeOnce(g.hurried)
	}
	closeOnce(g.retired)
}

// end stops an instance that is to go, and returns when it is gone.
func (s *Supervisor) end(g *generation) {
	s.mu.Lock()
	if g.idling = true; g.busy == 0 {
		close(g.idle)
	}
	s.mu.Unlock()
	limit := time.NewTimer(s.opts.Drain)
	defer limit.Stop()
	select {
	case <-g.idle:
	case <-g.hurried:
	case <-limit.C:
	case <-g.inst.Done():
	case <-s.kill.Done():
	}
	s.mu.Lock()
	room := g.busy < g.inst.Concurrency()
	s.mu.Unlock()
	var err error
	for _, c := range s.opts.Shutdown {
		if !room || err != nil || g.condemned.Load() || s.kill.Err() != nil || isClosed(g.inst.Done()) {
			break
		}
		err = s.call(s.kill, g.inst, c)
	}
	err = errors.Join(err, g.inst.Stop(s.kill))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		s.stopErr = errors.Join(s.stopErr, err)
	}
}

// diedInCall tells whether it was a call that the instance died of. The
// supervisor's mu is held. Not every call sees the end: when one ran out of time
// the transport kills the instance later, once the others are through; but not
// for a call when a probe had asked.
func (g *generation) diedInCall(exit hook.Exit, asked bool, now time.Time) bool {
	if g.busy > 0 || g.inCall {
		return true
	}
	return exit.Stopped && !asked && !g.released.IsZero() && now.Sub(g.released) <= afterCall
}

// startProbe probes, beside the loop.
func (s *Supervisor) startProbe(g *generation) {
	s.mu.Lock()
	s.probeCalls = g.leases
	s.mu.Unlock()
	s.helpers++
	go func() { // ends within ProbeTimeout, or with the instance
		ctx, cancel := context.WithTimeout(g.ctx, s.opts.ProbeTimeout)
		defer cancel()
		s.send(message{event: event{what: probed, gen: g.number, err: g.inst.Probe(ctx)}, last: true})
	}()
}

func closeOnce(c chan struct{}) {
	if !isClosed(c) {
		close(c)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
