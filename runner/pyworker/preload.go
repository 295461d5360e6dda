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

// forkTries is how often a launch tries to fork a worker before it starts one by
// exec: if the zygote has died, or its import is stale, the next try starts a new one.
const forkTries = 2

// preload is the zygote of a launcher: a process that has imported the plugin, and
// from which workers are forked.
type preload struct {
	turn   chan struct{} // holds a token; its holder may start, fork or stop the zygote
	zygote *instance     // nil if there is none. Requires the token
	forked bool          // a worker was forked from the zygote. Requires the token

	byExec atomic.Bool // workers are started by exec, until Renew
	stale  atomic.Bool // the zygote must not be used any more
	noted  sync.Once

	mu      sync.Mutex
	waiting context.Context // of replacements that no launch waits for; Close cancels it
	cancel  context.CancelFunc
}

func (p *preload) init() {
	p.turn = make(chan struct{}, 1)
	p.turn <- struct{}{}
	p.waiting, p.cancel = context.WithCancel(context.Background())
}

// acquire waits for the token.
func (p *preload) acquire(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *preload) release() { p.turn <- struct{}{} }

// Close stops the process that workers are forked from, if there is one. Workers
// live on, and the next launch starts anew. Close waits for a launch in progress; its
// error reports that ctx ended before.
func (l *Launcher) Close(ctx context.Context) error {
	p := &l.preload
	p.mu.Lock()
	p.cancel()
	p.waiting, p.cancel = context.WithCancel(context.Background())
	p.mu.Unlock()
	if err := p.acquire(ctx); err != nil {
		return err
	}
	defer p.release()
	l.stopZygote()
	return nil
}

// Renew makes the next launch import the plugin anew, even if none of its own files
// has changed, and check again whether workers can be forked. Workers live on.
func (l *Launcher) Renew() {
	l.preload.stale.Store(true)
	l.preload.byExec.Store(false)
}

// useExec makes all launches start a Python of their own, and reports why, once.
func (l *Launcher) useExec(why string) {
	l.preload.byExec.Store(true)
	l.preload.noted.Do(func() {
		l.cfg.Note("preload is off, each worker imports the plugin itself: " + why)
	})
}

// launchPreloaded launches a worker from the zygote, which it starts if there is
// none. If the process that imported the plugin cannot be a zygote, it is the worker.
func (l *Launcher) launchPreloaded(ctx context.Context) (*instance, *hook.Error) {
	for range forkTries {
		if err := l.preload.acquire(ctx); err != nil {
			return nil, &hook.Error{Kind: hook.Canceled, Err: err}
		}
		w, forked, failed := l.forkOrStart(ctx)
		l.preload.release()
		if failed != nil || forked.IsZero() {
			return w, failed
		}
		if _, failed = w.start(ctx, forked, ""); failed == nil {
			return w, nil
		}
		if failed.Kind != hook.Interpreter {
			return nil, failed
		}
		// It ended before hello: the zygote may have been killed while it forked.
	}
	l.useExec("forked workers end before they are ready")
	w, _, failed := l.startPython(ctx, "")
	return w, failed
}

// forkOrStart returns the next worker. If it was forked, it has yet to be started,
// and forked is when that was; otherwise it is ready and forked is zero. Requires the
// token.
func (l *Launcher) forkOrStart(ctx context.Context) (w *instance, forked time.Time, failed *hook.Error) {
	if l.preload.stale.Swap(false) {
		l.stopZygote()
	}
	for try := 0; try < forkTries && !l.preload.byExec.Load(); try++ {
		if l.preload.zygote == nil {
			w, failed := l.startZygote(ctx)
			if failed != nil || l.preload.zygote == nil {
				return w, time.Time{}, failed
			}
		}
		z := l.preload.zygote
		began := time.Now()
		p, err := z.proc.Fork(l.spec(""))
		if err == nil {
			l.preload.forked = true
			l.cfg.Debug("proc", fmt.Sprintf("forked pid %d from %d after %s", p.PID(), z.proc.PID(), time.Since(began)))
			return newInstance(l.cfg, p, l.addFiles), began, nil
		}
		refused := (*proc.RefusedError)(nil)
		if !errors.Is(err, proc.ErrNoFork) && !errors.As(err, &refused) {
			return nil, time.Time{}, &hook.Error{Kind: hook.Start, Err: fmt.Errorf("cannot fork a worker: %w", err)}
		}
		l.cfg.Debug("proc", fmt.Sprintf("zygote %d: %s", z.proc.PID(), err))
		l.stopZygote()
	}
	w, _, failed = l.startPython(ctx, "")
	return w, time.Time{}, failed
}

// startZygote starts the zygote. If the process cannot be one, it is returned as a
// worker. Requires the token.
func (l *Launcher) startZygote(ctx context.Context) (*instance, *hook.Error) {
	p := &l.preload
	z, r, failed := l.startPython(ctx, l.cfg.Preload)
	switch {
	case failed != nil:
		return nil, failed
	case !r.Zygote:
		l.useExec(r.Exec)
		return z, nil
	}
	p.zygote, p.forked = z, false
	p.mu.Lock()
	defer p.mu.Unlock()
	go l.replaceZygote(p.waiting, z) // ends when z has ended and its replacement is there
	return nil, nil
}

// replaceZygote starts a new zygote when z has died by itself, so that the next launch
// need not wait for an import. A zygote from which no worker was forked is not
// replaced: an import that kills its process later would be repeated for ever.
func (l *Launcher) replaceZygote(ctx context.Context, z *instance) {
	<-z.proc.Done()
	if l.preload.acquire(ctx) != nil {
		return
	}
	defer l.preload.release()
	if l.preload.zygote != z {
		return
	}
	exit := z.proc.Exit()
	wanted := l.preload.forked && !exit.Stopped && ctx.Err() == nil
	l.cfg.Debug("proc", fmt.Sprintf("zygote %d ended: code %d %s", z.proc.PID(), exit.Code, exit.Signal))
	l.stopZygote()
	if wanted {
		// The next launch reports why it failed.
		if w, _ := l.startZygote(ctx); w != nil {
			w.kill()
		}
	}
}

// stopZygote stops the zygote, if there is one. The workers live on. Requires the
// token.
func (l *Launcher) stopZygote() {
	if z := l.preload.zygote; z != nil {
		l.preload.zygote = nil
		z.kill()
	}
}
