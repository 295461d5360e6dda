package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// checkShape is the public shape of a check.
type checkShape struct {
	Plugin    string       `json:"plugin"`
	Transport string       `json:"transport,omitempty"`
	Verdict   string       `json:"verdict"`
	ExitCode  int          `json:"exit_code"`
	TookMS    milliseconds `json:"took_ms"`
	Stages    []stageShape `json:"stages"`
	Error     *hook.Error  `json:"error,omitempty"`
}

type stageShape struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Fix is that of the worst finding.
	Fix      string                     `json:"fix,omitempty"`
	TookMS   milliseconds               `json:"took_ms"`
	Details  map[string]json.RawMessage `json:"details,omitempty"`
	Findings []findingShape             `json:"findings,omitempty"`
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
	shape := checkShape{
		Plugin: c.Plugin, Transport: c.Transport, Verdict: c.verdict().String(), ExitCode: c.ExitCode,
		TookMS: milliseconds(c.Took), Stages: []stageShape{}, Error: c.Err,
	}
	for _, st := range c.Stages {
		shape.Stages = append(shape.Stages, shapeOfStage(st))
	}
	return s.writeJSON(shape)
}

func shapeOfStage(st hook.Stage) stageShape {
	shape := stageShape{
		Name: st.Name, Status: st.Verdict.String(), Message: st.Message,
		TookMS: milliseconds(st.Took), Details: detailsJSON(st.Details),
	}
	if worst := st.Worst(); worst != nil {
		shape.Fix = strings.Join(worst.Fix, "\n")
	}
	for _, f := range st.Findings {
		shape.Findings = append(shape.Findings, findingShape{
			ID: f.ID, Status: f.Verdict.String(), Message: f.Message, Fix: strings.Join(f.Fix, "\n"),
			File: f.File, Line: f.Line, Error: f.Err,
		})
	}
	return shape
}

// detailsJSON writes each value as JSON and leaves out null. A value that JSON does not
// have, such as NaN, becomes text.
func detailsJSON(details map[string]any) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for name, value := range details {
		switch v := value.(type) {
		case time.Duration:
			value = milliseconds(v)
		case error:
			value = v.Error()
		}
		text, err := plainJSON(value)
		if err != nil {
			text, _ = plainJSON(fmt.Sprint(value)) // a string cannot fail
		}
		if string(text) != "null" {
			values[name] = text
		}
	}
	return values
}
