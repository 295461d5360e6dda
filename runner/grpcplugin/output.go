package grpcplugin

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// scanner finds the handshake in the output of a process. It passes all other lines to the output.
type scanner struct {
	out   *output
	found chan string // its capacity is one handshake

	mu   sync.Mutex // protects the following
	over bool       // the handshake is found
	said
}

// said is the information in the lines around a handshake.
type said struct {
	noise       string // the first line before the handshake, quoted
	lines       int    // the number of lines before the handshake
	onStderr    string // a handshake on standard error, which hosts do not read
	wantsCookie bool   // a line mentions the magic cookie
}

// scan is called for each line and never blocks.
func (s *scanner) scan(line proc.Line) {
	if !s.isHandshake(line) {
		s.out.line(string(line.Stream), line.Text, line.Cut)
	}
}

// isHandshake reports whether the line is the handshake. It records information from earlier lines.
// A line that was cut is longer than any handshake.
func (s *scanner) isHandshake(line proc.Line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	looks := line.Cut == 0 && handshake.Looks(line.Text)
	text := strings.ToLower(line.Text)
	s.wantsCookie = s.wantsCookie || strings.Contains(text, "cookie") || strings.Contains(text, "not meant to be executed directly")
	switch {
	case line.Stream == proc.Stderr:
		if looks && s.onStderr == "" {
			s.onStderr = shortened(line)
		}
	case looks:
		s.over = true
		s.found <- line.Text
		return true
	default:
		if s.lines++; s.lines == 1 {
			s.noise = shortened(line)
		}
	}
	return false
}

// heard returns the information so far.
func (s *scanner) heard() said {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// shortened quotes a line, or the beginning of a long one.
func shortened(line proc.Line) string {
	const most = 60
	switch text := []rune(strings.ToValidUTF8(line.Text, "�")); {
	case len(text) == 0:
		return "an empty line"
	case len(text) > most:
		return fmt.Sprintf("%q… (%d bytes)", string(text[:most]), len(line.Text)+line.Cut)
	}
	return fmt.Sprintf("%q", line.Text)
}

// missing returns the error of a process that printed no handshake, without its kind. limit is the
// timeout after which pyplug killed the process, or 0 if the process exited.
func (s *scanner) missing(cfg *Config, limit time.Duration) *hook.Error {
	cookie, said := cfg.ShownCookie(), s.heard()
	err := error(&hook.LimitError{What: "no handshake on standard output", Limit: limit})
	if limit == 0 {
		err = errors.New("the plugin exited before it printed a handshake")
	}
	unended := "" // a handshake without a newline, which was complete when the process was killed
	select {
	case unended = <-s.found:
	default:
	}
	var hints []schema.Hint
	switch {
	case said.onStderr != "":
		err = fmt.Errorf("%w, but standard error has %s", err, said.onStderr)
		hints = schema.Hints("print the handshake on standard output, and logs on standard error")
	case unended != "":
		err = fmt.Errorf("%w, only %q without a newline", err, unended)
		hints = schema.Hints("end the handshake with a newline")
	case said.lines == 1:
		err = fmt.Errorf("%w, only %s", err, said.noise)
	case said.lines > 1:
		err = fmt.Errorf("%w, only %d other lines, the first %s", err, said.lines, said.noise)
	}
	switch {
	case cookie != "" && (said.wantsCookie || len(hints) == 0 && limit == 0):
		hints = schema.Hints("set the magic cookie that the plugin's source names: %s %s", schema.Setting("cookie"), schema.QuoteLine([]string{cookie}))
	case said.wantsCookie && cfg.CookieKey != "":
		hints = schema.Hints("check %s: the plugin may expect another magic cookie", schema.Setting("cookie"))
	case said.wantsCookie:
		hints = schema.Hints("pass %s KEY=VALUE: the plugin expects the magic cookie that its host sets", schema.Setting("cookie"))
	case len(hints) > 0:
	case limit > 0:
		hints = []schema.Hint{
			schema.Hintf("print the handshake as soon as the server listens, and flush it: print(…, flush=True)"),
			schema.Hintf("allow more time with %s", schema.Setting("start-timeout")),
		}
	case cfg.CookieKey == "":
		hints = schema.Hints("pass %s KEY=VALUE if the plugin expects the magic cookie of its host", schema.Setting("cookie"))
	}
	return &hook.Error{Reason: ReasonNoHandshake, Hints: hints, Err: err}
}

const (
	// A gRPC server on asyncio that is written like gRPC's own examples prints these when the
	// interrupt has ended its loop.
	ignoredLine      = "Exception ignored "
	loopClosedLine   = "RuntimeError: Event loop is closed"
	neverAwaitedLine = "RuntimeWarning: coroutine 'AioServer.shutdown' was never awaited"
)

// output prints the lines of all streams of a plugin. After stop, it drops the traceback of the
// KeyboardInterrupt that pyplug's signal causes.
type output struct {
	mu    sync.Mutex // held while print runs
	print func(stream, text string, cut int)
	// held contains lines that may be part of that traceback.
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

// writer returns a writer for the lines of a stream.
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
			o.flush() // the held lines belong to another exception
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

// end prints the held lines when the process is gone. It drops a traceback without a last line,
// because pyplug killed the process while it printed.
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
