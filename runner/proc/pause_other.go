//go:build !linux

package proc

import "time"

func (p *outputPipe) pausable() error { return nil }

// Pause sleeps.
func (c *Conn) Pause(d time.Duration) { time.Sleep(d) }
