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
