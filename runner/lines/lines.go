package lines

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Items says how a line is read when the hook is known.
type Items uint8

// How a line becomes the arguments of a call.
const (
	// ByShape takes an array for positions, an object for names, and any other
	// JSON for the one argument.
	ByShape Items = iota
	// Value takes any JSON for the one argument.
	Value
	// Text takes the line itself for the one argument.
	Text
)

// The defaults of [Options].
const (
	DefaultMaxLine  = 64 << 20
	DefaultPatience = 10 * time.Second
)

// Options say what is read and how it is answered. In, Out and Error are needed;
// the zero value of the others is their default. They are not changed while
// [Engine.Run] goes on.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Error writes an error as one line of JSON. It may be called from several
	// goroutines at once.
	Error func(*hook.Error) json.RawMessage
	// Hook is the hook of every line, which then is its arguments alone, read as
	// Items says. Where it is empty each line names its own.
	Hook  string
	Items Items
	// Jobs is how many calls are made at once, at least 1.
	Jobs int
	// Unordered has answers come as they are ready.
	Unordered bool
	// Timeout bounds each call, with what it waits for; 0: nothing does.
	Timeout time.Duration
	// MaxLine is how many bytes a line may have; 0: DefaultMaxLine.
	MaxLine int
	// Stop drains when it is closed; nil: nothing does but the end of In. From
	// then on an Out that takes nothing for Patience, 0: DefaultPatience, is
	// given up.
	Stop     <-chan struct{}
	Patience time.Duration
	// GaveUp is closed when the caller makes no more calls; nil: it always does.
	// That drains, too. A line whose call it refuses from then on, which is not
	// sent, gets no answer.
	GaveUp <-chan struct{}
}

// Counts say how far an [Engine] is: how many lines are answered, how many of
// them with an error, and how many calls go on; Last is the number of the last
// line that is answered, 0 for none.
type Counts struct{ Answered, Failed, Running, Last int64 }

// ErrGaveUp is the error of an end by [Options].GaveUp: that came before the end of
// the input, or before a line was called.
var ErrGaveUp = errors.New("the caller gave up")

// ErrNotRead is the error of an output that took nothing for too long while it
// was waited for.
var ErrNotRead = errors.New("it is not being read")

// ReadError is the error of an input that could not be read to its end. What was
// read is answered.
type ReadError struct{ Err error }

// Error is the cause.
func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// Engine answers the lines of one input. Make it with [New].
type Engine struct {
	caller hook.Caller
	o      Options
	out    *outbox
	tasks  chan *task
	// closed ends the reading and the goroutines that call; endErr is why the
	// reading ended, and set before.
	closed  chan struct{}
	closing sync.Once
	endErr  error

	answered, failed, running, last atomic.Int64
	refused                         atomic.Bool // a line got no answer
}

// task is one line and its answer.
type task struct {
	request
	line int // its number, from 1
	seq  int // its place in the order of answers

	// Protected by the outbox.
	text []byte // of the answer, held until its turn
	done bool   // all of the answer is written
}

// New makes an engine that calls caller.
func New(caller hook.Caller, o Options) *Engine {
	o.Jobs = max(o.Jobs, 1)
	if o.MaxLine == 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	return &Engine{caller: caller, o: o, tasks: make(chan *task), closed: make(chan struct{})}
}

// Counts tells how far it is. It may be called at any time.
func (e *Engine) Counts() Counts {
	return Counts{Answered: e.answered.Load(), Failed: e.failed.Load(), Running: e.running.Load(), Last: e.last.Load()}
}

// Run reads and answers until the input ends, or [Options].Stop, and all that was
// begun is answered. Ending ctx cancels the calls that run, which are answered
// then, too. The error is that of the output, [ErrNotRead] among them, which
// cancels the calls; [ErrGaveUp]; or a [*ReadError]; nil when there is none. It is
// called once.
//
// No call goes on when it has returned. A read of the input may, whose result is
// lost, and after ErrNotRead the write that is not taken.
func (e *Engine) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.out = newOutbox(ctx, !e.o.Unordered)
	written := make(chan struct{})
	go func() { // ends when all is answered and written, or cannot be
		defer close(written)
		if err := e.out.write(e.o.Out); err != nil {
			cancel(err)
		}
	}()
	var calls sync.WaitGroup
	for range e.o.Jobs {
		calls.Go(func() { (&job{Engine: e, ctx: ctx}).work() }) // ends when e is closed, and its call has ended
	}
	go e.read() // ends with the input; or when e is closed, but for a read that waits
	select {
	case <-e.closed: // the input ended
	case <-e.o.Stop:
	case <-e.o.GaveUp:
		e.close(ErrGaveUp)
	case <-ctx.Done():
	}
	e.close(nil)
	select {
	case <-written:
	case <-e.o.Stop:
		e.out.insist(e.o.Patience, written)
	case <-e.o.GaveUp:
		e.out.insist(e.o.Patience, written)
	case <-ctx.Done():
		e.out.insist(e.o.Patience, written)
	}
	if err := e.out.failure(); err != nil {
		cancel(err)
	}
	calls.Wait()
	if err := e.out.failure(); err != nil {
		return err
	}
	if e.refused.Load() {
		return ErrGaveUp
	}
	return e.endErr
}

// close ends the reading; err is why.
func (e *Engine) close(err error) {
	e.closing.Do(func() {
		e.endErr = err
		e.out.close()
		close(e.closed)
	})
}

// read makes tasks of lines.
func (e *Engine) read() {
	in := newLineReader(e.o.In, e.o.MaxLine)
	p := parser{hook: e.o.Hook, items: e.o.Items}
	for number := 1; ; number++ {
		line, err := in.next()
		if err != nil && !isLineError(err) {
			if errors.Is(err, io.EOF) {
				err = nil
			} else {
				err = &ReadError{Err: err}
			}
			e.close(err)
			return
		}
		if err == nil && p.blank(line) {
			continue
		}
		t := &task{line: number}
		if err == nil {
			t.request, err = p.parse(line)
		}
		if !e.out.admit(t) {
			return
		}
		if err != nil {
			e.refuse(t, err)
			continue
		}
		select {
		case e.tasks <- t:
		case <-e.closed:
			e.out.retract(t)
			return
		}
	}
}
