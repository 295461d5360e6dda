package lines

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"
)

const (
	// window is how many lines may be under way, answered or not, behind the
	// first that is not answered.
	window = 1024
	// holdSize is how many bytes of answers, and of items, may be held behind it
	// before no further call is begun and streams wait.
	holdSize = 16 << 20
	// roomSize is how many bytes may wait to be written.
	roomSize = 1 << 20
	// chunkSize is about how much one Write gets, so that an output that is slow
	// is seen to take something.
	chunkSize = 64 << 10
)

// outbox puts answers in order and writes them. It is safe for concurrent use.
type outbox struct {
	ordered bool
	// ctx is that of the calls. When it is over nobody waits for room any more:
	// what is left is at most one answer of each.
	ctx context.Context

	mu   sync.Mutex // protects what follows
	more sync.Cond  // there is something for the writer
	// moved is closed when there may be room; nil when nobody waits for it.
	moved       chan struct{}
	buf, spare  []byte // to be written; the last that was
	pending     int    // bytes not yet written, buf among them
	written     int64
	ring        [window]*task // by seq; nil: answered, and on the way out
	first, next int           // seq of the first that is not answered, and of the next
	held        int           // bytes of tasks behind the first
	open        int           // tasks not answered
	closed      bool
	err         error
}

func newOutbox(ctx context.Context, ordered bool) *outbox {
	o := &outbox{ordered: ordered, ctx: ctx}
	o.more.L = &o.mu
	return o
}

// admit gives a task its place, once there is one. False tells that no further
// task is taken.
func (o *outbox) admit(t *task) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.closed && o.ordered && (o.next-o.first >= window || o.held >= holdSize) {
		o.wait(nil)
	}
	if o.closed {
		return false
	}
	o.open++
	if o.ordered {
		t.seq = o.next
		o.ring[t.seq%window] = t
		o.next++
	}
	return true
}

// retract takes back the task that was admitted last.
func (o *outbox) retract(t *task) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open--
	if o.ordered {
		o.next--
		o.ring[t.seq%window] = nil
	}
	o.more.Signal()
}

// put writes a part of an answer, one line, once there is room. The error is that
// of the output, or ctx's cause.
func (o *outbox) put(ctx context.Context, t *task, text []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && !o.room(t) {
		if !o.wait(ctx.Done()) {
			return context.Cause(ctx)
		}
	}
	if o.err != nil {
		return o.err
	}
	o.add(t, text)
	return nil
}

// finish writes the last line of an answer, and those behind it whose turn it is
// then. It waits for room only where the line goes straight out.
func (o *outbox) finish(t *task, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.turn(t) && !o.room(t) && o.wait(o.ctx.Done()) {
	}
	o.add(t, text)
	t.done = true
	o.open--
	if o.ordered && o.turn(t) {
		o.advance()
	}
	o.more.Signal()
}

// turn tells whether what t says goes straight out. Held: mu.
func (o *outbox) turn(t *task) bool { return !o.ordered || t.seq == o.first }

// room tells whether t may say more. Held: mu.
func (o *outbox) room(t *task) bool {
	if o.turn(t) {
		return len(o.buf) < roomSize
	}
	return o.held < holdSize
}

// add takes a line. Held: mu.
func (o *outbox) add(t *task, text []byte) {
	switch {
	case o.err != nil:
	case o.turn(t):
		o.queue(text)
	default:
		t.text = append(t.text, text...)
		o.held += len(text)
	}
}

// advance goes on to the first task that is not answered, and takes what the ones
// up to it have said. Held: mu.
func (o *outbox) advance() {
	for o.first < o.next {
		t := o.ring[o.first%window]
		o.queue(t.text)
		o.held -= len(t.text)
		t.text = nil
		if !t.done {
			break
		}
		o.ring[o.first%window] = nil
		o.first++
	}
	o.wake()
}

// queue hands text to the writer. Held: mu.
func (o *outbox) queue(text []byte) {
	if o.err != nil || len(text) == 0 {
		return
	}
	o.buf = append(o.buf, text...)
	o.pending += len(text)
	o.more.Signal()
}

// write writes until o is closed and all tasks are answered, or until the error
// that it returns.
func (o *outbox) write(w io.Writer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.buf) == 0 && o.err == nil && !(o.closed && o.open == 0) {
			o.more.Wait()
		}
		if len(o.buf) == 0 || o.err != nil {
			return o.err
		}
		batch := o.buf
		o.buf, o.spare = o.spare[:0], nil
		for rest := batch; len(rest) > 0 && o.err == nil; {
			n := chunk(rest)
			o.mu.Unlock()
			_, err := w.Write(rest[:n])
			o.mu.Lock()
			if err != nil {
				o.fail(err)
				break
			}
			rest = rest[n:]
			o.pending -= n
			o.written += int64(n)
		}
		if cap(batch) <= 2*roomSize {
			o.spare = batch
		}
		o.wake()
	}
}

// chunk is the length of the first lines of b that make about one chunk.
func chunk(b []byte) int {
	if len(b) <= chunkSize {
		return len(b)
	}
	if i := bytes.LastIndexByte(b[:chunkSize], '\n'); i >= 0 {
		return i + 1
	}
	return chunkSize + bytes.IndexByte(b[chunkSize:], '\n') + 1 // all that is written are whole lines
}

// close lets no further task in.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.more.Signal()
	o.wake()
}

// fail discards all that is and will be written. Held: mu.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err = err
	}
	o.buf, o.pending = nil, 0
	o.more.Signal()
	o.wake()
}

func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// wait waits until there may be room, or until done, which it tells by false.
// Held: mu, but not while it waits.
func (o *outbox) wait(done <-chan struct{}) bool {
	if o.moved == nil {
		o.moved = make(chan struct{})
	}
	moved := o.moved
	o.mu.Unlock()
	defer o.mu.Lock()
	select {
	case <-moved:
		return true
	case <-done:
		return false
	}
}

// wake has all who wait look again. Held: mu.
func (o *outbox) wake() {
	if o.moved != nil {
		close(o.moved)
		o.moved = nil
	}
}

// insist waits for written, and gives the output up when it takes nothing for
// patience while there is something for it.
func (o *outbox) insist(patience time.Duration, written <-chan struct{}) {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for seen := int64(-1); ; {
		select {
		case <-written:
			return
		case <-tick.C:
		}
		o.mu.Lock()
		stuck := o.pending > 0 && o.written == seen
		if seen = o.written; o.pending == 0 {
			seen = -1
		}
		if stuck {
			o.fail(ErrNotRead)
		}
		o.mu.Unlock()
		if stuck {
			return
		}
	}
}
