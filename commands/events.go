package commands

import (
	"context"
	"io"
	"os"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// eventLog writes every transition of a plugin as one line of JSON. Make one with
// openEvents; nil discards them.
type eventLog struct {
	to      io.Writer
	backlog *backlog
	broken  bool // a write failed; used by the backlog's goroutine
	warn    func(text string)
}

// openEvents opens the file of --events. It is closed with the process.
func (f *program) openEvents(ctx context.Context, name string) (*eventLog, error) {
	to := f.streams.Out
	if name != "-" {
		file, err := openOutput(ctx, "--events", name, os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		to = file
	}
	return &eventLog{to: to, backlog: newBacklog(), warn: f.streams.Warn}, nil
}

// add queues an event of the plugin with that name. It does not block.
func (l *eventLog) add(name string, e hook.Event) {
	if l != nil {
		l.backlog.add(func() { l.write(name, e) })
	}
}

// write writes an event. After a failed write it writes nothing more: the reader is gone
// or its disk is full, and half a line may be written.
func (l *eventLog) write(name string, e hook.Event) {
	if l.broken {
		return
	}
	_, err := l.to.Write(ui.EventJSON(name, e))
	l.broken = err != nil
	if l.broken && !ui.IsClosedPipe(err) {
		l.warn("--events: " + err.Error() + ": no more events are written")
	}
}

// close writes the queued events. No event may follow.
func (l *eventLog) close() {
	if l != nil && l.backlog.close() > 0 {
		l.warn("--events: some events were dropped: writing them took too long")
	}
}
