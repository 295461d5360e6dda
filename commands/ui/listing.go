package ui

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

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
	return s.Print(listing(sch.Hooks))
}

// listing is a line for each hook. Documentation starts in one column, but long
// signatures do not move it.
func listing(hooks []schema.Hook) string {
	const widest = 48
	column := 0
	for _, h := range hooks {
		if cells := runewidth.StringWidth(signature(h)); cells <= widest {
			column = max(column, cells)
		}
	}
	var b strings.Builder
	for _, h := range hooks {
		doc := oneLine(h.Doc)
		line := runewidth.FillRight(signature(h), column) + "  " + doc
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
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
		text += lacks + "\n"
	}
	return s.Print(text)
}
