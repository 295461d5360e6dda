package pyworker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

// forkTries is the number of times that a launch tries to fork a worker. After that, all workers
// are started by exec. If the zygote has died, the next try starts a new one.
const forkTries = 2

// preload manages the zygote of a launcher: a process that has imported the plugin, and
// from which workers are forked.
type preload struct {
	turn   chan struct{} // a lock: holds the token of the goroutine that may start, fork or stop the zygote
	zygote *instance     // nil if there is none; protected by the turn

	byExec atomic.Bool // workers are started by exec, until Renew
	stale  atomic.Bool // the zygote must not be used any more
	noted  sync.Once
}

// acquire waits for the turn.
func (p *preload) acquire(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *preload) release() { <-p.turn }

// Close stops the zygote, if there is one. Workers continue, and the next launch starts a
// new zygote. Close waits for a launch in progress. If ctx is done first, it returns an
// error.
func (l *Launcher) Close(ctx context.Context) error {
	if err := l.preload.acquire(ctx); err != nil {
		return err
	}
	defer l.preload.release()
	l.stopZygote()
	return nil
}

// Renew makes the next launch import the plugin again, and check again whether workers can
// be forked. Workers continue.
func (l *Launcher) Renew() {
	l.preload.stale.Store(true)
	l.preload.byExec.Store(false)
}

// useExec makes all further launches start a Python of their own. It reports the reason once.
func (l *Launcher) useExec(why string) {
	l.preload.byExec.Store(true)
	l.preload.noted.Do(func() {
		l.cfg.Note("preload is off, each worker imports the plugin itself: " + why)
	})
}

// launchPreloaded forks a worker from the zygote. If there is no zygote, it starts one.
// If the process that imported the plugin cannot be a zygote, that process becomes the
// worker.
func (l *Launcher) launchPreloaded(ctx context.Context) (*instance, *hook.Error) {
	why := "forked workers exit before they are ready"
	for range forkTries {
		inst, failed := l.fork(ctx)
		switch {
		case failed != nil && errors.Is(failed, proc.ErrNoFork):
			why = proc.ErrNoFork.Error()
			continue
		case failed != nil || inst.ready > 0:
			return inst, failed
		}
		if failed = inst.start(ctx); failed == nil {
			return inst, nil
		} else if failed.Exit == nil || inst.about.Python != "" {
			return nil, failed
		}
		// The worker exited before hello. Perhaps the zygote was killed while it forked.
	}
	l.useExec(why)
	return l.startPython(ctx, "")
}

// fork forks a worker. The caller must start it. If the process that imported the plugin cannot
// be forked, fork returns that process as a worker that is already ready. If the zygote is gone,
// the error is [proc.ErrNoFork], and another try may succeed.
func (l *Launcher) fork(ctx context.Context) (*instance, *hook.Error) {
	p := &l.preload
	if err := p.acquire(ctx); err != nil {
		return nil, &hook.Error{Kind: hook.Canceled, Err: err}
	}
	defer p.release()
	if p.stale.Swap(false) {
		l.stopZygote()
	}
	if p.zygote == nil {
		z, failed := l.startPython(ctx, l.cfg.Preload)
		switch {
		case failed != nil:
			return nil, failed
		case !z.about.Zygote:
			l.useExec(z.about.Exec)
			return z, nil
		}
		p.zygote = z
	}
	began, pid := time.Now(), p.zygote.proc.PID()
	child, err := p.zygote.proc.Fork(l.spec())
	if err == nil {
		l.cfg.Debug("proc", fmt.Sprintf("forked pid %d from %d after %s", child.PID(), pid, time.Since(began)))
		return newInstance(l, child, began), nil
	}
	if errors.Is(err, proc.ErrNoFork) {
		l.cfg.Debug("proc", fmt.Sprintf("zygote %d: %s", pid, err))
		l.stopZygote()
	}
	return nil, &hook.Error{Kind: hook.Start, Err: fmt.Errorf("cannot fork a worker: %w", err)}
}

// stopZygote stops the zygote, if there is one. The workers continue. The caller has the turn.
func (l *Launcher) stopZygote() {
	if z := l.preload.zygote; z != nil {
		l.preload.zygote = nil
		z.kill()
	}
}
