package pyworker

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// call is one call that waits for its answer, or a series of such calls. The reader adds
// frames, and the caller removes them.
type call struct {
	hook   string
	began  time.Time
	frame  []byte                                 // the frame to send, or the frames of all calls of a series
	emit   func(context.Context, hook.Item) error // receives the items, or nil to drop them
	series *hook.Series                           // nil for one call
	limit  time.Duration                          // the timeout of each call of a series, or 0 if there is none
	ahead  int                                    // the number of calls that were sent and whose answer the caller has not received
	taken  []frame                                // frames that were removed from came and not handled yet
	stream bool                                   // items may come
	probe  bool                                   // the call is a probe; canceling it does not terminate the worker
	more   chan struct{}                          // has a token when frames have come, or calls were rejected
	done   chan struct{}                          // closed when the last call was answered, rejected or lost

	// Protected by the instance's mu.
	number, last uint32        // the numbers of the call that is answered next, and of the last call
	sent         uint32        // the number of the last call that was at least partly written to the worker, or 0
	hasTurn      bool          // the worker runs the call, or will as soon as it has read it
	isTask       bool          // the call runs on the event loop, so that the call behind it may begin
	turn         chan struct{} // closed when hasTurn is set, or nil if nothing waits for that
	abandoned    bool          // the caller no longer waits
	came         []frame       // received items and answers
	underWay     int           // the size of the received items for which the worker got no new credit
	begun        bool          // set when the process is lost, if the call whose number is in number may have begun
	stood        frame         // where the call was when it was canceled, or the zero frame if that is unknown
}

// newCall returns a call with room for the header in its frame.
func newCall(hookName string) *call {
	return &call{
		hook: hookName, frame: make([]byte, headerSize, 128),
		more: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// add adds an item or an answer.
func (c *call) add(f frame) error {
	if f.kind == frameItem {
		switch {
		case c.abandoned: // the worker may have sent the item before it saw the cancel
			return nil
		case !c.stream:
			return fmt.Errorf("an item for call %d, which is not a stream", c.number)
		case c.underWay > 0 && c.underWay+len(f.body) > window:
			return fmt.Errorf("call %d has more than %d bytes of items in flight", c.number, window)
		}
		c.underWay += len(f.body)
	}
	c.came = append(c.came, f)
	c.signal()
	return nil
}

// signal wakes the caller.
func (c *call) signal() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// isOver reports whether no more frames will come.
func (c *call) isOver() bool { return hook.IsClosed(c.done) }

// runs reports whether the call with a number is in progress: it is not answered, rejected
// or lost. The instance's mu is held.
func (c *call) runs(number uint32) bool { return c.number == number && !c.isOver() }

// Call runs one hook. See [hook.Caller] for the promises.
func (inst *instance) Call(ctx context.Context, hc hook.Call) (hook.Result, error) {
	if hc.Input != nil {
		return hook.Result{}, requestError(hc.Hook, errors.New("a functions file does not accept a stream of input"))
	}
	c := newCall(hc.Hook)
	c.stream = true
	if hc.Emit != nil {
		c.emit = func(_ context.Context, item hook.Item) error { return hc.Emit(item) }
	}
	var err *hook.Error
	if c.frame, err = appendArgs(c.frame, hc); err != nil {
		return hook.Result{}, err
	}
	f, err := inst.ask(ctx, frameCall, c)
	if err != nil {
		return hook.Result{}, err
	}
	return c.result(f), nil
}

// result converts an answer to a result.
func (c *call) result(f frame) hook.Result {
	took := time.Since(c.began)
	if f.kind == frameEnd {
		return hook.Result{Streamed: true, Took: took}
	}
	return hook.Result{Item: f.item(), Took: took}
}

func requestError(hookName string, err error) *hook.Error {
	e := hook.NewError(hook.Request, err)
	e.Hook = hookName
	return e
}

// appendArgs appends the body of a call frame. It rejects text that is not one JSON
// value, because such text could end the worker, or call another hook.
func appendArgs(b []byte, hc hook.Call) ([]byte, *hook.Error) {
	start := len(b)
	b = schema.AppendQuote(append(b, `{"hook":`...), hc.Hook)
	given := bytes.TrimSpace(hc.Args.JSON)
	if !hc.Args.Valid {
		if err := checkArgs(given, hc.Args.Words); err != nil {
			return nil, requestError(hc.Hook, err)
		}
	}
	if len(hc.Args.Words) > 0 {
		b = wire.AppendWords(append(b, `,"words":`...), hc.Args.Words)
	}
	switch {
	case len(given) == 0:
	case given[0] == '[':
		b = append(append(b, `,"args":`...), given...)
	case given[0] == '{':
		b = append(append(b, `,"kwargs":`...), given...)
	default:
		return nil, requestError(hc.Hook, fmt.Errorf("the arguments are %s, expected a JSON object (names) or array (positions)", schema.Short(string(given))))
	}
	b = append(b, '}')
	if size := len(b) - start; size > maxBody {
		return nil, requestError(hc.Hook, fmt.Errorf("the arguments have %d bytes, expected at most %d", size, maxBody))
	}
	return b, nil
}

// checkArgs returns an error if the caller passes text that is not one JSON value.
func checkArgs(given []byte, words []schema.Word) error {
	if len(given) > 0 {
		if err := schema.CheckValue(given); err != nil {
			return fmt.Errorf("the arguments are %w", err)
		}
	}
	for _, w := range words {
		if w.Form == schema.JSON && w.Fault == nil && !json.Valid([]byte(w.Value)) {
			return fmt.Errorf("argument %q: not JSON", schema.Short(w.Typed))
		}
	}
	return nil
}

// ask sends a call as a frame of type kind, and waits for its answer. If the answer is an error
// frame, ask returns the error.
func (inst *instance) ask(ctx context.Context, kind byte, c *call) (frame, *hook.Error) {
	c.began, c.frame = time.Now(), seal(c.frame, kind, 0)
	if kind != frameProbe {
		inst.interruptHungProbe()
	}
	select {
	case <-inst.slots:
	default:
		select {
		case <-inst.slots:
		case <-ctx.Done():
			return frame{}, hook.Ended(ctx, c.hook, "", false)
		case <-inst.lost:
			return frame{}, inst.lostError(c.hook, false)
		}
	}
	number, err := inst.begin(c)
	if err != nil {
		return frame{}, &hook.Error{Kind: hook.Unavailable, Hook: c.hook, Err: err}
	}
	return inst.await(ctx, c, number)
}

// begin numbers a call, or the calls of a series, and queues the frames. The call keeps the
// caller's slot until it ends.
func (inst *instance) begin(c *call) (number uint32, err error) {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	switch {
	case inst.terminating:
		err = errors.New("the worker did not answer for an earlier call and is being stopped")
	case inst.over || inst.proc.Exited():
		err = errEnded
	}
	if err != nil {
		inst.slots <- struct{}{}
		return 0, err
	}
	if inst.last > math.MaxUint32-maxPart {
		inst.last = 0 // 0 means the worker itself
	}
	c.number = inst.last + 1
	inst.calls = append(inst.calls, c)
	inst.passTurn()
	inst.enqueueCalls(c, c.frame)
	return c.number, nil
}

// extend queues the frames of further calls of a series. It returns false if the series has
// ended, or if some of its calls were rejected.
func (inst *instance) extend(c *call, frames []byte) bool {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if c.isOver() || inst.terminating || c.last != inst.last || inst.last > math.MaxUint32-maxPart {
		return false
	}
	inst.enqueueCalls(c, frames)
	return true
}

// enqueueCalls numbers calls and queues their frames. mu is held.
func (inst *instance) enqueueCalls(c *call, frames []byte) {
	for at := 0; at < len(frames); at += headerSize + int(binary.LittleEndian.Uint32(frames[at:])) {
		inst.last++
		binary.LittleEndian.PutUint32(frames[at+5:], inst.last)
	}
	c.last = inst.last
	inst.enqueue(outgoing{call: c, last: c.last, frame: frames})
}
