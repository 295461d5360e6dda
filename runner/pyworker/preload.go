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

// forkTries is how often a fork is tried before a worker is started by exec: when
// the zygote dies, or has imported what is old, the next try makes a new one.
const forkTries = 2

// nursery is what a launcher keeps between launches: the zygote, a process that
// has imported the plugin, and from which workers are forked. The zero value, with
// turn made, has none yet.
type nursery struct {
	turn   chan struct{} // holds a token, for whoever starts or asks the zygote
	zygote *instance     // nil without one; the token's holder's
	forked bool          // a worker was forked from it; the same
	byExec atomic.Bool   // workers are not forked, for good
	old    atomic.Bool   // what the zygote imported is not to be used again
	noted  sync.Once

	mu   sync.Mutex         // protects following
	life context.Context    // of zygotes that nobody waits for; until the next Close
	end  context.CancelFunc // ends it
}

// live ends the life before and begins a new one.
func (n *nursery) live() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.end != nil {
		n.end()
	}
	n.life, n.end = context.WithCancel(context.Background())
}

// Renew makes the next launch import the plugin anew, whatever has changed: a
// change of the plugin's own modules is seen without it. Whether workers can be
// forked is found out once more. Workers that live are not touched.
func (l *Launcher) Renew() {
	l.nursery.old.Store(true)
	l.nursery.byExec.Store(false)
}

// exec makes all launches start a Python of their own, and tells why, once.
func (l *Launcher) exec(why string) {
	l.nursery.byExec.Store(true)
	l.nursery.noted.Do(func() {
		l.cfg.Note("preload is off, each worker imports the plugin itself: " + why)
	})
}

// preloaded launches a worker from the zygote, which it starts if there is none. A
// process that has imported the plugin and cannot be one is the worker itself.
func (l *Launcher) preloaded(ctx context.Context) (*instance, *hook.Error) {
	for range forkTries {
		select {
		case <-l.nursery.turn:
		case <-ctx.Done():
			return nil, &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
		}
		w, forked, err := l.next(ctx)
		l.nursery.turn <- struct{}{}
		if err != nil || forked.IsZero() {
			return w, err
		}
		if _, err = w.start(ctx, forked, ""); err == nil {
			return w, nil
		}
		if err.Kind != hook.Interpreter {
			return nil, err
		}
		// It ended before it said hello: the zygote may have been killed as it forked.
	}
	l.exec("a worker that is forked ends before it has begun")
	w, _, err := l.startPython(ctx, "")
	return w, err
}

// next is the next worker. The caller has the turn. One that was forked has still
// to be started, and the time is then that of the fork.
func (l *Launcher) next(ctx context.Context) (w *instance, forked time.Time, err *hook.Error) {
	if l.nursery.byExec.Load() { // since we wait for the turn
		w, _, err = l.startPython(ctx, "")
		return w, time.Time{}, err
	}
	if l.nursery.old.Swap(false) {
		l.retire()
	}
	for range forkTries {
		z := l.nursery.zygote
		if z == nil {
			var told loaded
			if z, told, err = l.startPython(ctx, l.cfg.Preload); err != nil {
				return nil, time.Time{}, err
			}
			if !told.Zygote {
				l.exec(told.Exec)
				return z, time.Time{}, nil
			}
			l.have(z)
		}
		began := time.Now()
		p, err := z.proc.Fork(l.spec(""))
		if err == nil {
			l.nursery.forked = true
			l.cfg.Debug("proc", fmt.Sprintf("forked pid %d from %d after %s", p.PID(), z.proc.PID(), time.Since(began)))
			return newInstance(l.cfg, p), began, nil
		}
		refused := (*proc.RefusedError)(nil)
		if !errors.Is(err, proc.ErrNoFork) && !errors.As(err, &refused) {
			return nil, time.Time{}, &hook.Error{Kind: hook.Start, Err: fmt.Errorf("cannot fork a worker: %w", err)}
		}
		l.cfg.Debug("proc", fmt.Sprintf("zygote %d: %s", z.proc.PID(), err))
		l.retire()
	}
	w, _, err = l.startPython(ctx, "")
	return w, time.Time{}, err
}

// have makes z the zygote. The caller has the turn.
func (l *Launcher) have(z *instance) {
	n := &l.nursery
	n.zygote, n.forked = z, false
	n.mu.Lock()
	defer n.mu.Unlock()
	go l.succeed(n.life, z) // until z is gone, and its successor there
}

// succeed makes a new zygote when z has died by itself, so that the next launch need
// not wait for an import. One of which nobody has had a worker is not succeeded: else
// an import that kills what it leaves would be made again and again.
func (l *Launcher) succeed(ctx context.Context, z *instance) {
	<-z.proc.Done()
	n := &l.nursery
	select {
	case <-n.turn:
	case <-ctx.Done():
		return
	}
	defer func() { n.turn <- struct{}{} }()
	if n.zygote != z {
		return
	}
	wanted := n.forked && !z.proc.Exit().Stopped && ctx.Err() == nil
	l.cfg.Debug("proc", fmt.Sprintf("zygote %d ended: code %d %s", z.proc.PID(), z.proc.Exit().Code, z.proc.Exit().Signal))
	l.retire()
	if !wanted {
		return
	}
	next, told, err := l.startPython(ctx, l.cfg.Preload)
	switch {
	case err != nil: // the next launch tells
	case told.Zygote:
		l.have(next)
	default:
		l.exec(told.Exec)
		next.end()
	}
}

// retire ends the zygote, if there is one. The caller has the turn. The workers
// live on.
func (l *Launcher) retire() {
	z := l.nursery.zygote
	if z == nil {
		return
	}
	l.nursery.zygote = nil
	z.end()
}

// end ends an instance of which nobody needs anything, at once.
func (w *instance) end() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	w.stop(now, nil)
	<-w.lost
}
