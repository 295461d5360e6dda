package pyworker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// call is one call that waits for its answer. The reader adds frames, the caller
// takes them.
type call struct {
	hook      string
	began     time.Time
	limit     time.Duration // from the call's turn; 0 for none
	expired   *time.Timer   // runs from the call's turn; nil without a limit
	frame     []byte
	emit      func(hook.Item) error // receives the items, unless they are collected
	collected [][]byte
	stream    bool          // items may come
	probe     bool          // the worker is not condemned for it
	more      chan struct{} // has a token when there are items
	done      chan struct{} // closed when the call was answered or lost

	// Protected by the instance's mu until done is closed.
	number    uint32
	sent      bool          // written to the worker, at least in part
	hasTurn   bool          // the worker runs the call, or will as soon as it has read it
	turn      chan struct{} // closed when hasTurn is set; nil while nobody waits for it
	abandoned bool          // the caller is gone
	items     [][]byte
	underWay  int   // bytes of items that came and were not granted again
	answer    frame // the zero frame if the call was lost
	begun     bool  // a lost call may have begun
	stood     []hook.Frame
}

// newCall returns a call with room for the header in its frame.
func newCall(hookName string) *call {
	return &call{
		hook: hookName, began: time.Now(), frame: make([]byte, headerSize, 128),
		more: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// takeTurn records that the worker runs the call, or will as soon as it has read it.
func (c *call) takeTurn() {
	if c.hasTurn {
		return
	}
	c.hasTurn = true
	if c.expired != nil {
		c.expired.Reset(c.limit)
	}
	if c.turn != nil {
		close(c.turn)
	}
}

// addItem adds an item of a stream.
func (c *call) addItem(item []byte) error {
	switch {
	case c.abandoned: // the worker may have sent it before it saw the cancel
		return nil
	case !c.stream:
		return fmt.Errorf("an item for call %d, which is no stream", c.number)
	case c.underWay > 0 && c.underWay+len(item) > window:
		return fmt.Errorf("call %d has more than %d bytes of items under way", c.number, window)
	}
	c.underWay += len(item)
	c.items = append(c.items, item)
	select {
	case c.more <- struct{}{}:
	default:
	}
	return nil
}

// isOver reports whether the call was answered or lost.
func (c *call) isOver() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Call runs one hook. See [hook.Caller] for the promises.
func (w *instance) Call(ctx context.Context, hc hook.Call) (hook.Result, error) {
	if hc.Input != nil {
		return hook.Result{}, requestError(hc.Hook, errors.New("a functions file takes no stream of input"))
	}
	c := newCall(hc.Hook)
	if err := w.appendArgs(ctx, c, hc); err != nil {
		return hook.Result{}, err
	}
	c.limit, c.stream = hc.Limit, true
	if c.emit = hc.Emit; c.emit == nil {
		c.emit = func(item hook.Item) error {
			c.collected = append(c.collected, item.Value)
			return nil
		}
	}
	f, err := w.ask(ctx, frameCall, c)
	if err != nil {
		return hook.Result{}, err
	}
	r := hook.Result{Item: hook.Item{Value: f.body, Binary: f.kind == frameBytes}, Took: time.Since(c.began)}
	if f.kind == frameEnd {
		r.Streamed = true
		if hc.Emit == nil {
			r.Value = fmt.Appendf(nil, "[%s]", bytes.Join(c.collected, []byte(",")))
		}
	}
	return r, nil
}

func requestError(hookName string, err error) *hook.Error {
	e := hook.NewError(hook.Request, err)
	e.Hook = hookName
	if bad := (*schema.ArgumentError)(nil); errors.As(err, &bad) {
		e.Place = bad.Place
	}
	return e
}

// appendArgs appends the body of a call frame. Words are typed by the hook's
// signature, which the worker describes once.
func (w *instance) appendArgs(ctx context.Context, c *call, hc hook.Call) *hook.Error {
	b := appendName(append(c.frame, `{"hook":`...), hc.Hook)
	given := bytes.TrimSpace(hc.Args.JSON)
	switch {
	case len(hc.Args.Words) > 0:
		args, err := w.bind(ctx, hc)
		if err != nil {
			return err
		}
		b = appendArguments(b, args)
	case len(given) == 0:
	case given[0] == '[':
		b = append(append(b, `,"args":`...), given...)
	case given[0] == '{':
		b = append(append(b, `,"kwargs":`...), given...)
	default:
		return requestError(hc.Hook, errors.New("the arguments are neither a JSON object nor an array"))
	}
	c.frame = append(b, '}')
	if size := len(c.frame) - headerSize; size > maxBody {
		return requestError(hc.Hook, fmt.Errorf("the arguments are %d bytes long, at most %d can be sent", size, maxBody))
	}
	return nil
}

// appendName appends a name as JSON.
func appendName(b []byte, name string) []byte {
	text, err := json.Marshal(name)
	if err != nil {
		panic(err) // a string always marshals
	}
	return append(b, text...)
}

func appendArguments(b []byte, args schema.Arguments) []byte {
	b = append(b, `,"args":[`...)
	for i, v := range args.Positions {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	b = append(b, `],"kwargs":{`...)
	for i, n := range args.Names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendName(b, n.Name), ':'), n.Value...)
	}
	return append(b, '}')
}

// bind types a call's words by the hook's signature.
func (w *instance) bind(ctx context.Context, hc hook.Call) (schema.Arguments, *hook.Error) {
	w.mu.Lock()
	h, ok := w.known[hc.Hook]
	w.mu.Unlock()
	if !ok {
		s, err := w.describe(ctx, hc.Hook)
		if err != nil {
			return schema.Arguments{}, err
		}
		if len(s.Hooks) != 1 {
			return schema.Arguments{}, &hook.Error{Kind: hook.Internal, Hook: hc.Hook,
				Err: fmt.Errorf("the worker described %d hooks, want 1", len(s.Hooks))}
		}
		h = s.Hooks[0]
		w.mu.Lock()
		w.known[hc.Hook] = h
		w.mu.Unlock()
	}
	args, err := schema.Bind(h, hc.Args.Words)
	if err != nil {
		return args, requestError(hc.Hook, err)
	}
	return args, nil
}

// ask sends a call of that type and waits for its answer. An error frame becomes an
// error.
func (w *instance) ask(ctx context.Context, kind byte, c *call) (frame, *hook.Error) {
	if kind != frameProbe {
		_ = w.pressHungProbe(kind) // condemns a worker that does not answer
	}
	select {
	case <-w.slots:
	default:
		select {
		case <-w.slots:
		case <-ctx.Done():
			return frame{}, hook.Ended(ctx, c.hook, "", c.began, false)
		case <-w.lost:
			return frame{}, w.lostError(c)
		}
	}
	if err := w.begin(kind, c); err != nil {
		w.slots <- struct{}{}
		return frame{}, &hook.Error{Kind: hook.Unavailable, Hook: c.hook, Err: err}
	}
	return w.await(ctx, c)
}

// begin queues the frame of a call.
func (w *instance) begin(kind byte, c *call) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.condemned:
		return errors.New("the worker did not answer for an earlier call and is being stopped")
	case w.over:
		return errEnded
	}
	if w.last++; w.last == 0 { // 0 is the worker itself
		w.last++
	}
	c.number = w.last
	if c.limit > 0 {
		c.expired = time.NewTimer(math.MaxInt64) // takeTurn starts it
	}
	w.calls = append(w.calls, c)
	if len(w.calls) == 1 || !w.inOrder {
		c.takeTurn()
	}
	w.enqueue(outgoing{c, seal(c.frame, kind, c.number)})
	return nil
}

// await emits the items of a call until it is over.
func (w *instance) await(ctx context.Context, c *call) (frame, *hook.Error) {
	var expired <-chan time.Time
	if c.expired != nil {
		expired = c.expired.C
		defer c.expired.Stop()
	}
	for {
		over := false
		select {
		case <-c.done:
			over = true
		case <-c.more:
		case <-ctx.Done():
			begun, at := w.cancel(c)
			e := hook.Ended(ctx, c.hook, "", c.began, begun)
			e.At = at
			return frame{}, e
		case <-expired:
			begun, at := w.cancel(c)
			return frame{}, &hook.Error{Kind: hook.Timeout, Hook: c.hook, Begun: begun, At: at,
				Err: &hook.LimitError{What: "", Limit: c.limit}}
		}
		if err := w.emitItems(c, over); err != nil {
			return frame{}, w.emitFailed(ctx, c, over, err)
		}
		switch {
		case over && c.answer.kind == 0:
			return frame{}, w.lostError(c)
		case over:
			return c.answer, w.answerError(c)
		}
	}
}

// emitItems emits the items that have come, and lets the worker send as much again:
// at once for all of them, since many small items come together.
func (w *instance) emitItems(c *call, over bool) error {
	w.mu.Lock()
	items := c.items
	c.items = nil
	w.mu.Unlock()
	size := 0
	for _, item := range items {
		if err := c.emit(hook.Item{Value: item}); err != nil {
			return err
		}
		size += len(item)
	}
	if size > 0 && !over {
		w.mu.Lock()
		defer w.mu.Unlock()
		c.underWay -= size
		w.enqueue(outgoing{frame: newFrame(frameCredit, c.number, byte(size), byte(size>>8), byte(size>>16), byte(size>>24))})
	}
	return nil
}

// emitFailed cancels a call whose items could not be emitted.
func (w *instance) emitFailed(ctx context.Context, c *call, over bool, err error) *hook.Error {
	if !over {
		if _, at := w.cancel(c); ctx.Err() != nil {
			e := hook.Ended(ctx, c.hook, "", c.began, true)
			e.At = at
			return e
		}
	}
	if e := (*hook.Error)(nil); errors.As(err, &e) {
		own := *e
		own.Hook, own.Begun = c.hook, true
		return &own
	}
	return &hook.Error{Kind: hook.Canceled, Hook: c.hook, Begun: true, Err: err}
}
