package commands

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// manyEvents is how many events may wait for a reader of --events. More are dropped,
// and counted: the plugin does not wait for that reader.
const manyEvents = 4096

// eventTimeout is how long close waits for that reader.
const eventTimeout = 2 * time.Second

// eventLog writes every transition of a plugin as one line of JSON, in a goroutine of
// its own: the pool that reports one must not wait. It is made by openEvents. A nil
// eventLog ignores events.
type eventLog struct {
	to     io.WriteCloser
	events chan hook.Event
	done   chan struct{} // closed when all is written
	warn   func(text string)

	mu   sync.Mutex // protects what follows
	name string
	lost int
}

// openEvents opens the file of --events to append to it. Ending ctx ends the wait for
// the reader of a named pipe.
func (f *program) openEvents(ctx context.Context, name string) (*eventLog, error) {
	var to io.WriteCloser = keepOpen{f.streams.Out}
	if name != "-" {
		file, err := hook.Interruptible(ctx, func() (*os.File, error) {
			return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		})
		if canceled := asCanceled(err); canceled != nil {
			return nil, canceled
		}
		if err != nil {
			return nil, usage("--events: %w", err)
		}
		to = file
	}
	l := &eventLog{to: to, events: make(chan hook.Event, manyEvents), done: make(chan struct{}), warn: f.streams.Warn}
	go l.write() // ends with close
	return l, nil
}

// keepOpen is standard output, which is not ours to close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// named says which plugin the events are of. It comes before the first.
func (l *eventLog) named(name string) {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.name = name
	}
}

// add queues an event. It does not wait.
func (l *eventLog) add(e hook.Event) {
	if l == nil {
		return
	}
	select {
	case l.events <- e:
	default:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lost++
	}
}

// write writes the queued events. After a failed write it writes no more: the reader is
// gone, or its disk is full, and half a line is there.
func (l *eventLog) write() {
	defer close(l.done)
	broken := false
	for e := range l.events {
		if broken {
			continue
		}
		l.mu.Lock()
		name := l.name
		l.mu.Unlock()
		if _, err := l.to.Write(ui.EventJSON(name, e)); err != nil {
			broken = true
			if !ui.IsClosedPipe(err) {
				l.warn("--events: " + err.Error() + ": no more are written")
			}
		}
	}
}

// close waits until all events are written, two seconds at most. No event may follow.
func (l *eventLog) close() {
	if l == nil {
		return
	}
	close(l.events)
	limit := time.NewTimer(eventTimeout)
	defer limit.Stop()
	select {
	case <-l.done:
	case <-limit.C:
		return // it ends with the process, and the file with it
	}
	if l.lost > 0 {
		l.warn("--events: some events were dropped: nobody read them in time")
	}
	if err := l.to.Close(); err != nil {
		l.warn("--events: " + err.Error())
	}
}
