package ui

import (
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// checkShape is the public shape of a check.
type checkShape struct {
	Plugin    string       `json:"plugin"`
	Transport string       `json:"transport,omitempty"`
	Verdict   string       `json:"verdict"`
	ExitCode  int          `json:"exit_code"`
	TookMS    Milliseconds `json:"took_ms"`
	Stages    []stageShape `json:"stages"`
	Error     *hook.Error  `json:"error,omitempty"`
}

type stageShape struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Fix is that of the worst finding.
	Fix      string         `json:"fix,omitempty"`
	TookMS   Milliseconds   `json:"took_ms"`
	Details  map[string]any `json:"details,omitempty"`
	Findings []findingShape `json:"findings,omitempty"`
}

type findingShape struct {
	ID      string      `json:"id,omitempty"`
	Status  string      `json:"status"`
	Message string      `json:"message"`
	Fix     string      `json:"fix,omitempty"`
	File    string      `json:"file,omitempty"`
	Line    int         `json:"line,omitempty"`
	Error   *hook.Error `json:"error,omitempty"`
}

// CheckJSON prints a check as one line on standard output: {"schema", "plugin",
// "transport", "verdict", "exit_code", "took_ms", "stages": [{"name", "status",
// "message", "fix", "took_ms", "details", "findings": [{"id", "status",
// "message", "fix", "file", "line", "error"}]}], "error"}. The verdict of a
// check that ended early is "failure", and "error" says why.
func (s *Streams) CheckJSON(c CheckResult) error {
	shape := checkShape{c.Plugin, c.Transport, c.Worst().String(), c.ExitCode, Milliseconds(c.Took), []stageShape{}, c.Err}
	if c.Err != nil {
		shape.Verdict = hook.Failure.String()
	}
	for _, st := range c.Stages {
		stage := stageShape{Name: st.Name, Status: st.Verdict.String(), Message: st.Message, TookMS: Milliseconds(st.Took), Details: st.Details}
		if worst := st.Worst(); worst != nil {
			stage.Fix = strings.Join(worst.Fix, "\n")
		}
		for _, f := range st.Findings {
			stage.Findings = append(stage.Findings,
				findingShape{f.ID, f.Verdict.String(), f.Message, strings.Join(f.Fix, "\n"), f.File, f.Line, f.Err})
		}
		shape.Stages = append(shape.Stages, stage)
	}
	return s.writeJSON(shape)
}
