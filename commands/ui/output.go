package ui

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/schema"
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
		o.label = s.escapeLine(opts.Label) + " | "
	}
	return o
}

// SetGeneration says which generation the lines come from now on.
func (o *Output) SetGeneration(n int) { o.generation.Store(int64(n)) }

// Line shows one line, without its newline, of the stream "stdout" or "stderr". cut is
// how many of its bytes were left out. Line waits for a slow reader of standard error.
// When that has taken nothing for a second, lines are dropped at once until it takes
// something; they are counted and reported later.
//
// A text line is "label | text"; a JSON line is {"time", "plugin", "generation",
// "stream", "line", "cut"}.
func (o *Output) Line(stream, text string, cut int) {
	if o.opts.Quiet {
		return
	}
	text = strings.TrimSuffix(text, "\r")
	added := o.s.screen.addWaiting(o.s.Err, func(b []byte) []byte {
		b = o.appendDropped(b)
		if o.opts.JSON {
			return appendLineJSON(b, o.opts.Label, o.s.now(), int(o.generation.Load()), stream, text, cut)
		}
		return o.appendText(b, text, cut)
	})
	if !added {
		o.dropped.Add(1)
	}
}

// Flush waits a moment until the lines so far are written, so that they appear before
// what is printed next on standard output. It does not wait for a slow reader.
func (o *Output) Flush() { o.s.screen.flush(50 * time.Millisecond) }

// Close waits until everything is written: a second for a reader that takes nothing,
// ten for a slow one, less after [Streams.ShortenWaits]. It may be called more than
// once.
func (o *Output) Close() {
	if o.dropped.Load() > 0 {
		o.s.screen.add(o.s.Err, string(o.appendDropped(nil)))
	}
	o.s.screen.flush(writeTimeout)
}

func (o *Output) appendText(b []byte, text string, cut int) []byte {
	b = appendEscaped(append(b, o.label...), text, o.s.ErrTTY, o.label == "")
	if cut > 0 {
		b = append(b, " … ("+grouped(int64(cut))+" bytes left out)"...)
	}
	return append(b, '\n')
}

// appendDropped reports the lines that were dropped, if any.
func (o *Output) appendDropped(b []byte) []byte {
	n := o.dropped.Swap(0)
	if n == 0 {
		return b
	}
	lines := "lines"
	if n == 1 {
		lines = "line"
	}
	text := fmt.Sprintf("%s %s of the plugin's output dropped: standard error is not being read", grouped(n), lines)
	if o.opts.JSON {
		return o.s.appendLog(b, "warning", text, []any{"plugin", o.opts.Label})
	}
	return append(b, "… "+text+"\n"...)
}

// LogLine prints a line of a plugin's log on standard output: the time, the plugin's
// name, or "pyplug" for pyplug's own lines, and the line; or the object that
// [Output.Line] prints, with its "schema". A line without a stream is printed as it is.
func (s *Streams) LogLine(name string, at time.Time, generation int, stream, text string, asJSON bool) error {
	at = at.Local()
	if asJSON {
		return s.writeOut(`{"schema":1,` + string(appendLineJSON(nil, name, at, generation, stream, text, 0)[1:]))
	}
	var b []byte
	if stream != "" {
		label := name
		if stream == "pyplug" {
			label = stream
		}
		b = at.AppendFormat(b, "2006-01-02 15:04:05.000 ")
		b = append(append(b, label...), " | "...)
	}
	b = appendEscaped(b, text, s.OutTTY, stream == "")
	return s.writeOut(string(append(b, '\n')))
}

// appendLineJSON appends the object of one line of a plugin's output. What is zero is
// left out, except the line.
func appendLineJSON(b []byte, plugin string, at time.Time, generation int, stream, text string, cut int) []byte {
	b = append(b, '{')
	if !at.IsZero() {
		b = append(at.AppendFormat(append(b, `"time":"`...), timeFormat), `",`...)
	}
	b = appendJSONText(append(b, `"plugin":`...), plugin)
	if generation != 0 {
		b = strconv.AppendInt(append(b, `,"generation":`...), int64(generation), 10)
	}
	if stream != "" {
		b = appendJSONText(append(b, `,"stream":`...), stream)
	}
	b = appendJSONText(append(b, `,"line":`...), text)
	if cut > 0 {
		b = strconv.AppendInt(append(b, `,"cut":`...), int64(cut), 10)
	}
	return append(b, "}\n"...)
}

// appendJSONText appends text as a JSON string. Readers of logs are strict, so what is
// not UTF-8 becomes U+FFFD.
func appendJSONText(b []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.Contains(text, "##") {
		return append(b, guardJSON(schema.Quote(text))...)
	}
	return schema.AppendQuote(b, text)
}

// grouped writes a count with blanks between the thousands, such as "184 000".
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
