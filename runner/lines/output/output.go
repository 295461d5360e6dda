package output

import (
	"context"
	"io"
	"sync"
	"time"
)

// Writer writes appended text in the background. It is safe for concurrent use. Make it with [New].
type Writer struct {
	out   io.Writer
	chunk int
	wrote func()

	mu      sync.Mutex    // protects the following
	buf     []byte        // appended text that no Write has begun
	spare   []byte        // an empty buffer to use next
	pending int           // bytes not written, including buf
	written int64         // bytes written since the start
	writing bool          // the goroutine runs
	wakes   int           // calls of Wake
	woken   int           // calls of Wake that were followed by a Write
	err     error         // the error of a Write, or of Fail
	changed chan struct{} // closed after a Write, or nil if nothing waits for that
	waited  time.Duration // the longest limit that a wait for the Write in progress has reached
}

// New returns a writer to out. Each Write has at most chunk bytes. With small chunks, the Writer
// notices the progress of a slow reader; large ones are faster. After every Write, the Writer calls
// wrote, unless it is nil.
func New(out io.Writer, chunk int, wrote func()) *Writer {
	return &Writer{out: out, chunk: chunk, wrote: wrote}
}

// Append adds the text that add appends to its argument. After a failure, it drops the text.
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

// Wake causes a Write soon, even if nothing is pending.
func (w *Writer) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.wakes++
		w.start()
	}
}

// start starts the goroutine unless it runs. mu is held.
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

// writeChunk writes the beginning of text and returns the rest. mu is held, except while it writes.
func (w *Writer) writeChunk(text []byte) (rest []byte) {
	n := min(len(text), w.chunk)
	w.mu.Unlock()
	_, err := w.out.Write(text[:n])
	w.mu.Lock()
	w.waited = 0
	if w.err == nil { // otherwise Fail has reset pending
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

// Err returns the error of the first failed Write, or the error passed to Fail if that came first.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Fail drops all pending and all further text. A Write may still be in progress.
func (w *Writer) Fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(err)
	w.wake()
}

// fail stores the first error and drops the pending text. mu is held.
func (w *Writer) fail(err error) {
	if w.err == nil && err != nil {
		w.err, w.buf, w.pending = err, nil, 0
	}
}

// Room waits until less than size bytes are pending. It returns false if ctx is done first, or if
// nothing is written for limit. Zero means no limit.
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

// Flush waits until all earlier text is written and every earlier Wake was followed by a Write, or
// a Write has failed. It returns false if nothing is written for limit, or when the wait has lasted
// for total. Zero means no limit.
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

// wait waits for the next change. It returns false if ctx is done first, or if nothing changes for
// limit. It returns false at once if another wait for the same Write has already taken as long. mu
// is held, except while it waits.
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

// wake makes every waiter check its condition again. mu is held.
func (w *Writer) wake() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
