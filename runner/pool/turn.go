package pool

import (
	"cmp"
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// turn is a running call of an instance. The pool's mu protects its fields.
type turn struct {
	inst  *instance
	hook  string
	since time.Time
	at    *list.Element // the element in the pool's turns
}

// begin records that a call of a hook begins in an instance. p.mu is held.
func (p *Pool) begin(i *instance, hookName string) *turn {
	t := &turn{inst: i, hook: hookName, since: time.Now()}
	t.at = p.turns.PushBack(t)
	return t
}

// end records that a call has ended. p.mu is held.
func (p *Pool) end(t *turn, o outcome) {
	p.turns.Remove(t.at)
	if o.kind == hook.Crash || hook.IsClosed(t.inst.Done()) {
		t.inst.diedIn = t.hook
	}
}

// lastHook returns the hook that an instance ran when it exited, or "" if no such hook is known.
// p.mu is held.
func (p *Pool) lastHook(i *instance) string {
	for at := p.turns.Front(); at != nil && i.diedIn == ""; at = at.Next() {
		if t := at.Value.(*turn); t.inst == i {
			return t.hook
		}
	}
	return i.diedIn
}

// runningCalls returns the running calls, oldest first. p.mu is held.
func (p *Pool) runningCalls() (calls []hook.RunningCall) {
	for at := p.turns.Front(); at != nil; at = at.Next() {
		t := at.Value.(*turn)
		c := hook.RunningCall{Hook: t.hook, Age: hook.Milliseconds(time.Since(t.since)), PID: t.inst.Info().PID}
		if len(p.workers) > 1 {
			c.Worker = t.inst.worker.number
		}
		calls = append(calls, c)
	}
	slices.SortStableFunc(calls, func(a, b hook.RunningCall) int { return cmp.Compare(b.Age, a.Age) })
	return calls[:min(len(calls), hook.MaxRunningCalls)]
}

// Locate sets At of running calls to the stacks of their processes.
func (p *Pool) Locate(calls []hook.RunningCall) {
	p.mu.Lock()
	workers := map[int]*instance{}
	for _, w := range p.workers {
		if i := w.serving; i != nil {
			workers[i.Info().PID] = i
		}
	}
	p.mu.Unlock()
	stacks := map[int]func() []hook.Frame{}
	var all sync.WaitGroup
	for _, c := range calls {
		if i := workers[c.PID]; i != nil && stacks[c.PID] == nil {
			stack := sync.OnceValue(i.Stack)
			stacks[c.PID] = stack
			all.Go(func() { stack() })
		}
	}
	all.Wait()
	for n, c := range calls {
		if stack := stacks[c.PID]; stack != nil {
			calls[n].At = stack()
		}
	}
}
