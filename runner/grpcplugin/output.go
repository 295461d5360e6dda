package grpcplugin

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/runner/proc"
)

const (
	// keptNoise is how many lines before the handshake are kept, keptText how
	// much of each.
	keptNoise = 10
	keptText  = 200
	// maxLine is how much is kept of a line that comes over go-plugin's own
	// stream, as proc does for the pipes.
	maxLine = 16 << 10
	// What a gRPC server on asyncio complains of when the interrupt ended its
	// loop, as it does in every plugin that is written like gRPC's own examples.
	ignored      = "Exception ignored "
	loopClosed   = "RuntimeError: Event loop is closed"
	neverAwaited = "RuntimeWarning: coroutine 'AioServer.shutdown' was never awaited"
)

// Noise is a line that stood before the handshake. Other hosts refuse a plugin
// for it.
type Noise struct {
	// Text is the beginning of the line, Bytes how long the line was.
	Text  string
	Bytes int
}

// String shows the line, or its beginning.
func (n Noise) String() string {
	const most = 60
	switch text := []rune(n.Text); {
	case n.Bytes == 0:
		return "an empty line"
	case n.Bytes > len(n.Text), len(text) > most:
		return fmt.Sprintf("%q… (%d bytes)", string(text[:min(most, len(text))]), n.Bytes)
	}
	return fmt.Sprintf("%q", n.Text)
}

// output passes on what a plugin prints, from whichever source, a line at a
// time.
type output struct {
	mu   sync.Mutex // held while tell runs
	tell func(stream, text string, cut int)
	// held are lines that may turn out to be the traceback of our own
	// interrupt; nil while there are none.
	held     []string
	stopping bool
}

func (o *output) line(stream, text string, cut int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if stream == proc.Stderr.String() && o.stopping && o.hold(text) {
		return
	}
	o.tell(stream, text, cut)
}

// stop tells that the plugin is asked to go from here on. The traceback of the
// KeyboardInterrupt that this may cause, and what follows from it, is not the
// plugin's news.
func (o *output) stop() {
	o.mu.Lock()
	o.stopping = true
	o.mu.Unlock()
}

// hold keeps the lines of a traceback, and of those it is chained to, back until
// it is clear whose they are, and tells whether it took the line.
func (o *output) hold(text string) bool {
	switch {
	case text == "Traceback (most recent call last):" || strings.HasPrefix(text, ignored):
		if n := len(o.held); n > 0 && o.held[n-1] != "" && !strings.HasPrefix(o.held[n-1], ignored) {
			o.flush() // of another exception: this one has no part in it
		}
	case o.held == nil:
		return strings.HasSuffix(text, neverAwaited)
	case text == "KeyboardInterrupt" || strings.HasPrefix(text, "KeyboardInterrupt:"),
		text == loopClosed && strings.HasPrefix(o.held[0], ignored):
		o.held = nil
		return true
	case text == "" || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "During handling of ") ||
		strings.HasPrefix(text, "The above exception "):
	case strings.HasPrefix(o.held[len(o.held)-1], " ") && raisedLine().MatchString(text):
	default:
		o.flush()
		return false
	}
	o.held = append(o.held, text)
	return true
}

// end passes on what is held when nothing more will come. A traceback without
// its last line was ours: the process was killed while it wrote.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.held); n > 0 && !strings.HasPrefix(o.held[n-1], " ") {
		o.flush()
	}
}

func (o *output) flush() {
	for _, text := range o.held {
		o.tell(proc.Stderr.String(), text, 0)
	}
	o.held = nil
}

// copier is a writer that passes what is written to it on as lines. It belongs
// to one goroutine, go-plugin's.
type copier struct {
	out    *output
	stream string
	kept   []byte
	cut    int
}

func (c *copier) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte{'\n'})
		room := min(len(line), maxLine-len(c.kept))
		c.kept = append(c.kept, line[:room]...)
		c.cut += len(line) - room
		if ended {
			c.out.line(c.stream, strings.TrimSuffix(string(c.kept), "\r"), c.cut)
			c.kept, c.cut = c.kept[:0], 0
		}
		b = rest
	}
	return n, nil
}

// intake takes what the process prints: the line that may be the handshake to
// who waits for it, all else to the output.
type intake struct {
	out   *output
	looks func(text string) bool
	found chan string // has room for the one line

	mu       sync.Mutex // protects following
	over     bool       // the line came, or is no longer waited for
	noise    []Noise
	lines    int
	onStderr string // the first handshake that was printed there
}

func newIntake(out *output, looks func(string) bool) *intake {
	return &intake{out: out, looks: looks, found: make(chan string, 1)}
}

// take is called for each line. It never waits for a reader.
func (i *intake) take(line proc.Line) {
	if line.Stream == proc.Stdout {
		if i.handshake(line) {
			return
		}
	} else {
		i.astray(line)
	}
	i.out.line(line.Stream.String(), line.Text, line.Cut)
}

// handshake tells whether the line is the one that was waited for. A line that
// was cut is longer than any handshake.
func (i *intake) handshake(line proc.Line) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.over:
		return false
	case line.Cut == 0 && i.looks(line.Text):
		i.over = true
		i.found <- line.Text
		return true
	}
	if i.lines++; i.lines <= keptNoise {
		i.noise = append(i.noise, Noise{
			Text:  strings.ToValidUTF8(line.Text[:min(len(line.Text), keptText)], "�"),
			Bytes: len(line.Text) + line.Cut,
		})
	}
	return false
}

// astray keeps a handshake that was printed on standard error.
func (i *intake) astray(line proc.Line) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.over && i.onStderr == "" && i.looks(line.Text) {
		i.onStderr = line.Text[:min(len(line.Text), keptText)]
	}
}

// before is what came before the handshake: the first lines, and how many there
// were in all.
func (i *intake) before() ([]Noise, int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.noise, i.lines
}

// none is the error when no handshake came.
func (i *intake) none() *NoHandshakeError {
	i.mu.Lock()
	defer i.mu.Unlock()
	return &NoHandshakeError{Noise: i.noise, Lines: i.lines, OnStderr: i.onStderr}
}
