package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/metrics"
	"github.com/pyplug/pyplug/runner/schema"
)

// Background is a background plugin for [Streams.Statuses], in its public form.
type Background struct {
	Name string `json:"name"`
	// Plugin is its absolute path. Python is the path of its interpreter, or empty if the plugin
	// chooses its own.
	Plugin schema.Path `json:"plugin"`
	// State is the state in Status if that is known. Otherwise it is "unknown", or "stopped" if the
	// plugin ended.
	State hook.State `json:"state"`
	// Problem says why the status is unknown. It is empty if the status is known.
	Problem string `json:"problem,omitempty"`
	*hook.Status
	// Socket is the address for calls. Log is the file with its output.
	Socket schema.Path `json:"socket"`
	Log    schema.Path `json:"log"`
	// Daemon is the pid of its daemon, or 0 if unknown. Version is the version of the daemon's
	// pyplug, or empty if unknown.
	Daemon  int         `json:"daemon_pid,omitempty"`
	Version string      `json:"version,omitempty"`
	Python  schema.Path `json:"python,omitempty"`
}

// note returns the text of the column NOTE.
func (s *Streams) note(b Background) string {
	st := b.Status
	if st == nil {
		return b.Problem
	}
	note := cmp.Or(st.Note, st.Reason)
	switch {
	case st.State == hook.StateBackoff:
		if note == "" && st.LastExit != nil {
			note = "exited: " + st.LastExit.String()
		}
		return "restarting in " + schema.Span(time.Duration(st.NextStart)) + "; " + cmp.Or(note, "failed to start")
	case note != "":
		return note
	case st.Queued > 0:
		return fmt.Sprintf("%d running, %d waiting", st.Running, st.Queued)
	case st.LastRestart != "":
		return "last restart: " + s.lastRestart(st)
	}
	return ""
}

// Statuses prints the status of background plugins on standard output: a table whose
// first columns are NAME and STATE, or {"schema", "plugins"}.
func (s *Streams) Statuses(plugins []Background, asJSON bool) error {
	if asJSON {
		return s.writeJSON(map[string][]Background{"plugins": append([]Background{}, plugins...)})
	}
	if len(plugins) == 0 {
		return nil
	}
	rows := [][]string{{"NAME", "STATE", "WORKERS", "PID", "UPTIME", "CALLS", "FAILED", "RESTARTS", "MEMORY", "PLUGIN", "NOTE"}}
	for _, b := range plugins {
		rows = append(rows, s.statusRow(b))
	}
	return s.Print(strings.Join(s.fitted(rows), "\n") + "\n")
}

// fitted returns the lines of the status table. If a terminal is too narrow, the last two columns
// are below each line.
func (s *Streams) fitted(rows [][]string) []string {
	lines, room := table(rows), width(s.Out, s.OutTTY)
	if room == 0 || !slices.ContainsFunc(lines, func(line string) bool { return runewidth.StringWidth(line) > room }) {
		return lines
	}
	var below []string
	for i, row := range rows {
		last := len(row) - 2
		below = append(below, folded(strings.TrimSpace(visible(oneLine(row[last]+"  "+row[last+1]))), "  ", 2, room))
		rows[i] = row[:last]
	}
	lines = table(rows)
	for i := range lines[1:] {
		lines[i+1] += "\n  " + below[i+1]
	}
	return lines
}

// statusRow returns the columns of a plugin. A dash stands for an unknown value.
func (s *Streams) statusRow(b Background) []string {
	row := []string{b.Name, string(b.State), "", "-", "-", "-", "-", "-", "-", schema.Relative(string(b.Plugin), s.cwd()), s.note(b)}
	st := b.Status
	if st == nil {
		return row
	}
	if st.Workers > 1 {
		row[2] = fmt.Sprintf("%d/%d", st.Ready, st.Workers)
	}
	if st.PID != 0 {
		row[3], row[4] = strconv.Itoa(st.PID), schema.Span(time.Duration(st.Uptime).Truncate(time.Second))
	}
	row[5], row[6], row[7] = fmt.Sprint(st.Calls), fmt.Sprint(st.Failed), strconv.Itoa(st.Restarts)
	if st.Memory != 0 {
		row[8] = fmt.Sprintf("%d MB", (st.Memory+1<<19)>>20)
	}
	return row
}

// StatusWatch prints changes of background plugins. Create one with [Streams.WatchStatuses]. Only
// one goroutine may use it.
type StatusWatch struct {
	s    *Streams
	json bool
	last map[string]Background // by name
}

// WatchStatuses returns a StatusWatch.
func (s *Streams) WatchStatuses(asJSON bool) *StatusWatch {
	return &StatusWatch{s: s, json: asJSON, last: map[string]Background{}}
}

// Show prints a line for each plugin whose state, process or note has changed, and for each plugin
// that is gone: "TIME NAME STATE" and a note, or an object {"schema", "plugins"} with only those
// plugins.
func (w *StatusWatch) Show(plugins []Background) error {
	var changed []Background
	now := map[string]Background{}
	for _, b := range plugins {
		now[b.Name] = b
		if before, known := w.last[b.Name]; !known || w.line(lasting(b)) != w.line(lasting(before)) {
			changed = append(changed, b)
		}
	}
	for name, b := range w.last {
		if _, still := now[name]; !still {
			changed = append(changed, Background{Name: name, Plugin: b.Plugin, Socket: b.Socket, Log: b.Log, State: hook.StateStopped})
		}
	}
	w.last = now
	switch {
	case len(changed) == 0:
		return nil
	case w.json:
		return w.s.Statuses(changed, true)
	}
	text := ""
	for _, b := range changed {
		text += w.s.Now().Format("15:04:05") + "  " + w.line(b) + "\n"
	}
	return w.s.Print(text)
}

// lasting returns a plugin without the values that change all the time: the time until its next
// start, and the number of waiting calls.
func lasting(b Background) Background {
	if b.Status != nil {
		st := *b.Status
		st.NextStart, st.Queued, b.Status = 0, 0, &st
	}
	return b
}

// line returns the line that a watch prints for a plugin.
func (w *StatusWatch) line(b Background) string {
	line := b.Name + "  " + string(b.State)
	if b.Status != nil && b.Status.PID != 0 {
		line += fmt.Sprintf("  pid %d", b.Status.PID)
	}
	if note := w.s.note(b); note != "" {
		line += "  " + note
	}
	return oneLine(line)
}

// Healthy prints that a plugin is healthy: a line, or {"schema", "name", "healthy", "took_ms",
// "pid", "python"}. The name is empty if there is only one plugin.
func (s *Streams) Healthy(name string, took time.Duration, info hook.Info, asJSON bool) error {
	if !asJSON {
		return s.Print(strings.TrimRight(Paint(Green, "healthy")+"  "+name, " ") + "\n")
	}
	return s.writeJSON(struct {
		Name    string            `json:"name,omitempty"`
		Healthy bool              `json:"healthy"`
		TookMS  hook.Milliseconds `json:"took_ms"`
		PID     int               `json:"pid,omitempty"`
		Python  string            `json:"python,omitempty"`
	}{name, true, hook.Milliseconds(took), info.PID, info.Python})
}

// Health prints a line of a watch: the word "healthy", or "unhealthy" and the error of a probe. As
// JSON it is {"schema", "time", "healthy", "reason"}.
func (s *Streams) Health(probe *hook.Error, asJSON bool) error {
	line, reason := Paint(Green, "healthy"), ""
	if probe != nil {
		reason = probe.Error()
		line = Paint(Red, "unhealthy") + "  " + oneLine(reason)
	}
	if asJSON {
		return s.writeJSON(struct {
			Time    string `json:"time"`
			Healthy bool   `json:"healthy"`
			Reason  string `json:"reason,omitempty"`
		}{s.Now().Format(wire.Time), probe == nil, reason})
	}
	return s.Print(line + "\n")
}

// Line prints a line on standard output: the name of a background plugin, or the JSON that says how
// to attach to it.
func (s *Streams) Line(line string) error { return s.writeOut(visibleJSON([]byte(line + "\n"))) }

// Stopped prints the names of the stopped plugins: {"schema", "stopped"}.
func (s *Streams) Stopped(names []string) error {
	return s.writeJSON(map[string][]string{"stopped": append([]string{}, names...)})
}

// Metrics prints the status of background plugins in the text format of Prometheus. See
// [metrics.AppendStatus].
func (s *Streams) Metrics(plugins []Background) error {
	all := make([]metrics.Plugin, len(plugins))
	for i, b := range plugins {
		all[i] = metrics.Plugin{Name: b.Name, Status: b.Status}
	}
	return s.writeOut(metrics.AppendStatus(nil, all...))
}
