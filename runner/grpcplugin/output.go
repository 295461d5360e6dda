package grpcplugin

import (
	"strings"
	"sync"

	"github.com/pyplug/pyplug/runner/proc"
)

const (
	// A gRPC server on asyncio prints these when the interrupt has ended its loop, if it
	// is written like gRPC's own examples.
	ignoredLine      = "Exception ignored "
	loopClosedLine   = "RuntimeError: Event loop is closed"
	neverAwaitedLine = "RuntimeWarning: coroutine 'AioServer.shutdown' was never awaited"
)

// output prints the lines of a plugin from all its streams. After stop, it drops the
// traceback of the KeyboardInterrupt that pyplug's signal causes.
type output struct {
	mu    sync.Mutex // held while print runs
	print func(stream, text string, cut int)
	// held are lines that may turn out to be that traceback.
	held     []string
	stopping bool
}

func (o *output) line(stream, text string, cut int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if stream == string(proc.Stderr) && o.stopping && o.hold(text) {
		return
	}
	o.print(stream, text, cut)
}

// writer passes the lines of a stream on.
func (o *output) writer(stream proc.Stream) *proc.LineWriter {
	return &proc.LineWriter{Emit: func(text string, cut int) { o.line(string(stream), text, cut) }}
}

// stop records that pyplug is stopping the plugin.
func (o *output) stop() {
	o.mu.Lock()
	o.stopping = true
	o.mu.Unlock()
}

// hold keeps the lines of a traceback and its causes until the last line, which names the
// exception. It reports whether it kept the line.
func (o *output) hold(text string) bool {
	last := ""
	if len(o.held) > 0 {
		last = o.held[len(o.held)-1]
	}
	switch {
	case text == "Traceback (most recent call last):" || strings.HasPrefix(text, ignoredLine):
		if last != "" && !strings.HasPrefix(last, ignoredLine) {
			o.flush() // what is held is another exception's
		}
	case len(o.held) == 0:
		return strings.HasSuffix(text, neverAwaitedLine)
	case text == "KeyboardInterrupt" || strings.HasPrefix(text, "KeyboardInterrupt:"),
		text == loopClosedLine && strings.HasPrefix(o.held[0], ignoredLine):
		o.held = nil
		return true
	case text == "" || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "During handling of ") ||
		strings.HasPrefix(text, "The above exception "):
	case strings.HasPrefix(last, " ") && raisedLine().MatchString(text):
	default:
		o.flush()
		return false
	}
	o.held = append(o.held, text)
	return true
}

// end prints the held lines when the process is gone. It drops a traceback without a last
// line: pyplug killed the process while it printed.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.held); n > 0 && !strings.HasPrefix(o.held[n-1], " ") {
		o.flush()
	}
}

func (o *output) flush() {
	for _, text := range o.held {
		o.print(string(proc.Stderr), text, 0)
	}
	o.held = nil
}
