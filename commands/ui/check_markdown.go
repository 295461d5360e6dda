package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// summarySize is how many bytes a step summary may have: GitHub drops one
	// of more than a MiB, to which other programs may have added.
	summarySize = 256 << 10
	// cellSize is how many bytes of a text stand in a cell.
	cellSize = 2 << 10
)

// markdown is a text that grows to summarySize, and counts the lines that do
// not fit.
type markdown struct {
	strings.Builder
	left int
}

// line adds a line, unless it or one before it does not fit.
func (m *markdown) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\n"
	if m.left > 0 || m.Len()+len(text) > summarySize {
		m.left++
		return
	}
	m.WriteString(text)
}

// WriteStepSummary writes checks as the markdown of a GitHub step summary: a
// table for each plugin. It stays well below the size that GitHub drops, and
// says what was left out. The error is that of w.
func WriteStepSummary(w io.Writer, all []Checked) error {
	var m markdown
	for _, c := range all {
		word, rest, _ := c.verdictLine(false)
		m.line("### pyplug check: %s\n", cell(c.Plugin))
		m.line("**%s**%s\n", word, cell(rest))
		if len(c.Stages) == 0 {
			continue
		}
		m.line("| verdict | stage | message | time |")
		m.line("|---|---|---|--:|")
		for _, st := range c.Stages {
			m.stage(st)
		}
		m.line("")
	}
	if m.left > 0 {
		fmt.Fprintf(&m, "\n%s left out: the log has them\n", plural(m.left, "line"))
	}
	_, err := io.WriteString(w, m.String())
	return err
}

// stage adds the row of a stage, and one for each finding that is not its own.
func (m *markdown) stage(st hook.Stage) {
	took, message := "", cell(st.Message)
	if st.Took >= time.Millisecond {
		took = span(st.Took)
	}
	own := ownFinding(st)
	if own >= 0 {
		message = findingCell(st.Findings[own])
	}
	m.line("| %s | %s | %s | %s |", st.Verdict, cell(st.Name), message, took)
	for i, f := range st.Findings {
		if i != own {
			m.line("| %s | | %s | |", f.Verdict, findingCell(f))
		}
	}
}

// findingCell is a finding with its name and what to do.
func findingCell(f hook.Finding) string {
	text := cell(f.Message)
	if f.ID != "" {
		text += " `" + f.ID + "`"
	}
	for _, fix := range f.Fix {
		text += "<br>fix: " + cell(fix)
	}
	return text
}

// cell makes a text harmless for markdown, also inside a table.
func cell(text string) string {
	if len(text) > cellSize {
		text = strings.ToValidUTF8(text[:cellSize], "") + "…"
	}
	return markdownEscapes.Replace(visible(text))
}

var markdownEscapes = strings.NewReplacer(
	"\n", "<br>", "&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", `\`, `\\`, "`", "\\`",
	"*", `\*`, "_", `\_`, "~", `\~`, "[", `\[`, "]", `\]`, "#", `\#`, "$", `\$`, "@", "&#64;",
)
