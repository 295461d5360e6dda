package output

import (
	"context"
	"io"
	"sync"
	"time"
)

// Writer writes in the background what is appended to it. It is safe for concurrent use. Make it
// with [New].
type Writer struct {
	out   io.Writer
	chunk int
	wrote func()

	mu      sync.Mutex    // protects what follows
	buf     []byte        // not begun
	spare   []byte        // an empty buffer to use next
	pending int           // bytes not written, including buf
	written int64         // bytes written since the start
	writing bool          // the goroutine runs
	wakes   int           // calls of Wake
	woken   int           // how many of these had their Write
	err     error         // of a Write, or of Fail
	changed chan struct{} // closed after a Write; nil if nobody waits for it
	waited  time.Duration // the longest wait for the Write in progress that was in vain
}

// New returns a writer to out. A Write has at most chunk bytes: a small one notices the progress
// of a slow reader, a large one is faster. After every Write it calls wrote, unless that is nil.
func New(out io.Writer, chunk int, wrote func()) *Writer {
	return &Writer{out: out, chunk: chunk, wrote: wrote}
}

// Append adds what add appends to its argument. It drops it if the writing has failed.
func (w *Writer) Append(add func(dst []byte) []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	before := len(w.buf)
	w.buf = add(w.buf)
	if w.pending += len(w.buf) - before; len(w.buf) > 0 {
		w.start()
	}
}

// Wake makes a Write soon, even if nothing is pending.
func (w *Writer) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.wakes++
		w.start()
	}
}

// start starts the goroutine unless it runs. Held: mu.
func (w *Writer) start() {
	if !w.writing {
		w.writing = true
		go w.write() // ends when all is written
	}
}

// write writes until nothing is left.
func (w *Writer) write() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && (len(w.buf) > 0 || w.woken < w.wakes) {
		text, wakes := w.buf, w.wakes
		w.buf, w.spare = w.spare, nil
		for rest := w.writeChunk(text); len(rest) > 0 && w.err == nil; {
			rest = w.writeChunk(rest)
		}
		if w.woken = wakes; cap(text) <= maxSpare {
			w.spare = text[:0]
		}
		w.wake()
	}
	w.writing = false
	w.wake()
}

// maxSpare is the size up to which a buffer is used again.
const maxSpare = 4 << 20

// writeChunk writes the beginning of text and returns the rest. Held: mu, except while it writes.
func (w *Writer) writeChunk(text []byte) (rest []byte) {
	n := min(len(text), w.chunk)
	w.mu.Unlock()
	_, err := w.out.Write(text[:n])
	w.mu.Lock()
	w.waited = 0
	if w.err == nil { // else Fail has dropped all
		w.pending -= n
		w.written += int64(n)
	}
	w.fail(err)
	w.wake()
	if w.wrote != nil {
		w.mu.Unlock()
		w.wrote()
		w.mu.Lock()
	}
	return text[n:]
}

// Pending returns the number of bytes that are not written.
func (w *Writer) Pending() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending
}

// Err returns the error of the first Write that failed, or that of Fail.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Fail drops all that is not written, and all that will be appended. A Write may still be in
// progress.
func (w *Writer) Fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(err)
	w.wake()
}

// fail keeps the first error. Held: mu.
func (w *Writer) fail(err error) {
	if w.err == nil && err != nil {
		w.err, w.buf, w.pending = err, nil, 0
	}
}

// Room waits until less than size bytes are pending. It returns false if ctx ends first, or if nothing is
// written for limit; 0 means no limit.
func (w *Writer) Room(ctx context.Context, size int, limit time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.pending >= size {
		if !w.wait(ctx, limit) {
			return false
		}
	}
	return true
}

// Flush waits until all earlier text is written and every earlier Wake had its Write, or the writing
// fails. It returns false if nothing is written for limit, or if that takes longer than total; 0 means no limit.
func (w *Writer) Flush(limit, total time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	began, mark, wakes := time.Now(), w.written+int64(w.pending), w.wakes
	for w.err == nil && (w.written < mark || w.woken < wakes) {
		if total > 0 && time.Since(began) >= total || !w.wait(context.Background(), limit) {
			return false
		}
	}
	return true
}

// wait waits until something changes. It returns false if ctx ends first or that takes longer than limit, and at
// once if another wait took as long for the same Write. Held: mu, except while it waits.
func (w *Writer) wait(ctx context.Context, limit time.Duration) bool {
	if limit > 0 && w.waited >= limit {
		return false
	}
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	changed, timeout := w.changed, (<-chan time.Time)(nil)
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	w.mu.Unlock()
	select {
	case <-changed:
	case <-ctx.Done():
	case <-timeout:
	}
	w.mu.Lock()
	switch {
	case w.changed != changed:
		return true
	case ctx.Err() != nil:
		return false
	}
	w.waited = max(w.waited, limit)
	return false
}

// wake makes every waiter check its condition again. Held: mu.
func (w *Writer) wake() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
