package lines

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines/output"
)

const (
	// window is the maximum number of tasks in the queue: the first unanswered task and those
	// behind it, answered or not.
	window = 4096
	// holdSize is the maximum size of the answers held behind the first unanswered task. Beyond it,
	// no further call begins and streams wait.
	holdSize = 16 << 20
	// roomSize is the number of bytes that may wait to be written. Beyond it, further lines wait.
	roomSize = 1 << 20
	// chunkSize is the maximum size of one Write.
	chunkSize = 64 << 10
)

// outbox puts answers in order and writes them. It is safe for concurrent use.
type outbox struct {
	ordered bool
	record  Record
	out     *output.Writer

	mu      sync.Mutex // protects the following
	changed sync.Cond  // wakes waiters after a change of the following
	records []byte     // lines for the record, to be written before the lines of out
	queue   []*task    // in order: the first unanswered task, and those behind it
	held    int        // the size of the answers held by the tasks of queue
	closed  bool       // no more tasks are accepted
	endErr  error      // why closed is set
	counts  Counts

	jobs        int           // the number of goroutines that take tasks
	ahead       int           // the maximum number of tasks that wait to be called
	waiting     []*task       // tasks to be called, in order
	waitingSize int           // the size of their arguments in bytes
	taken       [][]*task     // tasks that are being called or wait for a retry
	dropping    chan struct{} // closed when dropped is set
	dropped     bool          // waiting tasks are dropped, see dropWaiting
	unanswered  bool          // a task got no answer
}

func newOutbox(w io.Writer, record Record, ordered bool, ahead int) *outbox {
	o := &outbox{record: record, ordered: ordered, ahead: ahead, dropping: make(chan struct{})}
	o.changed.L = &o.mu
	o.out = output.New(recorded{o, w}, chunkSize, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.advance()
		o.changed.Broadcast()
	})
	return o
}

// admit waits for room and adds a task at the end of the order. If the record has the
// answer, admit answers the task; otherwise it queues the task for a call. It returns false if no
// more tasks are accepted.
func (o *outbox) admit(t *task) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	full := func() bool {
		return len(o.waiting) >= o.ahead || o.waitingSize >= roomSize || len(o.taken) >= o.jobs+window
	}
	for !o.closed && (len(o.queue) >= window || o.held >= holdSize || full() || t.kept != nil && o.out.Pending() >= roomSize) {
		o.changed.Wait()
	}
	if o.closed {
		return false
	}
	if o.ordered {
		o.queue = append(o.queue, t)
	}
	if t.kept != nil {
		o.counts.Kept++
		o.counts.KeptRead += t.read
		o.answer(t, t.kept)
		t.kept = nil
		return true
	}
	o.waiting = append(o.waiting, t)
	o.waitingSize += t.size()
	o.changed.Broadcast()
	return true
}

// take waits for tasks to call. It returns up to n of them, or nil if no more come. The caller must
// release them. A task whose line could not be parsed is returned alone.
func (o *outbox) take(n int) []*task {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) == 0 || o.held >= holdSize && o.waiting[0] != o.queue[0] {
		if o.isOver() {
			return nil
		}
		o.changed.Wait()
	}
	taken := o.takeFirst(max(1, o.callable(n)))
	o.taken = append(o.taken, taken)
	return taken
}

// isOver reports whether all calls were made and have ended. mu is held.
func (o *outbox) isOver() bool {
	return o.closed && len(o.waiting)+len(o.taken) == 0
}

// takeMore takes up to n further tasks for the goroutine that holds the tasks of taken. called is
// how many of those were called. takeMore returns the uncalled tasks and the new ones, or nil if
// there are no new ones.
func (o *outbox) takeMore(taken []*task, called, n int) []*task {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n = o.callable(n); n == 0 || o.held >= holdSize {
		return nil
	}
	i := o.find(taken)
	o.taken[i] = slices.Concat(taken[called:], o.takeFirst(n))
	return o.taken[i]
}

// handBack queues the last n tasks of taken again, and returns the others.
func (o *outbox) handBack(taken []*task, n int) []*task {
	o.mu.Lock()
	defer o.mu.Unlock()
	i, left := o.find(taken), len(taken)-n
	for _, t := range taken[left:] {
		o.enqueue(t)
	}
	o.taken[i] = taken[:left]
	o.dropWaiting()
	o.changed.Broadcast()
	return o.taken[i]
}

// find returns the index of taken in o.taken. mu is held.
func (o *outbox) find(taken []*task) int {
	return slices.IndexFunc(o.taken, func(other []*task) bool { return &other[0] == &taken[0] })
}

// callable returns how many of the first n waiting tasks come before one whose line could not be
// parsed. mu is held.
func (o *outbox) callable(n int) int {
	waiting := o.waiting[:min(n, len(o.waiting))]
	if bad := slices.IndexFunc(waiting, func(t *task) bool { return t.bad != nil }); bad >= 0 {
		return bad
	}
	return len(waiting)
}

// takeFirst removes and returns the first n waiting tasks. mu is held.
func (o *outbox) takeFirst(n int) []*task {
	taken := slices.Clone(o.waiting[:n])
	o.waiting = slices.Delete(o.waiting, 0, n)
	for _, t := range taken {
		o.waitingSize -= t.size()
	}
	o.changed.Broadcast()
	return taken
}

// release ends the hold on the tasks of taken. called is how many of them were called. release
// queues the uncalled tasks again.
func (o *outbox) release(taken []*task, called int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := o.find(taken)
	o.taken = slices.Delete(o.taken, i, i+1)
	for _, t := range taken[called:] {
		o.enqueue(t)
	}
	o.dropWaiting()
	o.changed.Broadcast()
}

// dropWaiting drops the waiting tasks if dropped is set. It keeps the tasks before one that is
// answered or still may be, so that the answers have no gaps. mu is held.
func (o *outbox) dropWaiting() {
	if !o.dropped {
		return
	}
	last := int(o.counts.Last)
	for _, tasks := range o.taken {
		for _, t := range tasks {
			last = max(last, t.line)
		}
	}
	o.waiting = slices.DeleteFunc(o.waiting, func(t *task) bool {
		if t.line < last {
			return false
		}
		t.done, o.unanswered = true, true
		o.waitingSize -= t.size()
		return true
	})
}

// put waits for room and adds one line of an answer. The function line appends the text. put
// returns the error of the output, or the cause of ctx if ctx is done first.
func (o *outbox) put(ctx context.Context, t *task, line func([]byte) []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.wait(ctx, func() bool { return o.out.Err() != nil || o.room(t) }) {
		return context.Cause(ctx)
	}
	o.add(t, line)
	return o.out.Err()
}

// finish adds the last line of an answer. If line is nil, it drops the task unanswered. It
// waits for room only if the line goes straight to the output, and only until ctx is done.
func (o *outbox) finish(ctx context.Context, t *task, line func([]byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if line == nil {
		o.unanswered = true
	} else {
		o.records, t.record = append(o.records, t.record...), nil
		o.wait(ctx, func() bool { return o.out.Err() != nil || !o.turn(t) || o.room(t) })
	}
	o.answer(t, line)
	if len(o.records) > 0 { // the record need not wait for earlier tasks
		o.out.Wake()
	}
}

// answer adds the last line of an answer, if line is not nil, and ends the task. mu is held.
func (o *outbox) answer(t *task, line func([]byte) []byte) {
	if line != nil {
		// Count first, so that a reader who sees the answer also sees it counted.
		o.counts.Answered++
		o.counts.Read += t.read
		o.counts.Last = max(o.counts.Last, int64(t.line))
		if t.failed {
			o.counts.Failed++
		}
		o.add(t, line)
	}
	t.Args, t.Text, t.done = nil, nil, true
	o.advance()
	o.changed.Broadcast()
}

// turn reports whether t's lines go straight to the output. mu is held.
func (o *outbox) turn(t *task) bool { return !o.ordered || o.queue[0] == t }

// room reports whether t may add a line. mu is held.
func (o *outbox) room(t *task) bool {
	if o.turn(t) {
		return o.out.Pending() < roomSize && len(t.text) == 0
	}
	return o.held < holdSize
}

// add appends a line to the output if it is t's turn, or else to the task. mu is held.
func (o *outbox) add(t *task, line func([]byte) []byte) {
	if o.turn(t) && len(t.text) == 0 {
		o.out.Append(line)
		return
	}
	before := len(t.text)
	t.text = line(t.text)
	o.held += len(t.text) - before
}

// advance writes the lines of the tasks up to and including the first unanswered one, which may
// have some already, while there is room. It removes the answered tasks. mu is held.
func (o *outbox) advance() {
	for len(o.queue) > 0 && (o.out.Pending() < roomSize || o.isOver()) {
		t := o.queue[0]
		if len(t.text) > 0 {
			o.out.Append(func(dst []byte) []byte { return append(dst, t.text...) })
		}
		o.held -= len(t.text)
		t.text = nil
		if !t.done {
			return
		}
		o.queue[0] = nil
		o.queue = o.queue[1:]
		o.changed.Broadcast()
	}
}

// wait waits until ready, and returns false if ctx is done first. mu is held, except
// while it waits.
func (o *outbox) wait(ctx context.Context, ready func() bool) bool {
	if ready() {
		return true
	}
	defer context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.changed.Broadcast()
	})()
	for !ready() {
		if ctx.Err() != nil {
			return false
		}
		o.changed.Wait()
	}
	return true
}

// recorded is the output of an outbox. Before each write it writes the pending lines of the record,
// so that every printed answer is recorded.
type recorded struct {
	box *outbox
	io.Writer
}

func (r recorded) Write(text []byte) (int, error) {
	if err := r.box.writeRecord(); err != nil || len(text) == 0 {
		return 0, err
	}
	return r.Writer.Write(text)
}

// end waits until the outbox is closed and all answers are written, or until the output or the
// record fails.
func (o *outbox) end() error {
	o.mu.Lock()
	for !o.isOver() && o.out.Err() == nil {
		o.changed.Wait()
	}
	o.advance()
	o.mu.Unlock()
	o.out.Flush(0, 0)
	return o.out.Err()
}

// close makes the outbox accept no more tasks. err is the reason, or nil at the end of the input or
// after a stop. If drop is set, close also drops waiting tasks.
func (o *outbox) close(err error, drop bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed, o.endErr = true, err
	}
	if drop && !o.dropped {
		o.dropped = true
		close(o.dropping)
	}
	o.dropWaiting()
	o.changed.Broadcast()
}

// isRead waits until all answers are written. If the output accepts nothing for writeTimeout, it
// fails the output and returns false.
func (o *outbox) isRead(written <-chan struct{}) bool {
	for o.out.Flush(writeTimeout, 0) {
		if hook.Within(written, writeTimeout) {
			return true
		}
	}
	o.out.Fail(ErrNotRead)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed.Broadcast()
	return false
}
