package pool

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Pool is a plugin that runs in one to many workers. It is safe for concurrent use. It
// belongs to the caller of [Start], who closes it.
type Pool struct {
	launcher hook.Launcher
	opt      Options
	ctx      context.Context // ended by Close, when calls have drained
	cancel   context.CancelFunc
	kill     context.Context // ended when there is no time for the stop ladder
	killNow  context.CancelFunc
	running  sync.WaitGroup // worker goroutines and what they start
	failed   chan struct{}  // closed when all workers were given up
	spare    sync.Pool      // waiters to be used again

	replaying chan struct{} // has a token while a replay is made, so that all workers see one order
	notifying sync.Mutex    // held while events are delivered

	mu          sync.Mutex // protects what follows, and the fields of workers and instances that say so
	workers     []*worker
	queue       queue
	active      int // calls that were let in and have not left
	stats       stats
	oneAtATime  bool // no two instances can live at once
	draining    bool
	drained     chan struct{} // closed when draining and no call is active
	replays     []hook.Call
	description description
	lastExit    *hook.Exit
	startError  startError
	events      []hook.Event // not yet delivered
	subscribers map[chan hook.Event]struct{}
	ended       bool  // no more events come
	stopErr     error // what went wrong while stopping
}

var _ hook.Plugin = (*Pool)(nil)

// Start starts the plugin and keeps it alive as the options say. It returns when the
// first worker is ready. If the first start fails, it is not retried, the error is
// that of the start, and nothing is left. Ending ctx ends that start; the pool does
// not depend on it.
func Start(ctx context.Context, launcher hook.Launcher, opt Options) (*Pool, error) {
	p := &Pool{
		launcher: launcher, opt: opt.withDefaults(), failed: make(chan struct{}), drained: make(chan struct{}),
		subscribers: map[chan hook.Event]struct{}{}, replaying: make(chan struct{}, 1),
	}
	p.replays = append(p.replays, opt.Bootstrap...)
	p.spare.New = func() any { return &waiter{granted: make(chan struct{}, 1)} }
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.kill, p.killNow = context.WithCancel(context.Background())
	if err := p.startWorkers(ctx); err != nil {
		_ = p.Close(context.WithoutCancel(ctx)) // the first error is the one to report
		return nil, err
	}
	return p, nil
}

// startWorkers starts the first worker, waits for it, and begins the others. Whether
// there can be more than one shows, where that is in question, when the second starts.
func (p *Pool) startWorkers(ctx context.Context) error {
	for n := 1; n <= p.opt.Workers; n++ {
		w := p.addWorker()
		if n > 1 && (n > 2 || p.opt.Alone == nil) {
			p.running.Go(func() { w.run(w.await(w.begin("first start", nil))) })
			continue
		}
		s := w.startFirst(ctx)
		why := ""
		if s.err != nil && n > 1 {
			why = p.alone(s.err)
		}
		switch {
		case ctx.Err() != nil || s.err != nil && n == 1:
			w.abandon(s)
			return canceledOr(ctx, s.err)
		case why != "":
			p.mu.Lock()
			p.workers, p.opt.Workers, p.oneAtATime = p.workers[:1], 1, true
			p.mu.Unlock()
			p.opt.Note("it has one worker, since " + why)
			return nil
		}
		p.running.Go(func() { w.run(s) })
		if s.err == nil {
			<-w.ready
		}
	}
	return nil
}

func (p *Pool) addWorker() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &worker{pool: p, number: len(p.workers) + 1, wake: make(chan struct{}, 1), ready: make(chan struct{})}
	p.workers = append(p.workers, w)
	return w
}

// canceledOr returns err unless ctx ended: then an error of kind Canceled.
func canceledOr(ctx context.Context, err error) error {
	if e := (*hook.Error)(nil); ctx.Err() == nil || errors.As(err, &e) && e.Kind == hook.Canceled {
		return err
	}
	return &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
}

// Call calls a hook in the worker that has the most room, after waiting for a place.
// The time limit is ctx's, waiting included. The errors are those of the instance,
// that of a start if no worker starts, and those of kind Unavailable with the reasons
// "queue-full", "queue-timeout", "stopping" and "gave-up".
//
// A call that never began because its instance had just exited goes to another one,
// unless it has an Input, of which some may be read.
func (p *Pool) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	if c.Replay {
		return p.replay(ctx, c)
	}
	var waited time.Time
	for retry, left := false, p.opt.Concurrency; ; left-- {
		g, herr := p.acquire(ctx, c.Hook, retry, &waited)
		if herr != nil {
			p.countRejected()
			return hook.Result{}, herr
		}
		var r hook.Result
		var err error
		if r, retry, err = p.callIn(ctx, g, c, left > 0 && c.Input == nil); err == nil {
			return r, nil
		}
		if !retry {
			return r, wholeLimit(ctx, err, waited)
		}
	}
}

// callIn makes a call in an instance with a place taken, and releases the place. A
// call that is retried does not leave the pool.
func (p *Pool) callIn(ctx context.Context, g *instance, c hook.Call, mayRetry bool) (r hook.Result, retry bool, err error) {
	o := panicked
	defer func() { p.finish(g, o, retry) }()
	r, err = g.Call(ctx, c)
	o = outcomeOf(err)
	retry = o.retry && mayRetry
	return r, retry, err
}

// wholeLimit makes the limit that a timeout names that of the whole call, waiting
// included: the instance knows only what was left of it.
func wholeLimit(ctx context.Context, err error, waited time.Time) error {
	e, ok := err.(*hook.Error)
	if waited.IsZero() || !ok || e.Kind != hook.Timeout {
		return err
	}
	limit, ok := e.Err.(*hook.LimitError)
	if _, bounded := ctx.Deadline(); !ok || !bounded {
		return err
	}
	own := *e
	own.Err = hook.Ended(ctx, e.Hook, limit.What, waited, e.Begun).Err
	return &own
}

// Restart replaces the workers one after the other, each ready before the old one
// stops. A worker that was given up is started again. If one does not start, it and
// those after it stay as they are, and the error is that of the start. Ending ctx ends
// the waiting only.
func (p *Pool) Restart(ctx context.Context, reason string) error {
	if reason == "" {
		reason = "a restart was requested"
	}
	if r, ok := p.launcher.(interface{ Renew() }); ok {
		r.Renew()
	}
	p.mu.Lock()
	workers := p.workers
	p.mu.Unlock()
	for _, w := range workers {
		if err := w.replace(ctx, reason); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.description = description{} // new workers may differ by more than the plugin's files
	return nil
}

// Failed is closed when no worker runs and none restarts by itself. A restart, or a
// call after the plugin's files changed, may still revive the plugin.
func (p *Pool) Failed() <-chan struct{} { return p.failed }

// Drain rejects new calls, for good, and returns when those that run or wait have
// ended. The error, of kind Timeout or Canceled, says that ctx ended first.
func (p *Pool) Drain(ctx context.Context) error {
	began := time.Now()
	p.mu.Lock()
	p.draining = true
	p.checkDrained()
	p.mu.Unlock()
	select {
	case <-p.drained:
		return nil
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the calls did not end", began, false)
	}
}

// checkDrained closes drained when no call is left. p.mu is held.
func (p *Pool) checkDrained() {
	if p.draining && p.active == 0 {
		closeOnce(p.drained)
	}
}

// Close drains, for [Options].Drain at most and unless Drain was called before, makes
// the shutdown calls, stops all workers and returns when nothing of them is left. Ending ctx kills them. The errors
// are those of shutdown calls and of instances that had to be killed. It may be called
// more than once and at the same time.
func (p *Pool) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, p.killNow)()
	p.mu.Lock()
	draining := p.draining
	p.mu.Unlock()
	if !draining {
		limited, cancel := context.WithTimeout(ctx, p.opt.Drain)
		_ = p.Drain(limited) // the calls that go on end as their instance does
		cancel()
	}
	p.mu.Lock()
	p.cancel()
	for p.queue.len > 0 {
		w := p.queue.pop()
		w.grant(nil, stoppingError(w.hook))
	}
	p.mu.Unlock()
	p.running.Wait() // the stop ladder bounds it
	p.killNow()
	p.mu.Lock()
	for events := range p.subscribers {
		close(events)
	}
	clear(p.subscribers)
	p.ended = true
	err := p.stopErr
	p.mu.Unlock()
	return errors.Join(err, p.launcher.Close(context.WithoutCancel(ctx))) // no start is under way: it does not wait
}

func (p *Pool) isClosed() bool { return p.ctx.Err() != nil }

// alone returns why a start failed if the only reason is that another instance lives.
func (p *Pool) alone(err error) string {
	if p.opt.Alone == nil {
		return ""
	}
	return p.opt.Alone(err)
}

// isClosed reports whether a channel is closed on which nothing is sent.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closeOnce closes a channel that only one goroutine at a time closes.
func closeOnce(c chan struct{}) {
	if !isClosed(c) {
		close(c)
	}
}
