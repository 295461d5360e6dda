package ui

import "github.com/pyplug/pyplug/runner/hook"

// EventJSON is an event of the plugin with that name as a line of JSON: {"schema",
// "time", "name", "worker", "generation", "pid", "from", "to", "reason", "exit",
// "delay_ms"}.
func EventJSON(name string, e hook.Event) []byte {
	shape := struct {
		Time       string       `json:"time"`
		Name       string       `json:"name"`
		Worker     int          `json:"worker,omitempty"`
		Generation int          `json:"generation"`
		PID        int          `json:"pid,omitempty"`
		From       string       `json:"from,omitempty"`
		To         string       `json:"to"`
		Reason     string       `json:"reason,omitempty"`
		Exit       *hook.Exit   `json:"exit,omitempty"`
		DelayMS    milliseconds `json:"delay_ms,omitempty"`
	}{
		Time: e.Time.Format(timeFormat), Name: name, Worker: e.Worker, Generation: e.Generation, PID: e.PID,
		From: e.From.String(), To: e.To.String(), Reason: e.Reason, Exit: e.Exit, DelayMS: milliseconds(e.Delay),
	}
	return append(withSchema(shape), '\n')
}

// Attach prints how to attach to a background plugin, a line of JSON on standard output.
func (s *Streams) Attach(line []byte) error { return s.writeOut(string(line) + "\n") }

// Name prints the name of a started plugin, as a line.
func (s *Streams) Name(name string) error { return s.writeOut(name + "\n") }

// Stopped prints which plugins were stopped: {"schema", "stopped"}.
func (s *Streams) Stopped(names []string) error {
	return s.writeJSON(struct {
		Stopped []string `json:"stopped"`
	}{append([]string{}, names...)})
}
