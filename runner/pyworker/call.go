package pyworker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

const (
	// answerLimit is how long an interrupted call may take to answer before
	// its worker is condemned.
	answerLimit = 200 * time.Millisecond
	// settleLimit bounds the wait for what a hook printed.
	settleLimit = 20 * time.Millisecond
	// bigBody is the size from which a write may wait for the worker to read.
	// Anything smaller fits into an empty pipe.
	bigBody = 32 << 10
)

var errEnded = errors.New("the plugin has ended")

// pending is one call that waits for its answer. The reader puts frames in, the
// caller takes them out.
type pending struct {
	hook   string
	began  time.Time
	emit   func(hook.Item) error // nil: takes no items
	answer chan wire.Frame
	wake   chan struct{} // has a token when items wait
	lost   chan struct{} // closed when no answer will come

	mu    sync.Mutex // protects following
	items [][]byte
	under int // bytes of items under way: come, or waiting, but not yet granted again
}

// take is called by the reader for each frame of the call.
func (p *pending) take(f wire.Frame) error {
	if f.Type != wire.Item {
		select {
		case p.answer <- f:
			return nil
		default:
			return fmt.Errorf("a second answer for call %d", f.Call)
		}
	}
	if p.emit == nil {
		return fmt.Errorf("an item for call %d, which is no stream", f.Call)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.under > 0 && p.under+len(f.Body) > wire.Window {
		return fmt.Errorf("call %d has more than %d bytes of items under way", f.Call, wire.Window)
	}
	p.under += len(f.Body)
	p.items = append(p.items, f.Body)
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

func (p *pending) lose() { close(p.lost) }

// drain takes the items that wait.
func (p *pending) drain() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	items := p.items
	p.items = nil
	return items
}

// granted notes that the worker may send n more bytes.
func (p *pending) granted(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under -= n
}

// Call runs one hook. See [hook.Caller] for the promises.
func (w *instance) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	began := time.Now()
	if c.Input != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Hook: c.Hook,
			Err: errors.New("a functions file takes no stream of input")}
	}
	body, err := w.body(ctx, c)
	if err != nil {
		return hook.Result{}, err
	}
	var collected [][]byte
	p := &pending{hook: c.Hook, began: began, emit: c.Emit}
	if p.emit == nil {
		p.emit = func(item hook.Item) error { collected = append(collected, item.Value); return nil }
	}
	f, err := w.ask(ctx, wire.Call, body, p)
	if err != nil {
		return hook.Result{}, err
	}
	w.proc.Settle(settleLimit) // what the hook printed comes before its result
	r := hook.Result{Item: hook.Item{Value: f.Body, Binary: f.Type == wire.Bytes}, Took: time.Since(began)}
	if f.Type == wire.End {
		r.Streamed = true
		if c.Emit == nil {
			r.Value = fmt.Appendf(nil, "[%s]", bytes.Join(collected, []byte(",")))
		}
	}
	return r, nil
}

// body is the body of a call frame. Words are typed by the hook's signature,
// which the worker is asked for once.
func (w *instance) body(ctx context.Context, c hook.Call) ([]byte, *hook.Error) {
	name, err := json.Marshal(c.Hook)
	if err != nil {
		panic(err) // a string always marshals
	}
	b := append([]byte(`{"hook":`), name...)
	given := bytes.TrimSpace(c.Args.JSON)
	switch {
	case len(c.Args.Words) > 0:
		args, err := w.bind(ctx, c)
		if err != nil {
			return nil, err
		}
		b = appendArguments(b, args)
	case len(given) == 0:
	case given[0] == '[':
		b = append(append(b, `,"args":`...), given...)
	case given[0] == '{':
		b = append(append(b, `,"kwargs":`...), given...)
	default:
		return nil, &hook.Error{Kind: hook.Request, Hook: c.Hook,
			Err: errors.New("the arguments are neither a JSON object nor an array")}
	}
	b = append(b, '}')
	if len(b) > wire.MaxBody {
		return nil, &hook.Error{Kind: hook.Request, Hook: c.Hook,
			Err: fmt.Errorf("the arguments take %d bytes, at most %d are sent", len(b), wire.MaxBody)}
	}
	return b, nil
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
		name, _ := json.Marshal(n.Name) // a string always marshals
		b = append(append(append(b, name...), ':'), n.Value...)
	}
	return append(b, '}')
}

// bind types a call's words by the hook's signature.
func (w *instance) bind(ctx context.Context, c hook.Call) (schema.Arguments, *hook.Error) {
	w.mu.Lock()
	h, ok := w.known[c.Hook]
	w.mu.Unlock()
	if !ok {
		s, err := w.describe(ctx, c.Hook)
		if err != nil {
			return schema.Arguments{}, err
		}
		if len(s.Hooks) != 1 {
			return schema.Arguments{}, &hook.Error{Kind: hook.Internal, Hook: c.Hook,
				Err: fmt.Errorf("the worker described %d hooks, want 1", len(s.Hooks))}
		}
		h = s.Hooks[0]
		w.mu.Lock()
		w.known[c.Hook] = h
		w.mu.Unlock()
	}
	args, err := schema.Bind(h, c.Args.Words)
	if err != nil {
		return args, &hook.Error{Kind: hook.Request, Hook: c.Hook, Err: err}
	}
	return args, nil
}

// ask sends one frame and waits for its answer, which is none of the errors.
func (w *instance) ask(ctx context.Context, t wire.Type, body []byte, p *pending) (wire.Frame, *hook.Error) {
	if p.began.IsZero() {
		p.began = time.Now()
	}
	select {
	case token := <-w.free:
		defer func() { w.free <- token }()
	case <-ctx.Done():
		return wire.Frame{}, hook.Ended(ctx, p.hook, "no result", p.began, false)
	case <-w.lost:
		return wire.Frame{}, w.ended(p, false)
	}
	p.answer, p.wake, p.lost = make(chan wire.Frame, 1), make(chan struct{}, 1), make(chan struct{})
	number, err := w.begin(p)
	if err != nil {
		return wire.Frame{}, &hook.Error{Kind: hook.Unavailable, Hook: p.hook, Err: err}
	}
	defer w.finish(number)
	if len(body) > bigBody {
		// Half a frame cannot be taken back.
		stop := context.AfterFunc(ctx, func() { w.condemn(number) })
		_ = w.send(t, number, body)
		stop()
	} else {
		_ = w.send(t, number, body) // a worker that is gone is told below
	}
	return w.await(ctx, number, p)
}

// await passes the items on until the call is answered.
func (w *instance) await(ctx context.Context, number uint32, p *pending) (wire.Frame, *hook.Error) {
	for {
		select {
		case <-p.wake:
			if err := w.emit(number, p); err != nil {
				at := w.interrupt(number, p)
				if ctx.Err() != nil {
					return wire.Frame{}, p.canceled(ctx, at)
				}
				return wire.Frame{}, p.notEmitted(err)
			}
		case f := <-p.answer:
			if err := w.emit(number, p); err != nil {
				return wire.Frame{}, p.notEmitted(err)
			}
			return f, p.failure(f)
		case <-p.lost:
			// All that came before is in p: the reader closed lost after it.
			if err := w.emit(number, p); err != nil {
				return wire.Frame{}, p.notEmitted(err)
			}
			select {
			case f := <-p.answer:
				return f, p.failure(f)
			default:
				return wire.Frame{}, w.ended(p, true)
			}
		case <-ctx.Done():
			return wire.Frame{}, p.canceled(ctx, w.interrupt(number, p))
		}
	}
}

// emit passes on the items that wait, and grants the worker as much again: at
// once for all of them, as many small items come together.
func (w *instance) emit(number uint32, p *pending) error {
	taken := 0
	for _, item := range p.drain() {
		if err := p.emit(hook.Item{Value: item}); err != nil {
			return err
		}
		taken += len(item)
	}
	if taken > 0 {
		p.granted(taken)
		_ = w.send(wire.Credit, number, wire.PutNumber(uint32(taken)))
	}
	return nil
}

// canceled tells why ctx ended a call that was sent, and where it was.
func (p *pending) canceled(ctx context.Context, at []hook.Frame) *hook.Error {
	e := hook.Ended(ctx, p.hook, "no result", p.began, true)
	e.At = at
	return e
}

// notEmitted tells why the receiver of the items gave the call up.
func (p *pending) notEmitted(err error) *hook.Error {
	if e := (*hook.Error)(nil); errors.As(err, &e) {
		own := *e
		own.Hook, own.Sent = p.hook, true
		return &own
	}
	return &hook.Error{Kind: hook.Canceled, Hook: p.hook, Sent: true, Err: err}
}

// interrupt makes the worker give a call up, and condemns it when it does not
// answer in time. It returns where the plugin was, as far as that is known.
func (w *instance) interrupt(number uint32, p *pending) []hook.Frame {
	go func() { _ = w.send(wire.Cancel, number) }() // ends with the process, at the latest
	w.mu.Lock()
	alone := len(w.calls) == 1
	w.mu.Unlock()
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	again := time.NewTicker(answerLimit / 2)
	defer again.Stop()
	for waiting := true; waiting; {
		// A signal would hit whichever call is running. Python does not see one
		// that comes just before it blocks, so there is a second; the worker
		// minds only one.
		if alone {
			_ = w.proc.Interrupt() // a process that is gone is told by lost
		}
		select {
		case f := <-p.answer:
			return answeredAt(f)
		case <-p.lost:
			return nil
		case <-again.C:
		case <-limit.C:
			waiting = false
		}
	}
	w.condemn(number)
	select {
	case <-w.proc.Done():
		return stackFrames(w.proc.Exit().Stacks)
	default:
		return nil
	}
}

// answeredAt is where an interrupted call says that it was.
func answeredAt(f wire.Frame) []hook.Frame {
	a, err := readAnswer(f)
	if err != nil {
		return nil
	}
	if raised := a.raised(); raised != nil {
		return raised.Frames
	}
	return nil
}

// ended tells a call that the process is gone.
func (w *instance) ended(p *pending, sent bool) *hook.Error {
	exit := w.Exit()
	e := &hook.Error{Kind: hook.Crash, Hook: p.hook, Sent: sent, Exit: &exit, At: stackFrames(exit.Stderr)}
	w.mu.Lock()
	condemned := w.condemned
	w.mu.Unlock()
	switch {
	case !sent:
		e.Kind, e.Err = hook.Unavailable, errEnded
	case w.fault != nil:
		e.Err = fmt.Errorf("the worker's pipe: %w", w.fault)
	case condemned:
		e.Err = errors.New("the worker was killed because another call did not end")
	case exit.Stopped:
		e.Kind, e.Err = hook.Canceled, errors.New("the plugin was stopped during the call")
	default:
		e.Err = errors.New("the plugin ended during the call")
	}
	return e
}
