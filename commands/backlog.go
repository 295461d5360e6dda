package commands

import (
	"sync/atomic"
	"time"
)

// manyTold is how much may wait to be told. What is more is left out, and counted.
const manyTold = 4096

// tellPatience is how long somebody waits until all is told.
const tellPatience = 2 * time.Second

// backlog tells what becomes of a plugin in a goroutine of its own, in order: who
// tells of it must not wait for a terminal or a disk, since the plugin would. Make one
// with newBacklog. It is safe for concurrent use.
type backlog struct {
	work chan func()
	done chan struct{} // closed when all is told
	lost atomic.Int64
}

func newBacklog() *backlog {
	b := &backlog{work: make(chan func(), manyTold), done: make(chan struct{})}
	go func() { // ends with close
		defer close(b.done)
		for tell := range b.work {
			tell()
		}
	}()
	return b
}

// add queues what is to be told. It does not wait.
func (b *backlog) add(tell func()) {
	select {
	case b.work <- tell:
	default:
		b.lost.Add(1)
	}
}

// flush waits until what was queued is told, for a while.
func (b *backlog) flush() {
	told := make(chan struct{})
	limit := time.NewTimer(tellPatience)
	defer limit.Stop()
	select {
	case b.work <- func() { close(told) }:
	case <-limit.C:
		return
	}
	select {
	case <-told:
	case <-limit.C:
	}
}

// close does as flush, and returns how much was left out. Nothing may be added after
// it. What then waits for somebody who reads ends with the process.
func (b *backlog) close() (lost int64) {
	close(b.work)
	limit := time.NewTimer(tellPatience)
	defer limit.Stop()
	select {
	case <-b.done:
	case <-limit.C:
	}
	return b.lost.Load()
}
