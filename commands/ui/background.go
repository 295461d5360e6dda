package ui

import (
	"bytes"
	"encoding/json"

	"github.com/pyplug/pyplug/runner/hook"
)

// EventJSON is an event of the plugin with that name as a line of JSON: {"schema",
// "time", "name"} and the other fields of the event.
func EventJSON(name string, e hook.Event) []byte {
	_, fields, _ := bytes.Cut(compactJSON(e), []byte(",")) // the first is the time, to the nanosecond
	line := withSchema(struct {
		Time string `json:"time"`
		Name string `json:"name"`
	}{e.Time.Format(timeFormat), name}, json.RawMessage("{"+string(fields)))
	return append(line, '\n')
}

// Line prints a line on standard output: the name of a background plugin, or the JSON
// that says how to attach to it.
func (s *Streams) Line(line string) error { return s.writeOut(visibleJSON([]byte(line + "\n"))) }

// Stopped prints which plugins were stopped: {"schema", "stopped"}.
func (s *Streams) Stopped(names []string) error {
	return s.writeJSON(struct {
		Stopped []string `json:"stopped"`
	}{append([]string{}, names...)})
}
