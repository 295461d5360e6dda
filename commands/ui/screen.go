package ui

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	// patience is how long a reader of standard error may take nothing before
	// what else there is to say is dropped.
	patience = time.Second
	// closing bounds any wait for a reader that is slow but reads.
	closing = 10 * time.Second
	// hurried and hurriedClosing take their places once there is a hurry.
	hurried        = 100 * time.Millisecond
	hurriedClosing = time.Second
	// roomSize is how many bytes may wait to be written before a plugin's
	// output waits too. pyplug's own lines may take as much again.
	roomSize = 1 << 20
	// chunkSize is about how much one Write gets: small enough that a slow
	// reader is seen to take something, large enough for a gigabyte in seconds.
	chunkSize = 8 << 10
)

const eraseLine = "\r\x1b[K"

// screen is standard error: whole lines, written in order by one goroutine that
// runs while there is something to write, and a status line kept below them.
// The zero value is ready. It is safe for concurrent use.
type screen struct {
	mu      sync.Mutex // protects what follows
	buf     []byte     // lines not yet taken by the writer
	spare   []byte     // the writer's last batch, for reuse
	pending int        // bytes not yet written, buf among them
	written int64      // bytes written since the start
	writing bool       // the writer runs
	shown   bool       // a status line is, or will be, the last thing written
	stuck   bool       // a wait ran out of patience, and nothing was taken since
	broken  bool       // the reader has gone away: all is discarded
	haste   bool       // nobody is to be waited for any longer than hurried
	moved   chan struct{}
	hasty   chan struct{} // closed with haste; nil until asked for
}

// add queues whole lines. What cannot be queued, because nobody has read the
// last two MiB, is dropped.
func (c *screen) add(w io.Writer, lines string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending <= 2*roomSize {
		c.queue(w, func(b []byte) []byte { return append(b, lines...) })
	}
}

// addWaiting queues whole lines that more appends, once there is room. It
// returns false, and drops them, when the reader takes nothing for long; from
// then on at once, until the reader takes something; and always in a hurry.
func (c *screen) addWaiting(w io.Writer, more func([]byte) []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending >= roomSize && !c.broken {
		if c.stuck || c.haste || !c.wait(patience) {
			return false
		}
	}
	c.queue(w, more)
	return true
}

// queue appends to the buffer and sees that the writer runs. Held: mu.
func (c *screen) queue(w io.Writer, more func([]byte) []byte) {
	if c.broken {
		return
	}
	before := len(c.buf)
	if c.shown {
		c.buf, c.shown = append(c.buf, eraseLine...), false
	}
	c.buf = more(c.buf)
	c.pending += len(c.buf) - before
	if !c.writing && len(c.buf) > 0 {
		c.writing = true
		go c.write(w) // ends when all is written
	}
}

// write writes until nothing is left.
func (c *screen) write(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.buf) > 0 && !c.broken {
		batch := c.buf
		c.buf, c.spare = c.spare[:0], nil
		for rest := batch; len(rest) > 0 && !c.broken; {
			n := chunk(rest)
			c.mu.Unlock()
			_, err := w.Write(rest[:n])
			c.mu.Lock()
			rest = rest[n:]
			c.pending -= n
			c.written += int64(n)
			// Other errors, such as a full disk, may pass.
			c.broken = c.broken || IsClosedPipe(err)
			c.stuck = false
			c.wake()
		}
		if cap(batch) <= 2*roomSize {
			c.spare = batch
		}
	}
	c.writing = false
	if c.broken {
		c.buf, c.spare, c.pending = nil, nil, 0
	}
	c.wake()
}

// chunk is the length of the first lines of b that make about one chunk.
func chunk(b []byte) int {
	if len(b) <= chunkSize {
		return len(b)
	}
	if i := bytes.LastIndexByte(b[:chunkSize], '\n'); i >= 0 {
		return i + 1
	}
	if i := bytes.IndexByte(b[chunkSize:], '\n'); i >= 0 {
		return chunkSize + i + 1
	}
	return len(b)
}

// wait waits until something was written, or a hurry began; false tells that it took too long.
// Held: mu, but not while it waits.
func (c *screen) wait(limit time.Duration) bool {
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	moved := c.moved
	c.mu.Unlock()
	defer c.mu.Lock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-moved:
		return true
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-moved:
		return true
	default:
		c.stuck = true
		return false
	}
}

// wake tells all who wait to look again. Held: mu.
func (c *screen) wake() {
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// flush waits until all that was added before is written, or until the reader
// took nothing for limit; for a slow reader at most closing, unless limit is
// longer. One known to take nothing is not waited for again for a mere second.
func (c *screen) flush(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began, mark := time.Now(), c.written+int64(c.pending)
	for c.writing && c.written < mark {
		wait, most := limit, max(limit, closing)
		if c.haste {
			wait, most = min(wait, hurried), hurriedClosing
		}
		wait = min(wait, most-time.Since(began))
		if wait <= 0 || c.stuck && wait <= patience || !c.wait(wait) {
			return
		}
	}
}

// hurry ends every wait, those that go on too, within the hurried times.
func (c *screen) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.haste {
		return
	}
	c.haste = true
	c.wake() // those who wait look again at how long they may
	if c.hasty != nil {
		close(c.hasty)
	}
}

// hastened is closed when the hurry begins.
func (c *screen) hastened() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasty == nil {
		c.hasty = make(chan struct{})
		if c.haste {
			close(c.hasty)
		}
	}
	return c.hasty
}

// status shows text below all lines in place of the one before, unless lines
// are waiting to be written; empty text erases it.
func (c *screen) status(w io.Writer, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text == "" {
		c.queue(w, func(b []byte) []byte { return b })
		return
	}
	if c.pending > 0 {
		return
	}
	c.queue(w, func(b []byte) []byte { return append(b, text...) })
	c.shown = !c.broken
}
