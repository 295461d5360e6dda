package pool

import (
	"container/list"
	"context"
	"errors"
	"slices"
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
	running  sync.WaitGroup // worker goroutines and the goroutines that they start
	failed   chan struct{}  // closed when no worker runs and none restarts by itself

	closeLauncher func() error // closes the launcher once

	replaying chan struct{} // holds a token during a replay, so that all workers get replays in the same order

	mu          sync.Mutex // protects the following fields, and fields of workers and instances that say so
	workers     []*worker
	queue       list.List            // of [*waiter], the longest waiting first
	active      int                  // calls that entered and have not left
	turns       list.List            // of [*turn], the running calls
	calls       uint64               // calls that have ended
	failures    map[hook.Kind]uint64 // calls that failed
	restarts    map[string]int       // restarts by cause
	last        lastEnds             // the last restart and the last replacement
	replaced    map[string]int       // replacements by limit
	mayCollide  bool                 // perhaps two instances cannot live at once
	oneAtATime  bool                 // two instances cannot live at once
	draining    bool
	closeDrain  time.Duration // how long calls may continue after Close is called
	drained     chan struct{} // closed when draining and no call is active
	replays     []hook.Call
	description description
	lastExit    *hook.Exit
	subscribers map[chan hook.Event]struct{} // nil after the last event
	stopErr     error                        // the errors of stopping
}

var _ hook.Plugin = (*Pool)(nil)

// Start starts the plugin and keeps it alive as the options say. It returns when the
// first worker is ready. If the first start fails, Start stops everything and returns the
// error without retrying. Canceling ctx cancels that start. Once Start has returned, ctx has no
// effect on the pool.
func Start(ctx context.Context, launcher hook.Launcher, opt Options) (*Pool, error) {
	p := &Pool{
		launcher: launcher, opt: opt.withDefaults(), failed: make(chan struct{}), drained: make(chan struct{}),
		closeDrain: closeDrain, subscribers: map[chan hook.Event]struct{}{}, replaying: make(chan struct{}, 1),
		failures: map[hook.Kind]uint64{}, restarts: map[string]int{}, replaced: map[string]int{},
	}
	p.closeLauncher = sync.OnceValue(func() error { return launcher.Close(context.Background()) })
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.kill, p.killNow = context.WithCancel(context.Background())
	if err := p.startWorkers(ctx); err != nil {
		_ = p.Close(context.WithoutCancel(ctx)) // the first error is the one to report
		return nil, err
	}
	return p, nil
}

// startWorkers starts the first worker, waits for it, and begins to start the others. If two
// instances may be unable to live at once, it waits for the second worker, too.
func (p *Pool) startWorkers(ctx context.Context) error {
	for before := range p.opt.Workers { // range reads Workers only once; it changes when a worker leaves the pool
		n, first := before+1, make(chan error, 1)
		w := &worker{pool: p, number: n, changed: sync.Cond{L: &p.mu}, replies: []chan error{first}}
		p.mu.Lock()
		p.workers = append(p.workers, w)
		w.begin("first start", nil)
		cancel, await := w.starting.cancel, n == 1 || n == 2 && p.mayCollide
		p.mu.Unlock()
		p.running.Go(w.run)
		if !await {
			continue
		}
		canceled := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		err := <-first
		canceled()
		switch {
		case err != nil && (n == 1 || ctx.Err() != nil):
			return err
		case ctx.Err() != nil:
			return &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
		case alone(err):
			p.opt.Note("only one worker is used: " + err.Error())
			return nil
		}
	}
	return nil
}

// Call waits for a place and calls a hook in the worker with the fewest calls. The
// deadline of ctx includes the wait. Call returns the errors of the instance, the error of
// the start if no worker starts, and errors of kind Unavailable with the reasons
// "queue-full", "stopping" and "gave-up".
//
// If a call never began because its instance had just exited, Call sends it to another
// instance, unless it has an Input, part of which may have been read.
func (p *Pool) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	if c.Replay {
		return p.replay(ctx, c)
	}
	for retry, left := false, p.opt.Concurrency; ; left-- {
		i, herr := p.acquire(ctx, c.Hook, retry)
		if herr != nil {
			return hook.Result{}, herr
		}
		var r hook.Result
		var err error
		if r, retry, err = p.callIn(ctx, i, c, left > 0 && c.Input == nil); !retry {
			return r, err
		}
	}
}

// callIn makes a call in an instance in which it has a place, and releases the place. If retry is
// true, the call stays active.
func (p *Pool) callIn(ctx context.Context, i *instance, c hook.Call, mayRetry bool) (r hook.Result, retry bool, err error) {
	p.mu.Lock()
	t := p.begin(i, c.Hook)
	p.mu.Unlock()
	o := panicked
	defer func() { p.finish(t, o, retry) }()
	if p.opt.Call == nil {
		r, err = i.Instance.Call(ctx, c)
	} else {
		r, err = p.opt.Call(ctx, i.Instance, c)
	}
	o = outcomeOf(err)
	retry = o.retry && mayRetry
	return r, retry, err
}

// CallSeries makes calls in one worker, which receives them together and makes them one
// after the other. It makes no call if no worker is free, if the instance does not support
// series, or if [Options].Call is set.
func (p *Pool) CallSeries(ctx context.Context, s *hook.Series) {
	p.mu.Lock()
	var i *instance
	if p.takesSeries(ctx) {
		i = p.take()
	}
	if i == nil {
		p.mu.Unlock()
		return
	}
	p.active++
	t := p.begin(i, s.Calls[0].Hook)
	p.mu.Unlock()
	o := panicked
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.end(t, o)
		p.leave()
		p.release(i, o)
	}()
	last := outcome{}
	own := *s
	own.Answered = func(r hook.Result, err *hook.Error) {
		last = outcome{}
		if err != nil {
			last = outcomeOf(err)
		}
		p.mu.Lock()
		p.count(i, last)
		if t.since = time.Now(); len(s.Calls) > 1 {
			t.hook = s.Calls[1].Hook
		}
		p.mu.Unlock()
		s.Answer(r, err)
	}
	own.More = func(n int) []hook.Call { return p.extend(ctx, i, s, n) }
	own.HandedBack = s.HandBack
	own.Wanted = func(slow bool) bool { return p.wanted(slow) || s.Wanted != nil && s.Wanted(slow) }
	i.Instance.CallSeries(ctx, &own)
	o = last
}

// extend adds up to n calls to a series that runs in an instance, and returns them.
func (p *Pool) extend(ctx context.Context, i *instance, s *hook.Series, n int) []hook.Call {
	before := len(s.Calls)
	p.mu.Lock()
	goesOn := p.takesSeries(ctx) && i.worker.serving == i && !i.lost
	p.mu.Unlock()
	if goesOn {
		s.Extend(n)
	}
	return s.Calls[before:]
}

// wanted reports whether a series should hand its calls back. It should if another caller waits, or
// if one of its calls is slow and another worker is free.
func (p *Pool) wanted(slow bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isFree := func(w *worker) bool { return w.serving != nil && w.serving.free() }
	return p.queue.Len() > 0 || slow && slices.ContainsFunc(p.workers, isFree)
}

// takesSeries reports whether a series may begin or continue. It may not while a call waits in the
// queue. p.mu is held.
func (p *Pool) takesSeries(ctx context.Context) bool {
	return ctx.Err() == nil && !p.draining && p.queue.Len() == 0 && p.opt.Call == nil
}

// Restart reads the plugin's files again and replaces the workers, see [Pool.Replace].
func (p *Pool) Restart(ctx context.Context, reason string) error {
	if reason == "" {
		reason = "a restart was requested"
	}
	p.launcher.Renew()
	if err := p.Replace(ctx, reason); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.description = description{} // the hooks may differ even if the plugin's files have not changed
	return nil
}

// Replace replaces the instances of the workers one after the other. Each new instance is ready
// before the old one stops. When Replace returns nil, new instances serve all further calls. A
// failed worker is started again. If an instance does not start, Replace returns its error and
// leaves its worker and those after it as they are. If ctx is canceled, Replace returns, but the
// replacement in progress continues.
func (p *Pool) Replace(ctx context.Context, reason string) error {
	p.mu.Lock()
	workers := p.workers
	p.mu.Unlock()
	for _, w := range workers {
		if err := w.replace(ctx, reason); err != nil {
			return err
		}
	}
	return nil
}

// Failed is closed when no worker runs and none restarts by itself. A restart, or a
// call after the plugin's files changed, may still revive the plugin.
func (p *Pool) Failed() <-chan struct{} { return p.failed }

// closeDrain is the time that running and waiting calls get to finish when the pool is closed.
const closeDrain = 5 * time.Second

// LimitClose sets how long running and waiting calls may take after Close is called. The default is
// 5 s.
func (p *Pool) LimitClose(calls time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeDrain = calls
}

// Close rejects new calls. Running and waiting calls get at most 5 s to finish. Then Close makes
// the shutdown calls, stops all workers and returns when all their processes are gone. Canceling
// ctx kills the workers. Close returns the errors of shutdown calls and of instances that had to be
// killed. It may be called more than once, also concurrently.
func (p *Pool) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, p.killNow)()
	p.mu.Lock()
	p.draining = true
	most := p.closeDrain
	p.checkDrained()
	p.mu.Unlock()
	select {
	case <-p.drained:
	case <-time.After(most): // calls that still run end with their instance
	case <-p.ctx.Done():
	case <-ctx.Done():
	}
	p.mu.Lock()
	p.cancel()
	p.failQueue(stoppingError(""))
	for _, w := range p.workers {
		w.changed.Signal()
	}
	p.mu.Unlock()
	p.running.Wait() // the stop ladder bounds the wait
	p.killNow()
	p.mu.Lock()
	for events := range p.subscribers {
		close(events)
	}
	p.subscribers = nil
	err := p.stopErr
	p.mu.Unlock()
	return errors.Join(err, p.closeLauncher()) // does not block, because no start is in progress
}

// checkDrained closes drained when no call is left. p.mu is held.
func (p *Pool) checkDrained() {
	if p.draining && p.active == 0 {
		closeOnce(p.drained)
	}
}

func (p *Pool) isClosed() bool { return p.ctx.Err() != nil }

// unlocked releases mu while it calls do, which may take long.
func (p *Pool) unlocked(do func()) {
	p.mu.Unlock()
	defer p.mu.Lock()
	do()
}

// alone reports whether a start failed only because another instance lives. After that, the pool
// has one worker, and the old instance stops before the next one starts.
func alone(err error) bool { return err != nil && hook.AsError(err).Alone }

// closeOnce closes a channel unless it is closed. Only one goroutine at a time may call it for a
// channel.
func closeOnce(c chan struct{}) {
	if !hook.IsClosed(c) {
		close(c)
	}
}
