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
	label      string // escaped, with what parts it from the line
	generation atomic.Int64
	dropped    atomic.Int64 // lines, not yet told
}

// PluginOutput returns an Output. Until [Output.SetGeneration] its JSON lines
// have no generation.
func (s *Streams) PluginOutput(opts OutputOptions) *Output {
	o := &Output{s: s, opts: opts}
	if opts.Label != "" {
		o.label = s.escapeLine(opts.Label) + " | "
	}
	return o
}

// SetGeneration tells which generation the lines come from now on.
func (o *Output) SetGeneration(n int) { o.generation.Store(int64(n)) }

// Line shows one line, without its newline, of the stream "stdout" or "stderr".
// cut is how many of its bytes were left out. A slow reader of standard error
// is waited for; when it has taken nothing for a second lines are dropped at
// once until it takes something, counted, and told of later.
//
// A text line is "label | text"; a JSON line is {"time", "plugin",
// "generation", "stream", "line", "cut"}.
func (o *Output) Line(stream, text string, cut int) {
	if o.opts.Quiet {
		return
	}
	text = strings.TrimSuffix(text, "\r")
	var dropped int64
	added := o.s.screen.addWaiting(o.s.Err, func(b []byte) []byte {
		if dropped = o.dropped.Swap(0); dropped > 0 {
			b = o.appendDropped(b, dropped)
		}
		if o.opts.JSON {
			return o.appendJSON(b, stream, text, cut)
		}
		return o.appendText(b, text, cut)
	})
	if !added {
		o.dropped.Add(1)
	}
}

// Flush waits a moment until the lines so far are written, so that they are
// seen before what is printed next on standard output. A reader that is slow is
// not waited for.
func (o *Output) Flush() { o.s.screen.flush(shortly) }

// shortly bounds Flush.
const shortly = 50 * time.Millisecond

// Close waits until all is written: a second for a reader that takes nothing,
// ten for one that is slow, less after [Streams.ShortenWaits]. It may be called more than once.
func (o *Output) Close() {
	if dropped := o.dropped.Swap(0); dropped > 0 {
		o.s.screen.add(o.s.Err, string(o.appendDropped(nil, dropped)))
	}
	o.s.screen.flush(patience)
}

func (o *Output) appendText(b []byte, text string, cut int) []byte {
	b = append(b, o.label...)
	b = appendEscaped(b, text, o.s.ErrTTY, o.label == "")
	if cut > 0 {
		b = append(b, " … ("+grouped(int64(cut))+" bytes left out)"...)
	}
	return append(b, '\n')
}

func (o *Output) appendJSON(b []byte, stream, text string, cut int) []byte {
	b = append(b, `{"time":"`...)
	b = o.s.now().AppendFormat(b, timeFormat)
	b = appendJSONText(append(b, `","plugin":`...), o.opts.Label)
	if n := o.generation.Load(); n != 0 {
		b = strconv.AppendInt(append(b, `,"generation":`...), n, 10)
	}
	b = appendJSONText(append(b, `,"stream":`...), stream)
	b = appendJSONText(append(b, `,"line":`...), text)
	if cut > 0 {
		b = strconv.AppendInt(append(b, `,"cut":`...), int64(cut), 10)
	}
	return append(b, "}\n"...)
}

func (o *Output) appendDropped(b []byte, n int64) []byte {
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

// appendJSONText appends text as a JSON string for standard error. Readers of
// logs are strict, so what is not UTF-8 becomes U+FFFD.
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
