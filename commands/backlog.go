package commands

import (
	"sync/atomic"
	"time"
)

// backlogSize is how many reports may wait. More are dropped, and counted.
const backlogSize = 4096

// flushTimeout is how long flush and close wait.
const flushTimeout = 2 * time.Second

// backlog runs reports about a plugin in a goroutine of its own, in order: the pool
// that reports a transition must not wait for a terminal or a disk. It is made by
// newBacklog and safe for concurrent use.
type backlog struct {
	work chan func()
	done chan struct{} // closed when all reports were made
	lost atomic.Int64
}

func newBacklog() *backlog {
	b := &backlog{work: make(chan func(), backlogSize), done: make(chan struct{})}
	go func() { // ends with close
		defer close(b.done)
		for report := range b.work {
			report()
		}
	}()
	return b
}

// add queues a report. It does not wait.
func (b *backlog) add(report func()) {
	select {
	case b.work <- report:
	default:
		b.lost.Add(1)
	}
}

// flush waits until the queued reports were made, two seconds at most.
func (b *backlog) flush() {
	done := make(chan struct{})
	limit := time.NewTimer(flushTimeout)
	defer limit.Stop()
	select {
	case b.work <- func() { close(done) }:
	case <-limit.C:
		return
	}
	select {
	case <-done:
	case <-limit.C:
	}
}

// close does as flush, and returns how many reports were dropped. Nothing may be added
// after it. A report that still waits for its reader ends with the process.
func (b *backlog) close() (lost int64) {
	close(b.work)
	limit := time.NewTimer(flushTimeout)
	defer limit.Stop()
	select {
	case <-b.done:
	case <-limit.C:
	}
	return b.lost.Load()
}
