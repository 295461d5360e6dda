package ui

import (
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// What the reports for other programs, JUnit and GitHub, share.

// findingsOf are a stage's findings, the worst first. If the stage is worse than all
// of them, its message is one more.
func findingsOf(st hook.Stage) []hook.Finding {
	findings := slices.Clone(st.Findings)
	if worst := st.Worst(); st.Verdict > hook.Skipped && (worst == nil || worst.Verdict < st.Verdict) {
		findings = append(findings, hook.Finding{Verdict: st.Verdict, Message: st.Message})
	}
	slices.SortStableFunc(findings, func(a, b hook.Finding) int { return int(b.Verdict) - int(a.Verdict) })
	return findings
}

// visible escapes a text of several lines for a file.
func visible(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = string(appendVisible(nil, strings.TrimSuffix(line, "\r")))
	}
	return strings.Join(lines, "\n")
}

// newFilePage returns a page for a file: no terminal, no directory.
func newFilePage() *page {
	return &page{
		relative: func(path string) string { return path },
		escape:   func(text string, _ bool) string { return visible(text) },
	}
}
