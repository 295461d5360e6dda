package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

const (
	// answerLimit is how long a daemon may take to answer a call that was
	// cancelled: the plugin has 200 ms, and then is killed.
	answerLimit = 3 * time.Second
	// inputLimit is how long a call that is over waits for its input to give the
	// item that was asked for last.
	inputLimit = 100 * time.Millisecond
)

// hearLimit is how long a daemon may take meanwhile to say that it is there. Tests
// have less.
var hearLimit = time.Second

// Forever is the limit of a call that has none, not even the daemon's.
const Forever = time.Duration(-1)

// Call runs one hook, within the limit that the daemon has for calls unless ctx
// has a deadline. See [hook.Caller] for the promises. An Input that does not end
// with ctx may be read once more after Call has returned; that item is dropped.
func (c *Client) Call(ctx context.Context, call hook.Call) (hook.Result, error) {
	return c.make(ctx, call, 0, false)
}

// CallWithin is Call with a limit, which the daemon keeps: 0 is the daemon's own,
// [Forever] is none.
func (c *Client) CallWithin(ctx context.Context, call hook.Call, limit time.Duration) (hook.Result, error) {
	return c.make(ctx, call, limit, false)
}

// Replay is [Client.CallWithin] on every worker, now and after every later start.
func (c *Client) Replay(ctx context.Context, call hook.Call, limit time.Duration) (hook.Result, error) {
	return c.make(ctx, call, limit, true)
}

// Resume ends the call that [Adopt] goes on with. It is called once.
func (c *Client) Resume(ctx context.Context, emit func(hook.Item) error) (hook.Result, error) {
	a := c.left
	defer c.forget(a)
	return outcome(c.finish(ctx, a, emit, nil))
}

func outcome(r hook.Result, err *hook.Error) (hook.Result, error) {
	if err != nil {
		return hook.Result{}, err
	}
	return r, nil
}

// make makes one call.
func (c *Client) make(ctx context.Context, call hook.Call, limit time.Duration, replay bool) (hook.Result, error) {
	began := time.Now()
	own := ask{Hook: call.Hook, Args: call.Args.JSON, Items: call.Emit != nil, Input: call.Input != nil, Replay: replay}
	own.words(call.Args.Words)
	deadline, bounded := ctx.Deadline()
	if limit > 0 && (!bounded || deadline.After(began.Add(limit))) {
		var cancel context.CancelFunc
		deadline, bounded = began.Add(limit), true
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	switch {
	case bounded:
		own.TimeoutMS = max(1, deadline.Sub(began).Milliseconds())
	case limit < 0:
		own.TimeoutMS = -1
	}
	body, err := json.Marshal(own)
	if err == nil && len(body) > wire.MaxBody {
		err = fmt.Errorf("the arguments take %d bytes, at most %d are sent", len(body), wire.MaxBody)
	}
	if err != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Hook: call.Hook, Err: err}
	}
	a := c.expect(0, call.Hook, own.Items)
	defer c.forget(a)
	if err := c.write(ctx, wire.Append(nil, wire.Call, a.number, body)); err != nil && ctx.Err() != nil {
		return hook.Result{}, hook.Ended(ctx, call.Hook, "no result", began, false)
	}
	var in *outflow
	if call.Input != nil {
		var done func()
		in, done = c.feed(ctx, a, call.Input)
		defer done()
	}
	return outcome(c.finish(ctx, a, call.Emit, in))
}

// words are the arguments as they were typed, with what the files hold that they
// name: the daemon is elsewhere.
func (a *ask) words(words []schema.Word) {
	for i, w := range words {
		a.Words = append(a.Words, []byte(w.Typed))
		if content, named := fileOf(w); named {
			if a.Files == nil {
				a.Files = make(map[int][]byte)
			}
			a.Files[i] = content
		}
	}
}

// finish takes what comes until the call is answered.
func (c *Client) finish(ctx context.Context, a *asked, emit func(hook.Item) error, in *outflow) (hook.Result, *hook.Error) {
	quiet, patience := time.NewTimer(a.quiet), a.patience
	defer quiet.Stop()
	for {
		f, ok := a.next()
		switch {
		case ok && f.Type == wire.Item:
			if err := c.item(a, f, emit); err != nil {
				return hook.Result{}, c.notEmitted(ctx, a, err)
			}
			quiet.Reset(pingEvery)
			continue
		case ok:
			r, err := c.result(a, f, in)
			if at, ok := ctx.Deadline(); ok && err != nil && err.Kind == hook.Timeout && !time.Now().Before(at) {
				<-ctx.Done() // the daemon was just faster to see that the limit is over
				err = ours(ctx, a, err)
			}
			return r, err
		}
		select {
		case <-a.wake:
		case <-c.gone:
			if f, ok := a.next(); ok {
				a.unread(f)
				continue
			}
			return hook.Result{}, c.ended(a)
		case <-quiet.C:
			if !c.ping(ctx, patience) {
				c.lose(c.unanswered())
			}
			quiet.Reset(pingEvery)
			patience = pingLimit
		case <-ctx.Done():
			return hook.Result{}, c.cancel(ctx, a)
		}
	}
}

// unread puts a frame back.
func (a *asked) unread(f arrived) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append([]arrived{f}, a.queue...)
}

// item passes an item on and opens the window again.
func (c *Client) item(a *asked, f arrived, emit func(hook.Item) error) error {
	item := hook.Item{Value: f.Body}
	if note := c.noted(f.note); note != nil {
		item.Sole, item.Binary = note.Sole, note.Binary
	}
	if emit != nil {
		if err := emit(item); err != nil {
			return err
		}
	}
	if n := a.taken(wire.ItemSize(len(f.Body))); n > 0 {
		_ = c.write(context.Background(), wire.Append(nil, wire.Credit, a.number, wire.PutNumber(uint32(n))))
	}
	return nil
}

// noted reads what was noted of a frame, nil when nothing was.
func (c *Client) noted(text []byte) *about {
	var note about
	if len(text) == 0 || json.Unmarshal(text, &note) != nil {
		return nil
	}
	if note.Note != "" && c.Note != nil {
		c.Note(note.Note)
	}
	return &note
}

// result is what the answer says.
func (c *Client) result(a *asked, f arrived, in *outflow) (hook.Result, *hook.Error) {
	r := hook.Result{Item: hook.Item{Value: f.Body, Binary: f.Type == wire.Bytes}, Took: time.Since(a.began)}
	if note := c.noted(f.note); note != nil {
		r.Sole, r.Streamed = note.Sole, note.Streamed
		if note.TookMS > 0 {
			r.Took = time.Duration(note.TookMS * float64(time.Millisecond))
		}
	}
	switch f.Type {
	case wire.Result, wire.Bytes, wire.Answer:
		return r, nil
	case wire.End:
		r.Value, r.Streamed = nil, true
		return r, nil
	case wire.Error:
		e := c.readTold(f.Body)
		in.explain(e, f.Body)
		return hook.Result{}, e
	}
	return hook.Result{}, &hook.Error{Kind: hook.Internal, Hook: a.hook, Begun: true,
		Err: fmt.Errorf("the daemon answered a call with %q", string(f.Type))}
}

// cancel has a call given up whose ctx is over, and waits for where it was.
func (c *Client) cancel(ctx context.Context, a *asked) *hook.Error {
	told, heard := (*hook.Error)(nil), false
	if !a.brief {
		told, heard = c.giveUp(a)
	}
	e := ours(ctx, a, told)
	if !heard && e.Kind == hook.Timeout {
		e.Err = fmt.Errorf("%w: %w", e.Err, c.unanswered())
	}
	return e
}

// ours is the error of a call whose ctx is over, with what the daemon told of it, if
// it did.
func ours(ctx context.Context, a *asked, told *hook.Error) *hook.Error {
	e := hook.Ended(ctx, a.hook, "no result", a.began, true)
	if told == nil {
		return e
	}
	e.At, e.Begun = told.At, told.Begun
	if cause := (*hook.ToldError)(nil); errors.As(told, &cause) { // which knows the plugin better
		e.Err = &hook.ToldError{Text: e.Err.Error(), Context: cause.Context, Err: e.Err}
	}
	return e
}

// giveUp cancels a call and returns the error that answers it; nil when a result
// did, or nothing in time. heard is false for a daemon that hangs: asked at the same
// time whether it is there, it does not say so.
func (c *Client) giveUp(a *asked) (told *hook.Error, heard bool) {
	limit, silence := time.NewTimer(answerLimit), time.NewTimer(hearLimit)
	defer limit.Stop()
	defer silence.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), hearLimit)
	defer cancel()
	there := c.expect(0, "", false)
	defer c.forget(there)
	_ = c.write(ctx, append(wire.Append(nil, wire.Cancel, a.number), isThere(there)...))
	for {
		f, ok := a.next()
		switch {
		case ok && f.Type == wire.Error:
			return c.readTold(f.Body), true
		case ok && f.Type != wire.Item:
			return nil, true
		case ok:
			continue
		}
		select {
		case <-a.wake:
		case <-there.wake:
			silence.Stop()
		case <-silence.C:
			return nil, false
		case <-c.gone:
			return nil, true
		case <-limit.C:
			return nil, true
		}
	}
}

// notEmitted gives a call up whose items nobody takes.
func (c *Client) notEmitted(ctx context.Context, a *asked, err error) *hook.Error {
	if ctx.Err() != nil {
		return c.cancel(ctx, a)
	}
	c.giveUp(a)
	if e := (*hook.Error)(nil); errors.As(err, &e) {
		own := *e
		own.Hook, own.Begun = a.hook, true
		return &own
	}
	return &hook.Error{Kind: hook.Canceled, Hook: a.hook, Begun: true, Err: err}
}
