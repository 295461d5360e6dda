package pyworker

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// answerLimit is the time in which a canceled call must be answered. Otherwise its
	// worker is terminated.
	answerLimit = 200 * time.Millisecond
	// skipLimit is the time in which the worker must skip a call that was canceled
	// before its turn. If it takes longer, the call has begun.
	skipLimit = 5 * time.Millisecond
	// drainLimit is the time that the other calls of a terminating worker may continue.
	drainLimit = 5 * time.Second
)

// cancel makes the worker end a call, and terminates the worker if it does not answer in
// time. It reports whether the call may have begun, and where it was, if that is
// known.
//
// If the call waits behind others in the worker, cancel returns at once. The worker skips
// the call when its turn comes. Until then the call keeps its slot.
func (inst *instance) cancel(c *call, number uint32) (begun bool, at []hook.Frame) {
	inst.mu.Lock()
	switch {
	case !c.runs(number):
		defer inst.mu.Unlock()
		return number <= c.last && (number != c.number || c.begun), nil
	case c.sent < number:
		inst.queue = slices.DeleteFunc(inst.queue, func(o outgoing) bool { return o.call == c })
		inst.refuse(c, number)
		inst.mu.Unlock()
		return false, nil
	}
	inst.enqueue(outgoing{frame: newFrame(frameCancel, number), urge: lateInterrupts && !inst.launcher.cfg.Threads})
	if !c.hasTurn {
		c.abandoned, c.turn = true, make(chan struct{})
		inst.mu.Unlock()
		go inst.awaitSkipped(c, number)
		return true, nil
	}
	inst.mu.Unlock()
	if inst.interruptUntilOver(c, number) {
		inst.mu.Lock()
		defer inst.mu.Unlock()
		for _, f := range c.came {
			if f.call == number && f.kind == frameError {
				at = f.place()
			}
		}
		return number <= c.last, at
	}
	inst.mu.Lock()
	c.abandoned = true
	inst.mu.Unlock()
	if c.probe {
		return true, nil
	}
	return true, inst.terminate(c)
}

// awaitSkipped waits until the worker has skipped a call that was canceled before its
// turn. If the call began just before the worker read the cancel, awaitSkipped interrupts
// the call. It returns when the call is over, or soon after its turn has come.
func (inst *instance) awaitSkipped(c *call, number uint32) {
	select {
	case <-c.done:
		return
	case <-c.turn:
	}
	if hook.Within(c.done, skipLimit) {
		return
	}
	if !inst.interruptUntilOver(c, number) && !c.probe {
		inst.terminate(c)
	}
}

// interruptUntilOver sends SIGINT and waits for the answer of a canceled call, at most
// answerLimit. It reports whether the call is over.
func (inst *instance) interruptUntilOver(c *call, number uint32) bool {
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	again := time.NewTicker(answerLimit / 2)
	defer again.Stop()
	inst.interrupt(c, number)
	for inst.isRunning(c, number) {
		select {
		case <-c.done:
		case <-c.more:
		case <-again.C:
			// Python misses a signal that comes just before it blocks. So send a second
			// one. The worker ignores it if it saw the first.
			inst.interrupt(c, number)
		case <-limit.C:
			return !inst.isRunning(c, number)
		}
	}
	return true
}

func (inst *instance) isRunning(c *call, number uint32) bool {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	return c.runs(number)
}

// lateInterrupts says that a signal reaches the worker after a while, and perhaps during the next
// call. So the worker always looks for the cancel frame, and an interrupt follows that frame.
const lateInterrupts = runtime.GOOS == "windows"

// interrupt sends SIGINT if the signal can hit only this call. That is so if there is no
// other call, or if this call runs and is not a task, because the worker then checks for
// the cancel before it acts on the signal. Calls in threads do not see SIGINT. interrupt
// holds mu while it sends, so that no call can begin before the signal is sent.
func (inst *instance) interrupt(c *call, number uint32) {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if inst.launcher.cfg.Threads || !c.runs(number) {
		return
	}
	if len(inst.calls) == 1 || c.hasTurn && !c.isTask {
		_ = inst.proc.Interrupt() // if the process is gone, its exit is reported
	}
}

// interruptHungProbe interrupts a probe that did not answer in time, before a call that
// would wait for it. If the probe still does not answer, interruptHungProbe terminates the
// worker. With threads it does nothing, because calls do not wait for a probe.
func (inst *instance) interruptHungProbe() {
	inst.mu.Lock()
	i := slices.IndexFunc(inst.calls, func(c *call) bool { return c.probe && c.abandoned && c.hasTurn })
	var hung *call
	if i >= 0 && !inst.launcher.cfg.Threads {
		hung = inst.calls[i]
	}
	inst.mu.Unlock()
	if hung != nil && !inst.interruptUntilOver(hung, hung.last) {
		inst.terminate(hung)
	}
}

// terminate rejects new calls, waits up to 5 s for calls that run at the same time as c,
// and kills the worker. Other calls run at the same time only if c is a task or the worker
// has threads. If there are such calls, terminate returns at once; otherwise it returns
// when the process is gone. It returns where c was, if that is known.
func (inst *instance) terminate(c *call) []hook.Frame {
	inst.mu.Lock()
	first := !inst.terminating
	inst.terminating = true
	var others []*call
	for _, o := range inst.calls {
		if o != c && !o.abandoned && o.hasTurn && (c.isTask || inst.launcher.cfg.Threads) {
			others = append(others, o)
		}
	}
	stood := c.stood.place()
	inst.mu.Unlock()
	switch {
	case len(others) == 0:
		if seen := stackFrames(inst.proc.Kill().Stacks); stood == nil {
			return seen
		}
	case first:
		go inst.killAfter(others)
	}
	return stood
}

// killAfter kills the process when calls are over, but no later than after drainLimit.
func (inst *instance) killAfter(calls []*call) {
	ctx, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	for _, c := range calls {
		select {
		case <-c.done:
		case <-ctx.Done():
		}
	}
	inst.proc.Kill()
}
