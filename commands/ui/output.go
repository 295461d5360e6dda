package ui

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// Output prints a plugin's output on standard error. Make one with [Streams.PluginOutput].
// Flush and Close of nil do nothing. It is safe for concurrent use.
type Output struct {
	s          *Streams
	label      string
	quiet      bool
	generation atomic.Int64
	dropped    atomic.Int64           // the number of dropped lines that are not reported yet
	name       atomic.Pointer[string] // the name under which the plugin is kept alive, for JSON
}

// PluginOutput returns an Output that prints the plugin's label before each line. If quiet
// is set, it prints nothing. Until [Output.SetGeneration], its JSON lines have no generation.
func (s *Streams) PluginOutput(label string, quiet bool) *Output {
	return &Output{s: s, label: oneLine(label), quiet: quiet}
}

// Shown reports whether the lines are printed.
func (o *Output) Shown() bool { return o != nil && !o.quiet }

// SetGeneration sets the generation of the lines that follow.
func (o *Output) SetGeneration(n int) { o.generation.Store(int64(n)) }

// Line prints one line, without its newline, of the stream "stdout" or "stderr". cut is the
// number of bytes left out at its end. Line waits for a slow reader of standard error. If the
// reader reads nothing for a second, Line drops and counts lines until it reads again, and
// reports the count later.
//
// A text line is "label | text"; a JSON line is {"time", "plugin", "generation",
// "stream", "line", "cut"}.
func (o *Output) Line(stream, text string, cut int) {
	if o.quiet {
		return
	}
	dropped := o.dropped.Swap(0)
	lines := o.droppedText(dropped) + o.lineText(stream, strings.TrimSuffix(text, "\r"), cut)
	if !o.s.screen.addWaiting(o.s.Err, lines) {
		o.dropped.Add(dropped + 1)
	}
}

// Flush waits a moment until the lines so far are written, so that they appear before later
// output on standard output. It does not wait for a slow reader.
func (o *Output) Flush() {
	if o != nil {
		o.s.screen.flush(o.s.Err, 50*time.Millisecond)
	}
}

// Close waits until everything is written, but at most one second for a reader that
// reads nothing, and ten seconds for a slow one. It may be called more than once.
func (o *Output) Close() {
	if o != nil {
		o.s.print(o.droppedText(o.dropped.Swap(0)))
	}
}

// ownStream is the stream of pyplug's own lines in a log.
const ownStream = "pyplug"

// Own prints a line of pyplug's own in the log of the plugin name, like [Output.Line].
func (o *Output) Own(name, text string) {
	o.name.Store(&name)
	o.Line(ownStream, text, 0)
}

func (o *Output) lineText(stream, text string, cut int) string {
	label := o.label
	if name := o.name.Load(); name != nil && o.s.LogJSON {
		label = *name
	} else if stream == ownStream {
		label = stream
	}
	if o.s.LogJSON {
		shape := outputLine{o.s.Now().Format(wire.Time), label, int(o.generation.Load()), stream, text, cut}
		return string(compactJSON(shape)) + "\n"
	}
	line := label + " | " + visible(text)
	if cut > 0 {
		line += fmt.Sprintf(" … (%d bytes left out)", cut)
	}
	return line + "\n"
}

// droppedText reports how many lines were dropped, if any.
func (o *Output) droppedText(n int64) string {
	if n == 0 {
		return ""
	}
	text := schema.Plural(n, "line") + " of the plugin's output dropped: standard error is not being read"
	if o.s.LogJSON {
		return o.s.logJSON("warning", text, "plugin", o.label)
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

// LogLine prints a line of a plugin's log on standard output. As text it prints the time, the
// plugin's name and the line, or only the line, unchanged, if stream is empty. For pyplug's own
// lines the name is "pyplug", or "NAME pyplug" if among is set, because there are several logs. As
// JSON it prints the object of [Output.Line] with "schema", always with the plugin's name.
func (s *Streams) LogLine(name string, among bool, at time.Time, generation int, stream, text string, asJSON bool) error {
	at = at.Local()
	switch {
	case asJSON:
		shape := outputLine{Plugin: name, Generation: generation, Stream: stream, Line: text}
		if !at.IsZero() {
			shape.Time = at.Format(wire.Time)
		}
		return s.writeJSON(shape)
	case stream == "":
		return s.Print(text + "\n")
	case stream == "pyplug" && among:
		name += " " + stream
	case stream == "pyplug":
		name = stream
	}
	return s.Print(at.Format("2006-01-02 15:04:05.000 ") + name + " | " + visible(text) + "\n")
}
