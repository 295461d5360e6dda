package pyworker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

// settleLimit bounds the wait for what a hook printed.
const settleLimit = 20 * time.Millisecond

var (
	errEnded   = errors.New("the plugin has ended")
	errStopped = errors.New("the plugin was stopped during the call")
)

// Call runs one hook. See [hook.Caller] for the promises.
func (w *instance) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	if c.Input != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Hook: c.Hook,
			Err: errors.New("a functions file takes no stream of input")}
	}
	p := newPending(c.Hook)
	defer p.free()
	if err := w.describeCall(ctx, c, p); err != nil {
		return hook.Result{}, err
	}
	p.emit, p.collects = c.Emit, c.Emit == nil
	f, err := w.ask(ctx, wire.Call, p)
	if err != nil {
		return hook.Result{}, err
	}
	if !p.settled { // what the hook printed comes before its result
		w.proc.Settle(settleLimit)
	}
	r := hook.Result{Item: hook.Item{Value: f.Body, Binary: f.Type == wire.Bytes}, Took: p.took}
	if f.Type == wire.End {
		r.Streamed = true
		if c.Emit == nil {
			r.Value = fmt.Appendf(nil, "[%s]", bytes.Join(p.collected, []byte(",")))
		}
	}
	return r, nil
}

// describeCall appends the body of a call frame. Words are typed by the hook's
// signature, which the worker is asked for once.
func (w *instance) describeCall(ctx context.Context, c hook.Call, p *pending) *hook.Error {
	b := appendName(append(p.frame, `{"hook":`...), c.Hook)
	given := bytes.TrimSpace(c.Args.JSON)
	switch {
	case len(c.Args.Words) > 0:
		args, err := w.bind(ctx, c)
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
		return &hook.Error{Kind: hook.Request, Hook: c.Hook,
			Err: errors.New("the arguments are neither a JSON object nor an array")}
	}
	p.frame = append(b, '}')
	if size := len(p.frame) - wire.HeaderSize; size > wire.MaxBody {
		return &hook.Error{Kind: hook.Request, Hook: c.Hook,
			Err: fmt.Errorf("the arguments take %d bytes, at most %d are sent", size, wire.MaxBody)}
	}
	return nil
}

// appendName appends a name as JSON.
func appendName(b []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			text, err := json.Marshal(name)
			if err != nil {
				panic(err) // a string always marshals
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), name...), '"')
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

// ask sends p's frame and waits for its answer, which is none of the errors.
func (w *instance) ask(ctx context.Context, t wire.Type, p *pending) (wire.Frame, *hook.Error) {
	if t != wire.Probe {
		_ = w.relieve(t) // which condemns a worker that does not answer
	}
	if err := w.enter(ctx, p); err != nil {
		return wire.Frame{}, err
	}
	brisk, err := w.begin(t, p)
	if err != nil {
		w.free <- struct{}{}
		return wire.Frame{}, &hook.Error{Kind: hook.Unavailable, Hook: p.hook, Err: err}
	}
	defer w.finish(p)
	if brisk {
		w.takeFirst(p)
	}
	return w.await(ctx, p)
}

// enter waits until the worker takes one more call.
func (w *instance) enter(ctx context.Context, p *pending) *hook.Error {
	select {
	case <-w.free:
		return nil
	default:
	}
	select {
	case <-w.free:
		return nil
	case <-ctx.Done():
		return hook.Ended(ctx, p.hook, "no result", p.began, false)
	case <-w.lost:
		return w.ended(p, false)
	}
}

// await passes the items on until the call is answered.
func (w *instance) await(ctx context.Context, p *pending) (wire.Frame, *hook.Error) {
	for {
		select {
		case <-p.wake: // by itself, which is quicker
		default:
			select {
			case <-p.wake:
			case <-ctx.Done():
				sent, at := w.interrupt(p)
				return wire.Frame{}, p.canceled(ctx, sent, at)
			}
		}
		items, f, over := w.arrived(p)
		if err := w.emit(p, items, over); err != nil {
			if over {
				return wire.Frame{}, p.notEmitted(err)
			}
			if _, at := w.interrupt(p); ctx.Err() != nil {
				return wire.Frame{}, p.canceled(ctx, true, at)
			}
			return wire.Frame{}, p.notEmitted(err)
		}
		switch {
		case f.Type != 0:
			return f, w.failure(p, f)
		case over:
			return wire.Frame{}, w.ended(p, p.begun)
		}
	}
}

// arrived takes what has come for a call: items, and the answer, if it is not the
// zero frame. Over means that nothing else comes.
func (w *instance) arrived(p *pending) (items [][]byte, f wire.Frame, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	items, p.items = p.items, nil
	return items, p.answer, p.answered || p.lost
}

// emit passes items on, and grants the worker as much again: at once for all of
// them, as many small items come together.
func (w *instance) emit(p *pending, items [][]byte, over bool) error {
	taken := 0
	for _, item := range items {
		if p.collects {
			p.collected = append(p.collected, item)
		} else if err := p.emit(hook.Item{Value: item}); err != nil {
			return err
		}
		taken += len(item)
	}
	if taken > 0 && !over {
		w.mu.Lock()
		defer w.mu.Unlock()
		p.under -= taken
		w.control(wire.Credit, p.number, wire.PutNumber(uint32(taken)))
	}
	return nil
}

// canceled tells why ctx ended a call, and where it was.
func (p *pending) canceled(ctx context.Context, sent bool, at []hook.Frame) *hook.Error {
	e := hook.Ended(ctx, p.hook, "no result", p.began, sent)
	e.At = at
	return e
}

// notEmitted tells why the receiver of the items gave the call up.
func (p *pending) notEmitted(err error) *hook.Error {
	if e := (*hook.Error)(nil); errors.As(err, &e) {
		own := *e
		own.Hook, own.Begun = p.hook, true
		return &own
	}
	return &hook.Error{Kind: hook.Canceled, Hook: p.hook, Begun: true, Err: err}
}

// ended tells a call that the process is gone.
func (w *instance) ended(p *pending, sent bool) *hook.Error {
	exit := w.Exit()
	e := &hook.Error{Kind: hook.Crash, Hook: p.hook, Begun: sent, Exit: &exit, At: stackFrames(exit.Stderr)}
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
		e.Kind, e.Err = hook.Canceled, errStopped
	default:
		e.Err = errors.New("the plugin ended during the call")
	}
	return e
}
