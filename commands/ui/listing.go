package ui

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Hooks prints what a plugin offers on standard output: a hook's signature and
// the first line of its documentation, or the schema as an object.
func (s *Streams) Hooks(sch schema.Schema, jsonFace bool) error {
	if jsonFace {
		return s.writeJSON(struct {
			Schema int           `json:"schema"`
			Hooks  []schema.Hook `json:"hooks"`
		}{1, withoutNulls(sch.Hooks)})
	}
	// Documentation starts in one column, which long signatures do not push.
	const widest = 48
	signatures, column := make([]string, len(sch.Hooks)), 0
	for i, h := range sch.Hooks {
		signatures[i] = s.outLine(h.Signature())
		if n := utf8.RuneCountInString(signatures[i]); n <= widest {
			column = max(column, n)
		}
	}
	var b strings.Builder
	for i, h := range sch.Hooks {
		doc := s.outLine(h.Doc)
		if h.Implemented != nil && !*h.Implemented {
			doc = strings.TrimSuffix("(not implemented) "+doc, " ")
		}
		b.WriteString(signatures[i])
		if doc != "" {
			gap := max(0, column-utf8.RuneCountInString(signatures[i]))
			b.WriteString(strings.Repeat(" ", gap+2) + doc)
		}
		b.WriteByte('\n')
	}
	return s.writeOut(b.String())
}

// withoutNulls makes absent lists empty ones.
func withoutNulls(hooks []schema.Hook) []schema.Hook {
	hooks = append([]schema.Hook{}, hooks...)
	for i := range hooks {
		hooks[i].Params = append([]schema.Param{}, hooks[i].Params...)
	}
	return hooks
}

// Healthy prints that a probe found a plugin healthy: {"schema", "healthy",
// "took_ms", "pid", "python"} or a line.
func (s *Streams) Healthy(took time.Duration, info hook.Info, jsonFace bool) error {
	if !jsonFace {
		return s.writeOut(s.PaintOut(Green, "healthy") + "\n")
	}
	line := fmt.Appendf(nil, `{"schema":1,"healthy":true,"took_ms":%s`, milliseconds(took))
	if info.PID != 0 {
		line = fmt.Appendf(line, `,"pid":%d`, info.PID)
	}
	if info.Python != "" {
		line = appendJSONText(append(line, `,"python":`...), info.Python)
	}
	return s.writeOut(string(line) + "}\n")
}

// Version prints pyplug's version, the Go that built it and the system it is
// for, and what this system lacks, if anything: {"schema", "version", "go",
// "platform", "lacks"} or text.
func (s *Streams) Version(version, goVersion, platform, lacks string, jsonFace bool) error {
	if jsonFace {
		return s.writeJSON(struct {
			Schema   int    `json:"schema"`
			Version  string `json:"version"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
			Lacks    string `json:"lacks,omitempty"`
		}{1, version, goVersion, platform, lacks})
	}
	text := fmt.Sprintf("pyplug %s (%s, %s)\n", version, goVersion, platform)
	if lacks != "" {
		text += s.outLine(lacks) + "\n"
	}
	return s.writeOut(text)
}

// outLine makes one line for standard output harmless.
func (s *Streams) outLine(line string) string {
	line = strings.ReplaceAll(line, "\n", " ")
	return string(appendEscaped(nil, line, s.OutTTY, true))
}

func (s *Streams) writeJSON(shape any) error { return s.writeOut(string(compactJSON(shape)) + "\n") }

func (s *Streams) writeOut(text string) error {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	s.clearForOut()
	_, err := io.WriteString(s.Out, text)
	return err
}
