package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// Hook prints the full description of one hook, for people, or as {"schema", "hooks": [hook],
// "example"}. example is a command line that calls it.
func (s *Streams) Hook(h schema.Hook, example string, asJSON bool) error {
	h.Explain()
	if asJSON {
		return s.writeJSON(schema.Schema{Hooks: []schema.Hook{h}}, map[string]string{"example": example})
	}
	return s.Print(explanation(h, example, width(s.Out, s.OutTTY)))
}

// explanation returns the help of a hook in lines of at most width cells, or of any length if width
// is 0. The documentation and the example are not wrapped.
func explanation(h schema.Hook, example string, width int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(folded(signature(h), "    ", 0, width), "\n") {
		b.WriteString(Paint(Bold, line) + "\n")
	}
	if text := strings.TrimSpace(h.Documentation); text != "" {
		b.WriteString("\n" + visible(text) + "\n")
	}
	title, inner, isMethod := "Parameters", "Fields of ", strings.Contains(h.Name, "/")
	if isMethod {
		title, inner = "Fields", "Message "
	}
	writeParams(&b, title, h.Params, isMethod, width)
	for _, message := range h.Messages {
		writeParams(&b, inner+visible(message.Name), message.Fields, true, width)
	}
	var template bytes.Buffer
	if isMethod && json.Indent(&template, h.Template, "  ", "  ") == nil {
		fmt.Fprintf(&b, "\n%s\n  %s\n", Paint(Bold, "Request as JSON, for --input:"), visible(template.String()))
	}
	fmt.Fprintf(&b, "\n%s\n  %s\n", Paint(Bold, "Example:"), visible(example))
	return b.String()
}

// writeParams writes up to three lines for each parameter: its description, the words that set it,
// and its choices.
func writeParams(b *strings.Builder, title string, params []schema.Param, isMethod bool, width int) {
	if len(params) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", Paint(Bold, title+":"))
	for _, p := range params {
		text := p.String()
		if isMethod {
			kind := p.Type
			if len(p.Choices) > 0 {
				kind, _, _ = strings.Cut(kind, " (") // the choices follow
			}
			text = p.Name + ": " + kind
		}
		if p.Required {
			text += "  (required)"
		}
		if p.Unresolved != "" {
			text += "  (not converted: " + p.Unresolved + ")"
		}
		fmt.Fprintf(b, "  %s\n", folded(visible(oneLine(text)), "      ", 2, width))
		below := func(text string) { fmt.Fprintf(b, "      %s\n", folded(visible(text), "      ", 6, width)) }
		if len(p.Words) > 0 {
			below(strings.Join(p.Words, " or "))
		}
		if len(p.Choices) > 0 {
			var choices []string
			for _, value := range p.Choices {
				choices = append(choices, schema.WordOf(value))
			}
			below("one of " + strings.Join(choices, ", "))
		}
	}
}

// Indented prints a value as indented JSON.
func (s *Streams) Indented(value any) error {
	var text bytes.Buffer
	_ = json.Indent(&text, compactJSON(value), "", "  ") // cannot fail: compactJSON returns valid JSON
	return s.writeOut(text.Bytes(), []byte("\n"))
}

// Hooks lists a plugin's hooks on standard output: the signature and the first line of
// the documentation of each, or the schema as an object.
func (s *Streams) Hooks(sch schema.Schema, asJSON bool) error {
	if asJSON {
		return s.writeJSON(sch)
	}
	return s.Print(listing(sch.Hooks, width(s.Out, s.OutTTY)))
}

// listing returns a line for each hook. Documentation starts in one column, but long signatures do
// not move it. If width is not 0, text that does not fit continues below.
func listing(hooks []schema.Hook, width int) string {
	const widest, narrowest = 48, 24
	column := 0
	for _, h := range hooks {
		if cells := runewidth.StringWidth(signature(h)); cells <= widest {
			column = max(column, cells+2)
		}
	}
	if width > 0 && width-column < narrowest {
		column = 4
	}
	var b strings.Builder
	for _, h := range hooks {
		writeEntry(&b, signature(h), oneLine(h.Doc), column, width)
	}
	return b.String()
}

func signature(h schema.Hook) string { return visible(oneLine(h.Signature())) }

// Fact is a value and its key in JSON, which is also its title for people.
type Fact struct{ Key, Value string }

// Facts prints head, a line with the known facts, and below it the facts in more that are not
// empty. As JSON it prints all of them as one object.
func (s *Streams) Facts(head string, known, more []Fact, asJSON bool) error {
	more = slices.DeleteFunc(more, func(f Fact) bool { return f.Value == "" })
	if asJSON {
		var shapes []any
		for _, f := range append(known, more...) {
			shapes = append(shapes, map[string]string{f.Key: f.Value})
		}
		return s.writeJSON(shapes...)
	}
	rows := [][]string{{"", ""}}
	for _, f := range more {
		rows = append(rows, []string{strings.ReplaceAll(f.Key, "_", " "), f.Value})
	}
	return s.Print(head + "\n" + strings.Join(append(table(rows)[1:], ""), "\n"))
}

// Format says how a result is printed.
type Format uint8

// The formats of a result.
const (
	// Plain is the JSON value on one line.
	Plain Format = iota
	// Raw prints a string without quotes, bytes verbatim, nothing for null, the only string or
	// bytes field of a message, and the JSON of any other value.
	Raw
	// Envelope is one object with the hook, the duration and the process.
	Envelope
)

// Result prints a hook's result on standard output. A streamed result has no value, because
// [Streams.Item] has printed its items, so Result prints only its envelope. The error is one of
// writing, see [IsClosedPipe], or, with [Raw], of a message's bytes field that is not base64.
//
// An envelope is {"schema", "hook", "result", "binary", "took_ms", "pid", "generation"}. "binary"
// is true for bytes, whose result is base64 text. A streamed result has "done": true instead of the
// value.
func (s *Streams) Result(f Format, hookName string, r hook.Result, info hook.Info, generation int) error {
	more := compactJSON(struct {
		TookMS     hook.Milliseconds `json:"took_ms"`
		PID        int               `json:"pid,omitempty"`
		Generation int               `json:"generation,omitempty"`
	}{hook.Milliseconds(r.Took), info.PID, generation})
	rest := "," + string(more[1:len(more)-1])
	switch {
	case !r.Streamed:
		return s.writeItem(f, hookName, "result", r.Item, rest)
	case f == Envelope:
		return s.writeItem(f, hookName, "done", hook.Item{Value: []byte("true")}, rest)
	}
	return nil
}

// Item prints one item of a streamed result at once. Its envelope is {"schema", "hook", "item",
// "binary"}. It returns the same errors as [Streams.Result].
func (s *Streams) Item(f Format, hookName string, item hook.Item) error {
	return s.writeItem(f, hookName, "item", item, "")
}

// writeItem prints a value. Its envelope is {"schema", "hook", key: value}, with rest before its
// end.
func (s *Streams) writeItem(f Format, hookName, key string, item hook.Item, rest string) error {
	if f == Raw {
		return s.writeRaw(item)
	}
	value := s.asShown(item.JSON())
	if f != Envelope {
		return s.writeOut(value, []byte("\n"))
	}
	start := withSchema(map[string]string{"hook": hookName})
	if item.Binary {
		rest = `,"binary":true` + rest
	}
	return s.writeOut(start[:len(start)-1], []byte(`,"`+key+`":`), value, []byte(rest+"}\n"))
}

// writeRaw prints an item in the form of --raw.
func (s *Streams) writeRaw(item hook.Item) error {
	text, newline, err := wire.AppendRaw(nil, item, s.asShown)
	switch {
	case err != nil || len(text) == 0 && !newline:
		return err
	case newline:
		return s.writeOut(text, []byte("\n"))
	}
	return s.writeOut(text)
}

// RawLine appends the line of `run --lines --raw` for a result or an item: the output of --raw,
// with a newline even for bytes and null.
func (s *Streams) RawLine(dst []byte, item hook.Item) []byte {
	dst, _, _ = wire.AppendRaw(dst, item, s.asShown) // the base64 of a message is valid
	return append(dst, '\n')
}

// asShown returns a hook's JSON, made harmless if standard output is a terminal.
func (s *Streams) asShown(value []byte) []byte {
	if s.OutTTY {
		return visibleJSON(value)
	}
	return value
}

// Lines returns standard output for the answers of `run --lines`: lines of JSON, or with raw the
// lines of [Streams.RawLine]. It returns errors of writing, see [IsClosedPipe].
func (s *Streams) Lines(raw bool) io.Writer { return linesOut{s, raw} }

type linesOut struct {
	s   *Streams
	raw bool
}

func (l linesOut) Write(lines []byte) (int, error) {
	if l.raw {
		return len(lines), l.s.writeOut(lines)
	}
	return len(lines), l.s.writeOut(l.s.asShown(lines))
}
