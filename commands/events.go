package commands

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// eventLog writes every transition of a plugin as one line of JSON. Make one with
// openEvents; nil discards them.
type eventLog struct {
	to      io.WriteCloser
	backlog *backlog
	name    atomic.Value // string: the plugin's name
	broken  bool         // a write failed; used by the backlog's goroutine
	warn    func(text string)
}

// openEvents opens the file of --events, and creates it if necessary. Ending ctx ends the
// wait for the reader of a named pipe.
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
	l := &eventLog{to: to, backlog: newBacklog(), warn: f.streams.Warn}
	l.setName("")
	return l, nil
}

// keepOpen is standard output, which is not ours to close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// setName sets the name of the plugin. It must precede the first event.
func (l *eventLog) setName(name string) {
	if l != nil {
		l.name.Store(name)
	}
}

// add queues an event. It does not block.
func (l *eventLog) add(e hook.Event) {
	if l != nil {
		l.backlog.add(func() { l.write(e) })
	}
}

// write writes an event. After a failed write it writes nothing more: the reader is gone
// or its disk is full, and half a line may be written.
func (l *eventLog) write(e hook.Event) {
	if l.broken {
		return
	}
	if _, err := l.to.Write(ui.EventJSON(l.name.Load().(string), e)); err != nil {
		l.broken = true
		if !ui.IsClosedPipe(err) {
			l.warn("--events: " + err.Error() + ": no more are written")
		}
	}
}

// close writes the queued events. No event may follow.
func (l *eventLog) close() {
	if l == nil {
		return
	}
	dropped, ok := l.backlog.close()
	if !ok {
		return // the file is closed with the process
	}
	if dropped > 0 {
		l.warn("--events: some events were left out: nobody read them in time")
	}
	if err := l.to.Close(); err != nil {
		l.warn("--events: " + err.Error())
	}
}
