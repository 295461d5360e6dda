package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Hook prints all that is known of one hook, for people, or as {"schema", "hooks": [hook],
// "example"}. Example is a command line that calls it.
func (s *Streams) Hook(h schema.Hook, example string, asJSON bool) error {
	h.Explain()
	if asJSON {
		return s.writeJSON(struct {
			Hooks   []schema.Hook `json:"hooks"`
			Example string        `json:"example"`
		}{withoutNulls([]schema.Hook{h}), example})
	}
	return s.Print(explanation(h, example, width(s.Out, s.OutTTY)))
}

// explanation is the help of a hook in lines of at most width cells, but for its documentation
// and its example; 0 is no limit.
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

// writeParams writes up to three lines for each parameter: what it is, the words that give
// it, and its choices.
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
			below("one of " + string(bytes.Join(rawTexts(p.Choices), []byte(", "))))
		}
	}
}

// rawTexts are values as a word gives them: a string without its quotes.
func rawTexts(values []json.RawMessage) [][]byte {
	texts := make([][]byte, len(values))
	for i, value := range values {
		texts[i] = value
		if value[0] == '"' {
			texts[i] = schema.Unquote(value)
		}
	}
	return texts
}

// Template prints an example request of a hook, indented JSON to be filled in, as it is;
// or {"schema", "hook", "template"}.
func (s *Streams) Template(text []byte, hookName string, asJSON bool) error {
	text = visibleJSON(bytes.TrimSpace(text))
	if asJSON {
		return s.writeItem(Envelope, hookName, "template", hook.Item{Value: compactJSON(json.RawMessage(text))}, "")
	}
	return s.writeOut(text, []byte("\n"))
}

// Hooks lists a plugin's hooks on standard output: the signature and the first line of
// the documentation of each, or the schema as an object.
func (s *Streams) Hooks(sch schema.Schema, asJSON bool) error {
	if asJSON {
		return s.writeJSON(struct {
			Hooks []schema.Hook `json:"hooks"`
			Notes []string      `json:"notes,omitempty"`
		}{withoutNulls(sch.Hooks), sch.Notes})
	}
	return s.Print(listing(sch.Hooks, width(s.Out, s.OutTTY)))
}

// listing is a line for each hook. Documentation starts in one column, but long
// signatures do not move it. If lines have a width, what does not fit follows below.
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

// withoutNulls makes absent lists empty ones.
func withoutNulls(hooks []schema.Hook) []schema.Hook {
	hooks = append([]schema.Hook{}, hooks...)
	for i := range hooks {
		hooks[i].Params = append([]schema.Param{}, hooks[i].Params...)
	}
	return hooks
}

// Fact is a value and its key in JSON, which is its title for people, too.
type Fact struct{ Key, Value string }

// Facts prints a line that has the known facts, and below it those of the others that are not empty,
// or all as a JSON object.
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
