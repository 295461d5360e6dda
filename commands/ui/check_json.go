package ui

import (
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// CheckJSON prints a check as one line on standard output: {"schema", "plugin",
// "transport", "verdict", "exit_code", "took_ms", "stages", "error"}, with the JSON of
// [hook.Stage]. The verdict of a check that ended early is "failure", and "error" says
// why.
func (s *Streams) CheckJSON(c CheckResult) error {
	verdict := c.Worst()
	if c.Err != nil {
		verdict = hook.Failure
	}
	return s.writeJSON(struct {
		Plugin    schema.Path       `json:"plugin"`
		Transport string            `json:"transport,omitempty"`
		Verdict   hook.Verdict      `json:"verdict"`
		ExitCode  int               `json:"exit_code"`
		TookMS    hook.Milliseconds `json:"took_ms"`
		Stages    []hook.Stage      `json:"stages"`
		Error     *hook.Error       `json:"error,omitempty"`
	}{schema.Path(c.Plugin), c.Transport, verdict, c.ExitCode, hook.Milliseconds(c.Took), append([]hook.Stage{}, c.Stages...), c.Err})
}
