package ui

import (
	"io"
	"sync"
	"time"
)

const (
	// writeTimeout is how long a reader of standard error may read nothing before
	// more output is dropped.
	writeTimeout = time.Second
	// shortTimeout replaces it after ShortenWaits.
	shortTimeout = 100 * time.Millisecond
	// drainTimeout bounds any wait for a reader that is slow.
	drainTimeout = 10 * time.Second
	// roomSize is how many bytes may wait to be written before a plugin's output
	// must wait. pyplug's own few lines never do.
	roomSize = 1 << 20
	// chunkSize is how much one Write gets at most: small enough that progress of a
	// slow reader is seen, large enough for a gigabyte in seconds.
	chunkSize = 8 << 10
)

const eraseLine = "\r\x1b[K"

// screen is standard error: whole lines, written in order by one goroutine that runs
// while there is something to write, and a status line below them. Whatever is written
// there goes through shown, apart from our commands for CI systems. The zero value is
// ready. It is safe for concurrent use.
type screen struct {
	color bool // set before the first use

	mu      sync.Mutex // protects what follows
	buf     []byte     // lines that the writer has not started to write
	pending int        // bytes not written, including buf
	written int64      // bytes written since the start
	writing bool       // the writer runs
	shown   bool       // a status line is, or will be, the last thing written
	stuck   bool       // a wait timed out, and nothing was written since
	broken  bool       // the reader has gone away: everything is dropped
	short   bool       // shorten was called
	// changed is closed when something was written or waits were shortened; nil if
	// nobody waits for it.
	changed chan struct{}
}

// add queues whole lines.
func (c *screen) add(w io.Writer, lines string) { c.addCommands(w, shown(c.color, lines)) }

// addCommands queues whole lines that are harmless, and are commands for a CI system.
func (c *screen) addCommands(w io.Writer, lines string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue(w, lines)
}

// offer queues whole lines if there is room.
func (c *screen) offer(w io.Writer, lines string) {
	lines = shown(c.color, lines)
	c.mu.Lock()
	defer c.mu.Unlock()
	if lines != "" && c.pending < roomSize {
		c.queue(w, lines)
	}
}

// addWaiting queues whole lines once there is room. It drops them and returns false if
// the reader reads nothing for long, and from then on at once, until it reads again.
func (c *screen) addWaiting(w io.Writer, lines string) bool {
	lines = shown(c.color, lines)
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending >= roomSize {
		if c.stuck || !c.wait(writeTimeout) {
			return false
		}
	}
	c.queue(w, lines)
	return true
}

// queue appends to the buffer and starts the writer. Held: mu.
func (c *screen) queue(w io.Writer, text string) {
	if c.broken {
		return
	}
	if c.shown {
		text, c.shown = eraseLine+text, false
	}
	c.buf = append(c.buf, text...)
	c.pending += len(text)
	if !c.writing && len(c.buf) > 0 {
		c.writing = true
		go c.write(w) // ends when all is written
	}
}

// write writes until nothing is left.
func (c *screen) write(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.buf) > 0 {
		rest := c.buf
		for c.buf = nil; len(rest) > 0 && !c.broken; {
			n := min(len(rest), chunkSize)
			c.mu.Unlock()
			_, err := w.Write(rest[:n])
			c.mu.Lock()
			rest = rest[n:]
			c.pending -= n
			c.written += int64(n)
			c.stuck = false
			if IsClosedPipe(err) { // other errors, such as a full disk, may pass
				c.broken, c.buf, c.pending = true, nil, 0
			}
			c.wake()
		}
	}
	c.writing = false
	c.wake()
}

// wait waits until something changed. It returns false if that takes longer than
// limit. Held: mu, except while it waits.
func (c *screen) wait(limit time.Duration) bool {
	if c.short {
		limit = min(limit, shortTimeout)
	}
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	changed := c.changed
	c.mu.Unlock()
	timer := time.NewTimer(limit)
	select {
	case <-changed:
	case <-timer.C:
	}
	timer.Stop()
	c.mu.Lock()
	if c.changed == changed {
		c.stuck = true
		return false
	}
	return true
}

// wake makes every waiter look again. Held: mu.
func (c *screen) wake() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// flush waits until all that was added before is written, or until the reader reads
// nothing for limit. It waits for a slow reader at most drainTimeout, and for one that
// is known to read nothing only if limit is long.
func (c *screen) flush(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began, mark := time.Now(), c.written+int64(c.pending)
	for c.writing && c.written < mark && time.Since(began) < drainTimeout {
		if c.stuck && limit <= writeTimeout || !c.wait(limit) {
			return
		}
	}
}

// shorten shortens every wait, those in progress too.
func (c *screen) shorten() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.short = true
	c.wake()
}

// status shows text below all lines, in place of the status line before; empty text
// erases that. It shows nothing while lines wait to be written.
func (c *screen) status(w io.Writer, text string) {
	text = shown(c.color, text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if text != "" && c.pending > 0 {
		return
	}
	c.queue(w, text)
	c.shown = text != "" && !c.broken
}
