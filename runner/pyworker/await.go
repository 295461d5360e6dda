package pyworker

import (
	"context"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// await emits the items of a call until the call is answered or its time is over. It
// returns the error of an error frame.
func (inst *instance) await(ctx context.Context, c *call, number uint32) (frame, *hook.Error) {
	var expired <-chan time.Time
	for {
		over := len(c.taken) == 0 && c.isOver() // no frame follows those in taken
		f, err := inst.emitItems(c, number)
		switch {
		case err != nil:
			return frame{}, inst.emitFailed(ctx, c, number, err)
		case f.kind != 0:
			return f, inst.answerError(c.hook, f)
		case over && number > c.last:
			return frame{}, &hook.Error{Kind: hook.Unavailable, Hook: c.hook, Err: errUnbegun}
		case over:
			return frame{}, inst.lostError(c.hook, c.begun && number == c.number)
		}
		if expired == nil && c.limit > 0 {
			c.timer.Reset(c.limit)
			expired = c.timer.C
		}
		var ended *hook.Error
		select {
		case <-c.more:
			continue
		case <-c.done:
			continue
		case <-ctx.Done():
			ended = hook.Ended(ctx, c.hook, "", false)
		case <-expired:
			ended = c.expired()
		}
		ended.Begun, ended.At = inst.cancel(c, number)
		return frame{}, ended
	}
}

// expired returns the error of a call of a series that reached its limit.
func (c *call) expired() *hook.Error {
	return &hook.Error{Kind: hook.Timeout, Hook: c.hook, Err: &hook.LimitError{Limit: c.limit}, Hints: hook.TimeoutHints}
}

// emitItems emits the items of a call that were received, and returns the answer if it
// was received, too. Then it lets the worker send as many bytes again, with one frame for
// all items, because many small ones arrive together.
func (inst *instance) emitItems(c *call, number uint32) (frame, error) {
	if len(c.taken) == 0 {
		inst.mu.Lock()
		c.taken, c.came = c.came, nil
		inst.mu.Unlock()
	}
	size := 0
	for len(c.taken) > 0 {
		f := c.taken[0]
		c.taken = c.taken[1:]
		switch {
		case f.call != number: // an earlier call, which was given up
		case f.kind != frameItem:
			return f, nil
		default:
			if c.emit != nil {
				if err := c.emit(f.item()); err != nil {
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
	switch {
	case ctx.Err() != nil:
		e = hook.Ended(ctx, c.hook, "", true)
		e.At = at
	case c.limit > 0 && errors.Is(err, context.DeadlineExceeded):
		e = c.expired()
		e.At = at
	}
	e.Hook, e.Begun = c.hook, true
	return e
}
