package service

import (
	"sync/atomic"
	"time"
)

const (
	// maxBacklog is how many reports may wait. Further ones are dropped and counted.
	maxBacklog = 4096
	// backlogTimeout is how long flush and close wait for a reader.
	backlogTimeout = 2 * time.Second
)

// backlog runs reports in a goroutine of its own, in order: the plugin must not wait for a
// terminal or a disk. Make one with newBacklog. It is safe for concurrent use.
type backlog struct {
	reports chan func()
	done    chan struct{} // closed after the last report
	dropped atomic.Int64
}

func newBacklog() *backlog {
	b := &backlog{reports: make(chan func(), maxBacklog), done: make(chan struct{})}
	go func() { // ends with close
		defer close(b.done)
		for report := range b.reports {
			report()
		}
	}()
	return b
}

// add queues a report. It does not block.
func (b *backlog) add(report func()) {
	select {
	case b.reports <- report:
	default:
		b.dropped.Add(1)
	}
}

// flush waits for the queued reports, at most backlogTimeout.
func (b *backlog) flush() {
	flushed := make(chan struct{})
	b.add(func() { close(flushed) })
	closedSoon(flushed)
}

// close waits for the queued reports, at most backlogTimeout: the rest ends with the
// process. It returns how many were dropped. Nothing may be added after it.
func (b *backlog) close() (dropped int64) {
	close(b.reports)
	closedSoon(b.done)
	return b.dropped.Load()
}

// closedSoon waits until c is closed, at most backlogTimeout.
func closedSoon(c <-chan struct{}) {
	select {
	case <-c:
	case <-time.After(backlogTimeout):
	}
}
