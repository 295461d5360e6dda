package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/supervise"
)

// note tells the user something once.
func (k *Kept) note(text string) {
	if k.keep.Note != nil {
		k.keep.Note(text)
	}
}

// tell passes on an event of a worker, and looks whether it was the last hope.
func (k *Kept) tell(worker int, e hook.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case e.To == hook.StateReady:
		k.up = true
		k.refused.Store(nil)
	case e.From == hook.StateStarting && (e.To == hook.StateFailed || e.To == hook.StateBackoff):
		k.refused.Store(&refusal{why: e.Reason, stays: k.stays(worker)})
	}
	if worker == 2 && e.To != hook.StateStarting {
		closeOnce(k.second)
	}
	if e.Exit != nil {
		k.lastExit.Store(e.Exit)
	}
	if k.keep.Workers > 1 {
		e.Worker = worker
	}
	if k.keep.Events != nil {
		k.keep.Events(e)
	}
	if k.closing {
		return
	}
	if k.up {
		k.trials.watch(e, k.session.conditions)
	}
	if k.over || !k.resting() {
		return
	}
	k.over = true
	close(k.gaveUp)
}

// refusal is a start that failed.
type refusal struct {
	why   string
	stays bool // another worker kept its slot
}

// stays tells whether the slot of a worker whose start failed has another one that
// takes calls. k.mu is held.
func (k *Kept) stays(worker int) bool {
	return worker <= len(k.slots) && k.slots[worker-1].State().State.Takes()
}

// closeOnce closes a channel that one goroutine at a time closes.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// lasting tells whether a start that failed will fail so again. The first one is
// never tried again, nor is that of a second worker which the first leaves no
// room for.
func (k *Kept) lasting(worker int, err error) bool {
	k.mu.Lock()
	up := k.up
	k.mu.Unlock()
	return !up || worker > 1 && isAlone(err) || supervise.Deterministic(err) || grpcplugin.Lasting(err)
}

// trials remember how a plugin was when it failed. The zero value remembers
// nothing. It is safe for concurrent use.
type trials struct {
	mu     sync.Mutex
	seen   string // how it was when it was last looked at
	failed string // how it was when it failed; empty when that is not certain
}

// watch takes down how a plugin is from what becomes of it. It is looked at
// where that delays nothing, and before the first new start: so what is put to
// trial there is known. A later change may be missed, so that one start too many
// is made.
func (t *trials) watch(e hook.Event, now func() string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case e.To == hook.StateFailed, e.To == hook.StateBackoff && e.From == hook.StateStarting:
		was := t.seen
		t.seen, t.failed = now(), ""
		if t.seen == was {
			t.failed = was
		}
	case e.To == hook.StateBackoff, e.To == hook.StateStarting && e.Generation > 1 && t.seen == "":
		t.seen = now()
	}
}

// changed tells whether a plugin that failed is worth another start.
func (t *trials) changed(now string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = now
	return now != t.failed
}

// ranks are the states from the worst to the best, for several workers.
var ranks = []hook.State{
	0, hook.StateStopped, hook.StateFailed, hook.StateStopping, hook.StateBackoff,
	hook.StateStarting, hook.StateDegraded, hook.StateReady,
}

// Status says how the plugin is and what it did. It does not wait.
func (k *Kept) Status() hook.Status {
	stats := k.pool.Stats()
	st := hook.Status{
		Workers: len(stats.Slots), Calls: stats.Calls, Failed: stats.Failed, Running: stats.Running, Queued: stats.Queued,
		LastExit: k.lastExit.Load(),
	}
	for _, sup := range k.slots { // they no longer change
		one := sup.State()
		st.Restarts += one.Restarts
		if one.State.Takes() {
			st.Ready++
		}
		if one.PID != 0 {
			bytes, _ := proc.Memory(one.PID)
			st.Memory += bytes
		}
		if slices.Index(ranks, one.State) > slices.Index(ranks, st.State) {
			st.State, st.Since, st.NextStart = one.State, one.Since, one.NextStart
			st.Generation, st.PID, st.Uptime = one.Generation, one.PID, 0
			if inst, ok := sup.Instance(); ok {
				st.Uptime = time.Since(inst.Info().Started)
			}
		}
	}
	st.Note = k.remark(st.Ready)
	return st
}

// remark is the note of a status, with so many workers ready.
func (k *Kept) remark(ready int) string {
	switch last := k.refused.Load(); {
	case last == nil:
		return ""
	case ready == 0:
		return "it does not start: " + last.why
	case last.stays:
		return "a new worker does not start, so the old one stays: " + last.why
	}
	return "" // the state of the others tells
}

// ready are the instances that are, as their launcher made them. They are not
// leased: looking at a worker, however often, does not keep it from being probed.
func (k *Kept) ready() []hook.Instance {
	var instances []hook.Instance
	for _, sup := range k.slots {
		if inst, ok := sup.Instance(); ok {
			instances = append(instances, bare(inst))
		}
	}
	return instances
}

// Probe asks every worker that is ready whether it is healthy, and tells what the
// first one says that is not. The error is that of [Session.Probe], and of kind
// Unavailable when none is ready.
func (k *Kept) Probe(ctx context.Context) error {
	instances := k.ready()
	for _, inst := range instances {
		if err := probe(ctx, inst); err != nil {
			return err
		}
	}
	if len(instances) == 0 {
		return k.unready()
	}
	return nil
}

// unready says why nobody can be asked, and what failed last.
func (k *Kept) unready() *hook.Error {
	state := k.Status().State
	e := &hook.Error{Kind: hook.Unavailable, Err: stateError(state)}
	absent := k.absent(e.Err)
	switch {
	case absent == nil:
	case state == hook.StateBackoff || state == hook.StateStarting:
		absent.tellIn(e)
	default:
		absent.tellIn(e)
		e.Err = fmt.Errorf("%w: %w", absent.Err, absent.Cause)
	}
	return e
}

// ErrGivenUp says that no worker is started until somebody asks for it.
var ErrGivenUp = errors.New("the plugin was given up: it is not started again by itself")

// stateError says that a plugin in this state takes no calls.
func stateError(s hook.State) error {
	switch s {
	case hook.StateBackoff:
		return errors.New("the plugin is restarting, in back-off")
	case hook.StateFailed:
		return ErrGivenUp
	}
	return fmt.Errorf("the plugin is %s", s)
}

// Attach says how another host of go-plugin attaches to the plugin, in the JSON
// that Terraform reads.
type Attach = grpcplugin.Reattach

// Attach is that of the first worker that is ready; false when none is, for a
// functions file, and with mTLS, whose key is ours alone.
func (k *Kept) Attach() (Attach, bool) {
	if k.session.program.MTLS {
		return Attach{}, false
	}
	for _, inst := range k.ready() {
		if g, ok := inst.(*grpcplugin.Instance); ok {
			return g.Reattach(), true
		}
	}
	return Attach{}, false
}

// Replay makes a call now in every worker, and after every later start of one, in
// the order of the calls of Replay. The result is that of the first worker. When
// it fails there, nothing is replayed. Else it stands, also when ctx ends: a worker
// that it fails in is started anew, and the error says why it was not. The call has
// no input, and items of a stream are emitted but once.
func (k *Kept) Replay(ctx context.Context, c hook.Call) (hook.Result, error) {
	if c.Input != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Hook: c.Hook,
			Err: errors.New("a call with a stream of input cannot be made again")}
	}
	k.replaying.Lock()
	defer k.replaying.Unlock()
	first, at, err := k.oneReady(ctx)
	if err != nil {
		return hook.Result{}, err
	}
	r, err := first.Instance().Call(ctx, c)
	if first.Release(err); err != nil {
		return r, err
	}
	c.Emit = func(hook.Item) error { return nil }
	last := make([]int, len(k.slots))
	for i, sup := range k.slots {
		last[i] = sup.Replay(c)
	}
	for i, sup := range k.slots {
		done := 0
		if i == at {
			done = first.Generation()
		}
		if last[i] <= done {
			continue
		}
		if late := k.catchUp(context.WithoutCancel(ctx), sup, c, last[i], done); err == nil {
			err = late
		}
	}
	return r, err
}

// oneReady lends an instance that is ready, and tells which slot's it is. When
// there is none it waits for the first.
func (k *Kept) oneReady(ctx context.Context) (*supervise.Lease, int, error) {
	for i, sup := range k.slots {
		if l, ok := sup.TryAcquire(); ok {
			return l, i, nil
		}
	}
	l, err := k.slots[0].Acquire(ctx)
	return l, 0, err
}

// catchUp makes a call that is replayed in an instance of a slot that was ready
// before that: of a generation up to last, and not of done, which has made it. It is
// bounded by the limits of a start and of a call.
func (k *Kept) catchUp(ctx context.Context, sup *supervise.Supervisor, c hook.Call, last, done int) error {
	limits := k.session.settings.Timeouts
	ctx, cancel := context.WithTimeout(ctx, min(limits.Start, Forever-limits.Call)+limits.Call)
	defer cancel()
	l, err := sup.Acquire(ctx)
	switch {
	case err != nil && ctx.Err() == nil: // it gave up: what is started next makes it
		return nil
	case err != nil:
		return err
	}
	err = nil
	if l.Generation() <= last && l.Generation() != done {
		_, err = l.Instance().Call(ctx, c)
	}
	l.Release(err)
	if err != nil {
		return sup.Replace(ctx, "it failed to make a call that is replayed")
	}
	return nil
}
