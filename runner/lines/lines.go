package lines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Items says how the arguments are read from a line if [Options].Hook is set.
type Items uint8

// How a line becomes the arguments of a call.
const (
	// ByShape reads an array as arguments by position, an object as arguments by name,
	// and any other JSON as the only argument.
	ByShape Items = iota
	// Value reads any JSON as the only argument.
	Value
	// Text passes the line itself as the only argument, verbatim if the parameter may be text.
	Text
)

const (
	// DefaultMaxLine is the default of [Options].MaxLine.
	DefaultMaxLine = 64 << 20
	// writeTimeout is the time without progress after which the output fails, once [Options].Stop
	// is closed.
	writeTimeout = 10 * time.Second
)

// Options say what an [Engine] reads and how it answers. In, Out and Error are required.
// The options must not change during [Engine.Run].
type Options struct {
	In  io.Reader
	Out io.Writer
	// Error returns the error of a line as JSON on one line. If Raw is set, Error must itself
	// report the error, and only the record gets the JSON. Several goroutines may call Error
	// at once.
	Error func(line int, err *hook.Error) json.RawMessage
	// Raw, unless nil, appends the output for a result or an item. It replaces the JSON
	// line.
	Raw func(dst []byte, item hook.Item) []byte
	// Hook is the hook of every line. Each line then holds only arguments, read as
	// Items says. If Hook is empty, each line names its hook.
	Hook  string
	Items Items
	// Field names the argument for a Text line. If it is empty, the argument is by position.
	Field string
	// Words are named arguments of every call. Names in a line take precedence.
	Words []schema.Word
	// Null means that lines end with a NUL instead of a newline.
	Null bool
	// Jobs is the maximum number of concurrent calls or series, at least 1.
	Jobs int
	// Series is the maximum number of calls that are passed on together while they are
	// fast. The caller makes them one after the other.
	Series int
	// Unordered writes answers as they are ready.
	Unordered bool
	// Timeout bounds each call, including the wait for a worker. Zero means no limit.
	Timeout time.Duration
	// MaxLine is the maximum length of a line in bytes. Zero means [DefaultMaxLine].
	MaxLine int
	// Retries says which calls are made again. A stream that has emitted items is not.
	Retries Retries
	// FailFast stops the engine at the first error, as Stop does. A series makes no call after it.
	FailFast bool
	// Record keeps the answers. If it already has the answer of a line, the line is not
	// called. Nil means no record. Each answer is recorded before its last line is
	// written to Out.
	Record Record
	// Stop stops the engine when it is closed. If Stop is nil, only the end of In does. After a
	// stop, all lines before an answered line are answered, too; later lines get no
	// answer. Run then fails if Out accepts nothing for 10 to 20 s.
	Stop <-chan struct{}
	// GaveUp is closed when the caller makes no more calls. That stops the engine, too. A line
	// whose call is then refused without being sent gets no answer. GaveUp is nil if the caller
	// never gives up.
	GaveUp <-chan struct{}
}

// Resolve checks the names of Words before a line is read. If lines are text, it sets Field.
func (o *Options) Resolve(ctx context.Context, p hook.Plugin) error {
	isText := o.Items == Text && o.Hook != ""
	if len(o.Words) == 0 && !isText {
		return nil
	}
	found, err := p.Hooks(ctx, schema.Query{Hook: o.Hook})
	if err != nil {
		return err
	}
	h := found.Hooks[0]
	if err = h.CheckNames(o.Words); err == nil && isText {
		o.Field, err = h.RemainingField(o.Words)
	}
	if err != nil {
		e := hook.NewError(hook.Request, err)
		e.Hook = o.Hook
		return e
	}
	return nil
}

// Counts is the progress of an [Engine]. Answered counts the answered lines. Failed counts the
// lines answered with an error, and Kept those answered from the record. Running counts the calls
// in progress and those that wait to be made again. Last is the number of the last answered line,
// or 0 if there is none. Read is the size of the answered lines in bytes, and KeptRead of those
// from the record.
type Counts struct {
	Answered, Failed, Kept, Running, Last int64
	Read, KeptRead                        int64
}

// Rate returns the number of lines called per second, and the expected time for the rest of an
// input of size bytes, or 0 if that is unknown.
func (c Counts) Rate(after time.Duration, size int64) (rate float64, left time.Duration) {
	if called := c.Read - c.KeptRead; called > 0 && size > c.Read {
		left = time.Duration(float64(after) * float64(size-c.Read) / float64(called))
	}
	return float64(c.Answered-c.Kept) / after.Seconds(), left
}

// Percent returns how much of an input of size bytes is answered. It is at most 100, even if the
// input has grown.
func (c Counts) Percent(size int64) int64 { return min(100, c.Read*100/size) }

// ErrGaveUp reports that [Options].GaveUp was closed before the end of the input was read, or
// before every line was called.
var ErrGaveUp = errors.New("the caller gave up")

// ErrNotRead reports that the output accepted nothing for too long.
var ErrNotRead = errors.New("it is not being read")

// Engine answers the lines of one input. Make it with [New].
type Engine struct {
	caller hook.Caller
	series hook.SeriesCaller // the same caller, or nil if it makes no series
	o      Options
	out    *outbox
}

// task is one line and its answer.
type task struct {
	Call
	line   int         // the number of the line, from 1
	read   int64       // the size in bytes of the line and the blank lines before it
	bad    *hook.Error // why the line cannot be called, or nil if it can
	failed bool
	made   int  // how often the call was made
	begun  bool // an item was written

	// For the record.
	occurrence int
	items      []hook.Item // the items of a stream that has not ended
	itemsSize  int         // the size of all items in bytes, even if they are too many to hold
	record     []byte      // the lines for the record

	// readKept reads the answer from the record, and kept appends its lines. Each is nil if the
	// record has no answer.
	readKept func() (*Answer, error)
	kept     func(dst []byte) []byte

	// Protected by the outbox.
	text []byte // lines of the answer, held until they may be written
	done bool   // the answer is complete
}

// size returns the number of bytes of a line's arguments.
func (t *task) size() int { return len(t.Args) + len(t.Text) }

// New returns an engine that calls caller. [Options].Series has no effect unless caller is a
// [hook.SeriesCaller].
func New(caller hook.Caller, o Options) *Engine {
	series, _ := caller.(hook.SeriesCaller)
	if series == nil {
		o.Series = 1
	}
	o.Jobs, o.Series = max(o.Jobs, 1), max(o.Series, 1)
	o.MaxLine = cmp.Or(o.MaxLine, DefaultMaxLine)
	e := &Engine{caller: caller, series: series, o: o, out: newOutbox(o.Out, o.Record, !o.Unordered, 2*o.Series)}
	e.out.jobs = o.Jobs
	return e
}

// Counts returns the progress of the engine. It may be called at any time.
func (e *Engine) Counts() Counts {
	e.out.mu.Lock()
	defer e.out.mu.Unlock()
	now := e.out.counts
	now.Running = int64(len(e.out.taken))
	return now
}

// Run reads lines until the input ends or [Options] stop it, and answers all calls that were begun.
// Canceling ctx cancels the calls in progress, which are answered, too. If the output fails, such
// as with [ErrNotRead], Run cancels the calls and returns that error. Run also returns [ErrGaveUp],
// or a [*hook.Error] if the input could not be read to its end. It must be called only once.
//
// When Run has returned, no call is in progress. A read of the input may still be in
// progress; its result is lost. After ErrNotRead, a write may be in progress, too.
func (e *Engine) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	written := make(chan struct{})
	go func() { // ends when all answers are written, or the output fails
		defer close(written)
		if err := e.out.end(); err != nil {
			cancel(err)
		}
	}()
	var calls sync.WaitGroup
	for range e.o.Jobs {
		calls.Go(func() { e.work(ctx) }) // ends when the outbox is closed and all tasks are answered
	}
	batches, inputErr := make(chan []*task, 4), make(chan error, 1)
	go func() { // ends with the input, or after the calls, unless a read of the input waits
		inputErr <- e.read(batches)
		close(batches)
	}()
	go func() { e.out.close(e.admit(batches, inputErr), false) }() // ends with read, or when no more tasks are admitted
	var reason error
	select {
	case <-written:
	case <-e.o.Stop:
	case <-e.o.GaveUp:
		reason = ErrGaveUp
	case <-ctx.Done():
	}
	e.out.close(reason, true)
	if !e.out.isRead(written) {
		cancel(ErrNotRead)
	}
	calls.Wait()
	err := e.out.out.Err()
	if failed := e.out.writeRecord(); err == nil {
		err = failed // an error of the output takes precedence
	}
	e.out.mu.Lock()
	defer e.out.mu.Unlock()
	switch {
	case err != nil:
		return err
	case e.out.unanswered && e.isGivenUp():
		return ErrGaveUp
	}
	return e.out.endErr
}

// batchSize is the maximum number of tasks that read passes on together.
const batchSize = 64

// read makes a task of each line. It passes on the tasks of buffered lines together, in one batch.
// It returns the error of the input.
func (e *Engine) read(batches chan<- []*task) error {
	in := NewReader(e.o.In, e.o.MaxLine, e.o.Null)
	p, before := parser{hook: e.o.Hook, items: e.o.Items}, int64(0)
	var batch []*task
	for number := 1; ; number++ {
		if len(batch) == batchSize || len(batch) > 0 && !in.ready() {
			select {
			case batches <- batch:
			case <-e.out.dropping:
				return nil
			}
			batch = nil
		}
		line, err := in.Next()
		t := &task{line: number}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.As(err, &t.bad):
			return &hook.Error{Kind: hook.Failed, Err: fmt.Errorf("standard input: %w", err)}
		case err == nil && p.blank(line):
			continue
		}
		t.read, before = in.read-before, in.read
		if t.bad == nil {
			t.Call, t.bad = p.parse(line)
		}
		e.findKept(t)
		batch = append(batch, t)
	}
}

// admit passes tasks to the outbox, with the answers that the record has, until there are no more
// tasks or the outbox accepts no more. It returns the error of the record or of the input. It runs
// concurrently with read, because reading an answer from the record takes as long as reading a
// line.
func (e *Engine) admit(batches <-chan []*task, inputErr <-chan error) error {
	for batch := range batches {
		for _, t := range batch {
			if err := e.readKept(t); err != nil {
				return err
			}
			if !e.out.admit(t) {
				return nil
			}
		}
	}
	return <-inputErr
}
