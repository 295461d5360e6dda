package daemon

import (
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

// notePause is how long callers are told what was found before: many calls come in
// that time, and each look asks the system for every file of the plugin.
const notePause = 100 * time.Millisecond

// ask is the body of a Call frame.
type ask struct {
	Hook string `json:"hook"`
	// Words are as they were typed, in any encoding, Files what the files hold that
	// they name.
	Words [][]byte        `json:"words,omitempty"`
	Files map[int][]byte  `json:"files,omitempty"`
	Args  json.RawMessage `json:"args,omitempty"`
	// Items tells that a stream is taken item by item, Input that one is sent.
	Items  bool `json:"items,omitempty"`
	Input  bool `json:"input,omitempty"`
	Replay bool `json:"replay,omitempty"`
	// TimeoutMS is the call's limit: absent is the daemon's, negative none.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// plain is a call that came as words alone.
	plain bool
}

// about is the body of a Note frame: what there is to say beside a value.
type about struct {
	TookMS float64    `json:"took_ms,omitempty"`
	Sole   *hook.Sole `json:"sole,omitempty"`
	// Streamed tells that the value is all items of a stream, Binary that an item
	// is bytes.
	Streamed bool `json:"streamed,omitempty"`
	Binary   bool `json:"binary,omitempty"`
	// Note is what the caller should know.
	Note string `json:"note,omitempty"`
}

func readAsk(f wire.Frame) (ask, error) {
	var a ask
	if f.Type == wire.Ask {
		name, words, ok := wire.ParseAsk(f.Body)
		if !ok {
			return a, errors.New("a call that cannot be read")
		}
		a.Hook = name
		for _, word := range words {
			a.Words = append(a.Words, []byte(word))
		}
		a.Items, a.plain = true, true
		return a, nil
	}
	if err := json.Unmarshal(f.Body, &a); err != nil {
		return a, fmt.Errorf("a call that cannot be read: %w", err)
	}
	return a, nil
}

// args are the arguments. The files that words name were read by the client.
func (a ask) args() (hook.Args, error) {
	args := hook.Args{JSON: a.Args}
	for i, typed := range a.Words {
		var read func(string) ([]byte, error)
		if content, ok := a.Files[i]; ok {
			read = func(string) ([]byte, error) { return content, nil }
		}
		word, err := schema.ParseWords([]string{string(typed)}, read)
		if err != nil {
			return args, err
		}
		args.Words = append(args.Words, word...)
	}
	return args, nil
}

// serving is one call or message that is being answered.
type serving struct {
	conn   *connection
	number uint32
	began  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc
	input  *inflow // nil: the call has no input

	credit chan struct{} // has a token when the window opened
	mu     sync.Mutex
	under  int // bytes of items under way
}

func newServing(c *connection, number uint32) *serving {
	k := &serving{conn: c, number: number, began: time.Now(), credit: make(chan struct{}, 1)}
	k.ctx, k.cancel = context.WithCancelCause(c.ctx)
	return k
}

// expect prepares for the call's input, before any of it can come.
func (k *serving) expect(a ask) {
	if a.Input {
		k.input = newInflow(func(n int) {
			k.conn.write(wire.Append(nil, wire.Credit, k.number, wire.PutNumber(uint32(n))))
		})
	}
}

// refuse answers with an error.
func (k *serving) refuse(err error) { k.conn.fail(k.number, err) }

// call makes a call and answers it.
func (k *serving) call(a ask) {
	ctx, cancel := k.limited(a)
	defer cancel()
	session, failure, err := k.conn.server.await(ctx)
	switch {
	case failure != nil:
		k.conn.told(k.number, *failure)
		return
	case err != nil:
		k.refuse(hook.Ended(ctx, a.Hook, "the plugin was not ready", k.began, false))
		return
	}
	args, err := a.args()
	if err != nil {
		k.refuse(&hook.Error{Kind: hook.Request, Hook: a.Hook, Err: err})
		return
	}
	call := hook.Call{Hook: a.Hook, Args: args}
	if a.Items {
		call.Emit = func(item hook.Item) error { return k.emit(ctx, item) }
	}
	if k.input != nil {
		call.Input = k.input.all(ctx)
	}
	do := session.Call
	if a.Replay {
		do = session.Replay
	}
	r, err := do(ctx, call)
	if err == nil && len(r.Value) > wire.MaxBody {
		e := tooLong(r.Value)
		e.Hook, err = a.Hook, e
	}
	if err != nil {
		k.failed(err)
		return
	}
	k.answer(r, a)
}

// limited is the call's context: its own limit, or the daemon's.
func (k *serving) limited(a ask) (context.Context, context.CancelFunc) {
	limit := time.Duration(a.TimeoutMS) * time.Millisecond
	if limit == 0 {
		limit = k.conn.server.opts.CallTimeout
	}
	if limit <= 0 {
		return context.WithCancel(k.ctx)
	}
	return context.WithDeadline(k.ctx, k.began.Add(limit))
}

// failed answers a call that failed.
func (k *serving) failed(err error) {
	told := k.conn.server.tell(err)
	var input *inputError
	told.Input = errors.As(err, &input)
	k.conn.told(k.number, told)
}

// answer answers a call that did not.
func (k *serving) answer(r hook.Result, a ask) {
	note := about{Streamed: r.Streamed, Note: k.conn.server.note(false)}
	if !a.plain {
		note.TookMS, note.Sole = float64(r.Took.Microseconds())/1000, r.Sole
	}
	frame := wire.Result
	switch {
	case r.Streamed && r.Value == nil:
		frame = wire.End
		note.Streamed = false
	case r.Binary:
		frame = wire.Bytes
	}
	k.send(frame, r.Value, note)
}

// emit sends an item once its window is open. The error is why the call is over.
func (k *serving) emit(ctx context.Context, item hook.Item) error {
	for !k.claim(wire.ItemSize(len(item.Value))) {
		select {
		case <-k.credit:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(item.Value) > wire.MaxBody {
		return tooLong(item.Value)
	}
	return k.conn.writeWithin(ctx, k.frames(wire.Item, item.Value, about{Sole: item.Sole, Binary: item.Binary}))
}

// claim takes room for an item of n bytes, if there is some.
func (k *serving) claim(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.under > 0 && k.under+n > wire.Window {
		return false
	}
	k.under += n
	return true
}

// grant opens the window by n bytes.
func (k *serving) grant(n int) {
	k.mu.Lock()
	k.under = max(0, k.under-n)
	k.mu.Unlock()
	select {
	case k.credit <- struct{}{}:
	default:
	}
}

// send sends a value and what there is to say of it, in one write.
func (k *serving) send(t wire.Type, value []byte, note about) {
	k.conn.write(k.frames(t, value, note))
}

// frames are a value and what there is to say of it.
func (k *serving) frames(t wire.Type, value []byte, note about) []byte {
	frames := make([]byte, 0, 2*wire.HeaderSize+len(value)+128)
	if note != (about{}) {
		text, _ := json.Marshal(note) // which is plain
		frames = wire.Append(frames, wire.Note, k.number, text)
	}
	return wire.Append(frames, t, k.number, value)
}

// tooLong says that a value cannot be sent.
func tooLong(value []byte) *hook.Error {
	return &hook.Error{Kind: hook.Failed, Begun: true,
		Err: fmt.Errorf("the result takes %d bytes, at most %d are sent", len(value), wire.MaxBody)}
}

// note is what callers should know: what was found less than notePause ago, unless it
// is asked for now.
func (s *Server) note(now bool) string {
	if s.opts.Note == nil {
		return ""
	}
	s.noting.Lock()
	defer s.noting.Unlock()
	if now || s.noted.IsZero() || time.Since(s.noted) >= notePause {
		s.found, s.noted = s.opts.Note(), time.Now()
	}
	return s.found
}
