package ui

import (
	"slices"

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

// forFile escapes a text of several lines for a file.
func forFile(text string) string { return visible.text(text, "") }
