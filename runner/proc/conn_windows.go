package proc

import "time"

// ReadNow is Read: what is there is not asked for, so that it waits.
func (c *Conn) ReadNow(b []byte) (int, error) { return c.Read(b) }

// Wait returns at once: ReadNow waits.
func (c *Conn) Wait() error { return nil }

// Wake has nobody to wake.
func (c *Conn) Wake() {}

// Await waits for nothing.
func (p *Process) Await(time.Duration) (ready, settled bool) { return false, false }

// take reads what comes, and holds the stream until passed.
func (l *lingering) take(b []byte) (int, error) {
	n, err := l.Read(b)
	l.hand.Lock()
	return n, err
}

// empty is true: what waits is not asked for.
func (l *lingering) empty() bool { return true }
