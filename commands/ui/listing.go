package ui

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Hooks lists a plugin's hooks on standard output: the signature and the first line of
// the documentation of each, or the schema as an object.
func (s *Streams) Hooks(sch schema.Schema, asJSON bool) error {
	if asJSON {
		return s.writeJSON(struct {
			Hooks []schema.Hook `json:"hooks"`
		}{withoutNulls(sch.Hooks)})
	}
	return s.writeOut(s.listing(sch.Hooks))
}

// listing is a line for each hook. On a terminal that is too narrow for it the
// documentation has lines of its own.
func (s *Streams) listing(hooks []schema.Hook) string {
	room := math.MaxInt
	if s.OutTTY {
		room = s.out().columns()
	}
	// Documentation starts in one column. Long signatures do not move it.
	const widest = 48
	signatures, column := make([]string, len(hooks)), 0
	for i, h := range hooks {
		signatures[i] = s.out().line(h.Signature())
		if n := textCells(signatures[i]); n <= widest {
			column = max(column, n)
		}
	}
	var b strings.Builder
	for i, h := range hooks {
		doc := s.out().line(h.Doc)
		if h.Implemented != nil && !*h.Implemented {
			doc = strings.TrimSuffix("(not implemented) "+doc, " ")
		}
		line := signatures[i]
		if doc != "" {
			line += strings.Repeat(" ", max(0, column-textCells(line))+2) + doc
		}
		if textCells(line) > room {
			line = wrap(strings.SplitAfter(signatures[i], ", "), "", "        ", room)
			if doc != "" {
				line += "\n" + wrap(strings.SplitAfter(doc, " "), "    ", "    ", room)
			}
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// withoutNulls makes absent lists empty ones.
func withoutNulls(hooks []schema.Hook) []schema.Hook {
	hooks = append([]schema.Hook{}, hooks...)
	for i := range hooks {
		hooks[i].Params = append([]schema.Param{}, hooks[i].Params...)
	}
	return hooks
}

// Template prints an empty request of a hook, indented JSON to be filled in, as it is;
// or {"schema", "hook", "template"}.
func (s *Streams) Template(text []byte, hookName string, asJSON bool) error {
	text = bytes.TrimSpace(text)
	if !asJSON {
		if s.OutTTY {
			text = visibleJSON(text)
		}
		return s.writeOut(string(text) + "\n")
	}
	return s.writeItem(Envelope, hookName, "template", hook.Item{Value: text}, "")
}

// Version prints pyplug's version, the Go that built it, its platform, and what this
// system lacks, if anything: text, or {"schema", "version", "go", "platform", "lacks"}.
func (s *Streams) Version(version, goVersion, platform, lacks string, asJSON bool) error {
	if asJSON {
		return s.writeJSON(struct {
			Version  string `json:"version"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
			Lacks    string `json:"lacks,omitempty"`
		}{version, goVersion, platform, lacks})
	}
	text := fmt.Sprintf("pyplug %s (%s, %s)\n", version, goVersion, platform)
	if lacks != "" {
		text += s.out().line(lacks) + "\n"
	}
	return s.writeOut(text)
}
