package runner

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/supervise"
)

// Kept is a plugin that is kept alive: supervisors that each keep one worker, and
// a pool that spreads calls over them. It is safe for concurrent use. It is made
// by [Session.Keep] and ended by [Kept.Close].
type Kept struct {
	session *Session
	keep    Keep // settled
	starter *starter
	pool    *pool.Pool
	trials  trials
	gaveUp  chan struct{}
	second  chan struct{} // closed when the first start of the second worker is over

	described described
	lastExit  atomic.Pointer[hook.Exit]
	refused   atomic.Pointer[refusal] // of the start that failed last; nil once one comes out well
	replaying sync.Mutex              // held by Replay, so that all workers have one order

	mu      sync.Mutex // held while an event is told; protects following
	slots   []*supervise.Supervisor
	up      bool // the first start came out well
	closing bool
	over    bool // gaveUp is closed
}

var _ hook.Caller = (*Kept)(nil)

// Keep starts the plugin and keeps it alive, as [Session.KeepSettings] say. It
// comes in the place of [Session.Start], on a session that [Prepare] returned
// without an error, and returns when the first worker is ready: the others
// follow. A first start that fails is not tried again. Its error is that of
// Session.Start, bootstrap calls included, and nothing is left then. Ending ctx
// ends that start; what is kept does not depend on it.
func (s *Session) Keep(ctx context.Context) (*Kept, error) {
	if s.launcher == nil || s.inst != nil || s.kept {
		return nil, fail(hook.Internal, errors.New("a session is started once, when it is prepared"))
	}
	s.kept = true
	starter := &starter{launcher: s.launcher, field: s.settings.ErrorField, living: map[string]*grpcplugin.Instance{}}
	if s.keep.Preload != "off" {
		starter.launcher = s.pipeLauncher(s.keep.Preload)
		starter.look = func() Snapshot { return Snapshot{look(s.subjects())} }
	}
	k := &Kept{
		session: s, keep: s.keep,
		gaveUp: make(chan struct{}), second: make(chan struct{}),
		starter: starter,
	}
	for _, text := range []string{s.lacks, k.keep.tooMany()} {
		if text != "" {
			k.note(text)
		}
	}
	s.state("starting")
	first, err := k.first(ctx)
	if err != nil {
		s.state("failed")
		return nil, err
	}
	defer first.Release(nil)
	s.inst = bare(first.Instance())
	s.grpc, _ = s.inst.(*grpcplugin.Instance) // nil for a functions file
	if err := k.others(ctx); err != nil {
		s.state("failed")
		k.give(ctx)
		return nil, err
	}
	slots := make([]pool.Slot, len(k.slots))
	for i, sup := range k.slots {
		slots[i] = slot{sup}
	}
	k.pool = pool.New(slots, k.poolOptions())
	s.state("ready")
	return k, nil
}

// first starts the first worker. On error nothing is left.
func (k *Kept) first(ctx context.Context) (*supervise.Lease, error) {
	first := k.add()
	l, err := first.Acquire(ctx)
	if err == nil {
		return l, nil
	}
	k.give(ctx)
	if ctx.Err() == nil {
		return nil, err
	}
	e := fail(hook.Canceled, context.Cause(ctx))
	if own := (*hook.Error)(nil); errors.As(k.starter.lastFailure(), &own) && own.Kind == hook.Canceled {
		e.At = own.At // where the import was
	}
	return nil, e
}

// others adds the other workers. Whether a gRPC plugin always listens at the same
// address, and so can have but one, shows when the second is started.
func (k *Kept) others(ctx context.Context) error {
	for n := 2; n <= k.keep.Workers; n++ {
		sup := k.add()
		if k.session.grpc == nil || n > 2 {
			continue
		}
		select {
		case <-k.second:
		case <-ctx.Done():
			return fail(hook.Canceled, context.Cause(ctx))
		}
		if alone := (*AloneError)(nil); errors.As(k.starter.lastFailure(), &alone) {
			k.mu.Lock()
			k.slots, k.keep.Workers = k.slots[:1], 1
			k.mu.Unlock()
			_ = sup.Stop(context.WithoutCancel(ctx)) // it has nothing to stop
			k.refused.Store(nil)                     // that is no fault
			k.note("it has one worker, since it listens at " + alone.Address + " at every start")
		}
	}
	return nil
}

// give stops all that was started by a Keep that fails. The ladder bounds it.
func (k *Kept) give(ctx context.Context) {
	k.mu.Lock()
	k.closing = true
	slots := k.slots
	k.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	for _, sup := range slots {
		_ = sup.Stop(ctx) // the first error is the one to tell
	}
	_ = k.starter.Close(ctx) // the same
}

// add begins one more worker.
func (k *Kept) add() *supervise.Supervisor {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, worker := k.session.settings.Timeouts, len(k.slots)+1
	m := k.session.plugin.Manifest
	sup := supervise.New(supervise.Options{
		Launcher: k.starter, Rules: k.keep.rules(),
		Bootstrap: hookCalls(m.Bootstrap), Shutdown: hookCalls(m.Shutdown), CallTimeout: t.Call,
		ProbeTimeout: t.Probe, Drain: max(t.Call, leastDrain),
		Deterministic: func(err error) bool { return k.lasting(worker, err) },
		Alone:         isAlone,
		Changed:       func() bool { return k.trials.changed(k.session.conditions()) },
		Events:        func(e hook.Event) { k.tell(worker, e) },
	})
	k.slots = append(k.slots, sup)
	return sup
}

// FullError says that no more calls may wait.
type FullError = pool.FullError

// Places is how many calls it takes at once.
func (k *Kept) Places() int { return k.keep.Workers * k.keep.Concurrency }

// leastDrain is how long the calls of a worker that was replaced may go on at
// least.
const leastDrain = 2 * time.Minute

func hookCalls(calls []manifest.HookCall) []hook.Call {
	made := make([]hook.Call, len(calls))
	for i, c := range calls {
		made[i] = hook.Call{Hook: c.Hook, Args: hook.Args{JSON: c.Args}}
	}
	return made
}

func (k *Kept) poolOptions() pool.Options {
	return pool.Options{
		Concurrency: k.keep.Concurrency, Queue: k.keep.Queue, QueueTimeout: k.keep.QueueTimeout,
		// A call to a server returns before the server has given it up.
		Probe:    k.session.grpc != nil,
		MaxCalls: k.keep.MaxCalls, MaxAge: k.keep.MaxAge, IdleTime: k.keep.IdleTime,
		MaxMemory: k.keep.MaxMemory / 5 * 4, Memory: proc.Memory,
	}
}

// Session is the session that was kept. What it says of an instance is said of the
// first one.
func (k *Kept) Session() *Session { return k.session }

// Call calls one hook, in the worker that has the most room, after waiting for a
// place. It sets no limit, which is ctx's, waiting included. The errors are those
// of [Session.Call], and those of [pool.Pool.Call] of kind Unavailable; with an
// [*AbsentError] when there is no place since no worker is ready.
func (k *Kept) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	r, err := k.pool.Call(ctx, c)
	if err != nil {
		err = k.explain(err)
	}
	return r, err
}

// Restart puts new workers in the places of all, one after the other, each ready
// before the old one goes. One that has failed is started again. The reason is
// told by events. When one does not start, it and those after it stay as they
// are, and the error is that of its start. Ending ctx ends the waiting.
func (k *Kept) Restart(ctx context.Context, reason string) error {
	k.starter.forget()
	err := k.pool.Replace(ctx, reason)
	if err == nil {
		k.described.forget() // the new ones may differ by what is no file of the plugin
	}
	return err
}

// Failed is closed when all workers have failed, or ended for good, and none is
// started again by itself. A change of the plugin's files, or Restart, may still
// revive it.
func (k *Kept) Failed() <-chan struct{} { return k.gaveUp }

// Drain lets no new call in, and returns when those that run or wait have ended.
// The error, of kind Timeout or Canceled, says that ctx ended first.
func (k *Kept) Drain(ctx context.Context) error { return k.pool.Drain(ctx) }

// Close makes the manifest's shutdown calls, stops all workers and returns when
// nothing of them is left. Calls that run are not waited for: see [Kept.Drain].
// Ending ctx skips to the kill. The errors are those of shutdown calls and of
// workers that had to be killed. It may be called more than once.
func (k *Kept) Close(ctx context.Context) error {
	k.mu.Lock()
	k.closing = true
	k.mu.Unlock()
	k.session.state("stopping")
	defer k.session.state("stopped")
	err := k.pool.Close(ctx)
	return errors.Join(err, k.starter.Close(context.WithoutCancel(ctx))) // no start is under way: it does not wait
}
