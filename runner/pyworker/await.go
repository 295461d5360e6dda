package pyworker

import (
	"context"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// await emits the items of a call until the call is answered or its limit is reached. If the answer
// is an error frame, await returns the error.
func (inst *instance) await(ctx context.Context, c *call, number uint32) (frame, *hook.Error) {
	limited := ctx
	if c.limit > 0 && !inst.hasAnswer(c, number) { // usually the answer has arrived, and a context costs a microsecond
		var cancel context.CancelFunc
		limited, cancel = hook.WithLimit(ctx, c.limit)
		defer cancel()
	}
	slow := slowTimer{wait: slowAfter}
	defer slow.stop()
	for {
		over := len(c.taken) == 0 && c.isOver() // read first: if true, no frame follows those that emitItems takes
		f, err := inst.emitItems(limited, c, number)
		switch {
		case err != nil:
			return frame{}, inst.emitFailed(limited, c, number, err)
		case f.kind != 0:
			return f, inst.answerError(c.hook, f)
		case over && number > c.last:
			return frame{}, &hook.Error{Kind: hook.Unavailable, Hook: c.hook, Err: errUnbegun}
		case over:
			return frame{}, inst.lostError(c.hook, c.begun && number == c.number)
		case c.series != nil:
			inst.handBack(c, number)
			slow.start(c.ahead > 1)
		}
		select {
		case <-c.more:
		case <-c.done:
		case <-slow.over:
			inst.askBack(c, true)
			slow.next()
		case <-limited.Done():
			if ctx.Err() != nil && c.series != nil {
				inst.recall(c)
			}
			ended := hook.Ended(limited, c.hook, "", false)
			ended.Begun, ended.At = inst.cancel(c, number)
			return frame{}, ended
		}
	}
}

// slowTimer fires when a call is slow, and again after longer and longer waits. It does not fire
// before start.
type slowTimer struct {
	wait  time.Duration
	timer *time.Timer
	over  <-chan time.Time // nil before the start
}

func (p *slowTimer) start(needed bool) {
	if needed && p.timer == nil {
		p.timer = time.NewTimer(p.wait)
		p.over = p.timer.C
	}
}

func (p *slowTimer) next() {
	p.wait = min(2*p.wait, longestAsked)
	p.timer.Reset(p.wait)
}

func (p *slowTimer) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// take moves the received frames from came to taken, unless taken has frames left.
func (inst *instance) take(c *call) {
	if len(c.taken) == 0 {
		inst.mu.Lock()
		c.taken, c.came = c.came, nil
		inst.mu.Unlock()
	}
}

// hasAnswer reports whether the next frame is the answer of a call, and not an item.
func (inst *instance) hasAnswer(c *call, number uint32) bool {
	inst.take(c)
	return len(c.taken) > 0 && c.taken[0].call == number && c.taken[0].kind != frameItem
}

// emitItems emits the received items of a call. If the answer was received, too, emitItems returns
// it. Otherwise it allows the worker to send as many bytes again. One frame does so for all items,
// because many small items arrive together.
func (inst *instance) emitItems(ctx context.Context, c *call, number uint32) (frame, error) {
	inst.take(c)
	size := 0
	for len(c.taken) > 0 {
		f := c.taken[0]
		c.taken = c.taken[1:]
		switch {
		case f.call != number: // the frame belongs to an earlier call, which was canceled
		case f.kind != frameItem:
			return f, nil
		default:
			if c.emit != nil {
				if err := c.emit(ctx, f.item()); err != nil {
					return frame{}, err
				}
			}
			size += len(f.body)
		}
	}
	if size > 0 {
		inst.mu.Lock()
		defer inst.mu.Unlock()
		if c.runs(number) {
			c.underWay -= size
			inst.enqueue(outgoing{frame: newFrame(frameCredit, number, byte(size), byte(size>>8), byte(size>>16), byte(size>>24))})
		}
	}
	return frame{}, nil
}

// emitFailed cancels a call whose items could not be emitted.
func (inst *instance) emitFailed(ctx context.Context, c *call, number uint32, err error) *hook.Error {
	_, at := inst.cancel(c, number)
	e := &hook.Error{Kind: hook.Canceled, Err: err}
	if own, ok := errors.AsType[*hook.Error](err); ok {
		e = new(*own)
	}
	if ctx.Err() != nil {
		e = hook.Ended(ctx, c.hook, "", true)
		e.At = at
	}
	e.Hook, e.Begun = c.hook, true
	return e
}
