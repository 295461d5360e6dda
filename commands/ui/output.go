package ui

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// OutputOptions say how a plugin's output is shown.
type OutputOptions struct {
	// Label names the plugin before each line.
	Label string
	// Quiet shows nothing.
	Quiet bool
	// JSON makes every line an object.
	JSON bool
}

// Output shows what a plugin prints, on standard error. Make one with
// [Streams.PluginOutput]. It is safe for concurrent use.
type Output struct {
	s          *Streams
	opts       OutputOptions
	label      string // escaped, with the separator
	generation atomic.Int64
	dropped    atomic.Int64 // lines, not yet reported
}

// PluginOutput returns an Output. Until [Output.SetGeneration] its JSON lines have no
// generation.
func (s *Streams) PluginOutput(opts OutputOptions) *Output {
	o := &Output{s: s, opts: opts}
	if opts.Label != "" {
		o.label = s.err().line(opts.Label) + " | "
	}
	return o
}

// SetGeneration says which generation the lines come from now on.
func (o *Output) SetGeneration(n int) { o.generation.Store(int64(n)) }

// Line shows one line, without its newline, of the stream "stdout" or "stderr". cut is
// how many of its bytes were left out. Line waits for a slow reader of standard error.
// If that reads nothing for a second, lines are dropped at once until it reads
// again; they are counted and reported later.
//
// A text line is "label | text"; a JSON line is {"time", "plugin", "generation",
// "stream", "line", "cut"}.
func (o *Output) Line(stream, text string, cut int) {
	if o.opts.Quiet {
		return
	}
	dropped := o.dropped.Swap(0)
	lines := o.droppedText(dropped) + o.lineText(stream, strings.TrimSuffix(text, "\r"), cut)
	if !o.s.screen.addWaiting(o.s.Err, lines) {
		o.dropped.Add(dropped + 1)
	}
}

// Flush waits a moment until the lines so far are written, so that they appear before
// what is printed next on standard output. It does not wait for a slow reader.
func (o *Output) Flush() { o.s.screen.flush(50 * time.Millisecond) }

// Close waits until everything is written: a second for a reader that reads nothing,
// ten for a slow one, less after [Streams.ShortenWaits]. It may be called more than
// once.
func (o *Output) Close() {
	if n := o.dropped.Swap(0); n > 0 {
		o.s.screen.add(o.s.Err, o.droppedText(n))
	}
	o.s.screen.flush(writeTimeout)
}

func (o *Output) lineText(stream, text string, cut int) string {
	if o.opts.JSON {
		shape := outputLine{o.s.Now().Format(timeFormat), o.opts.Label, int(o.generation.Load()), stream, text, cut}
		return string(compactJSON(shape)) + "\n"
	}
	line := o.label + o.s.err().escape(text, o.label == "")
	if cut > 0 {
		line += " … (" + grouped(int64(cut)) + " bytes left out)"
	}
	return line + "\n"
}

// droppedText reports how many lines were dropped, if any.
func (o *Output) droppedText(n int64) string {
	if n == 0 {
		return ""
	}
	text := plural(int(n), "line") + " of the plugin's output dropped: standard error is not being read"
	if o.opts.JSON {
		return o.s.logJSON("warning", text, "plugin", o.opts.Label)
	}
	return "… " + text + "\n"
}

// outputLine is the public shape of a line that a plugin printed.
type outputLine struct {
	Time       string `json:"time,omitempty"`
	Plugin     string `json:"plugin"`
	Generation int    `json:"generation,omitempty"`
	Stream     string `json:"stream,omitempty"`
	Line       string `json:"line"`
	Cut        int    `json:"cut,omitempty"` // bytes left out
}

// LogLine prints a line of a plugin's log on standard output: the time, the plugin's
// name, or "pyplug" for pyplug's own lines, and the line; or the object that
// [Output.Line] prints, with its "schema". A line without a stream is printed as it is.
func (s *Streams) LogLine(name string, at time.Time, generation int, stream, text string, asJSON bool) error {
	at = at.Local()
	if asJSON {
		shape := outputLine{Plugin: name, Generation: generation, Stream: stream, Line: text}
		if !at.IsZero() {
			shape.Time = at.Format(timeFormat)
		}
		return s.writeJSON(shape)
	}
	if stream == "" {
		return s.writeOut(s.out().escape(text, true) + "\n")
	}
	label := name
	if stream == "pyplug" {
		label = stream
	}
	return s.writeOut(at.Format("2006-01-02 15:04:05.000 ") + label + " | " + s.out().escape(text, false) + "\n")
}

// plural is a count and a noun, such as "184 000 lines".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(int64(n)) + " " + noun + "s"
}

// grouped writes a count with blanks between the thousands, such as "184 000".
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
