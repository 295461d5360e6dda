package pool

import (
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// launchNext makes the replays that an instance has not made, in the background. It first launches
// the instance, unless the instance already runs. p.mu is held.
func (p *Pool) launchNext(i *instance) {
	before := p.replays[i.replayed:]
	i.started, i.replayed = false, len(p.replays)
	p.running.Go(func() { // ends with the start
		err := p.launch(i, before)
		p.mu.Lock()
		defer p.mu.Unlock()
		i.started, i.failed = true, err
		i.worker.changed.Signal()
	})
}

// launch launches and prepares the instance, unless it already runs, and makes the replayed calls
// that before lists. If a step after the Launch of the launcher fails, launch stops the instance.
func (p *Pool) launch(i *instance, before []hook.Call) (err error) {
	if i.Instance == nil {
		i.version = p.opt.Version()
		if i.Instance, err = p.launcher.Launch(i.ctx); err != nil {
			return err
		}
		err = p.opt.Bootstrap(i.ctx, i.Instance)
	}
	for _, c := range before {
		if err == nil {
			err = p.makeReplay(i.ctx, i, c)
		}
	}
	if err == nil && i.generation == 1 && i.worker.number == 1 && p.opt.Await != nil {
		err = p.opt.Await(i.ctx, i.Instance)
	}
	if err != nil {
		_ = i.Stop(p.kill) // the first error is the one to report
		<-i.Done()
	}
	return err
}

// stop makes the shutdown calls, stops an instance and returns after its exit. p.mu is held, but
// released meanwhile.
func (p *Pool) stop(i *instance) *hook.Exit {
	takesCalls := i.running < i.Concurrency() && !i.hangs()
	var err error
	p.unlocked(func() {
		if takesCalls {
			err = p.opt.Shutdown(p.kill, i.Instance)
		}
		err = errors.Join(err, i.Stop(p.kill))
		<-i.Done() // the instance was stopped, or exited by itself
	})
	if p.isClosed() {
		p.stopErr = errors.Join(p.stopErr, err)
	}
	exit := i.Exit()
	return &exit
}

// drain waits until no call runs in an instance, the instance exits, or the time for draining is
// over. p.mu is held, but released meanwhile.
func (p *Pool) drain(i *instance) { p.awaitIdle(i, p.opt.Drain, i.Done()) }

// awaitIdle waits until no call runs in an instance. It stops waiting after maxWait, or when the
// channel over or the pool is closed. p.mu is held, but released meanwhile.
func (p *Pool) awaitIdle(i *instance, maxWait time.Duration, over <-chan struct{}) {
	if i.running == 0 {
		return
	}
	idle := make(chan struct{})
	i.idle = idle
	p.unlocked(func() {
		select {
		case <-idle:
		case <-time.After(maxWait):
		case <-over:
		case <-p.ctx.Done():
		}
	})
}

// retire drains and stops an instance that was replaced, in the background. p.mu is held.
func (w *worker) retire(old *instance) {
	w.retiring++
	p := w.pool
	p.running.Go(func() { // bounded by the limit on draining and the stop ladder
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drain(old)
		exit := p.stop(old)
		p.event(w, hook.StateStopping, hook.StateStopped, old, "replaced", exit, 0)
		w.retiring--
		w.changed.Signal()
	})
}

// close stops all instances of the worker. p.mu is held.
func (w *worker) close() {
	p := w.pool
	if w.starting != nil {
		w.starting.cancel(stoppingError(""))
	}
	var exit *hook.Exit
	if i := w.serving; i != nil {
		w.serving = nil
		w.enter(hook.StateStopping, i, stopRequested, nil, 0)
		exit = p.stop(i)
	}
	for w.retiring > 0 || w.starting != nil && !w.starting.started {
		w.changed.Wait()
	}
	if i := w.starting; i != nil && i.failed == nil {
		p.stop(i)
	}
	w.starting, w.cause = nil, stoppingError("")
	w.reply(w.cause)
	reason := stopRequested
	if w.generation == 1 && w.startError != "" {
		reason = startFailed
	}
	if w.state != hook.StateStopped {
		w.enter(hook.StateStopped, w.last, reason, exit, 0)
	}
}
