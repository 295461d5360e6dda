package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// Background is a background plugin for [Streams.Statuses].
type Background struct {
	Name string
	// Plugin is its absolute path; Python the path of its interpreter, empty if the
	// plugin chooses that itself.
	Plugin, Python schema.Path
	// Socket is where it takes calls, Log the file with what it printed.
	Socket, Log schema.Path
	// Daemon is the pid of its daemon; 0 if that is unknown. Version is the pyplug of the
	// daemon; empty if that is unknown.
	Daemon  int
	Version string
	Status  hook.Status
	// Problem says why its status is unknown; empty if it is known.
	Problem string
	// Gone reports that it ended; then only its name and paths are known.
	Gone bool
}

// State is the state in one word.
func (b Background) State() string {
	switch {
	case b.Gone:
		return string(hook.StateStopped)
	case b.Problem != "":
		return "unknown"
	}
	return string(b.Status.State)
}

// note returns the text of the column NOTE.
func (b Background) note() string {
	st := b.Status
	note := cmp.Or(b.Problem, st.Note, st.Reason)
	switch {
	case b.Problem == "" && st.State == hook.StateBackoff:
		if note == "" && st.LastExit != nil {
			note = "exited: " + st.LastExit.String()
		}
		return "restarting in " + schema.Span(time.Duration(st.NextStart)) + "; " + cmp.Or(note, "failed to start") // which may be cut at its end
	case note != "":
		return note
	case st.Queued > 0:
		return fmt.Sprintf("%d running, %d waiting", st.Running, st.Queued)
	case st.LastRestart != "":
		return "last restart: " + st.LastRestart
	}
	return ""
}

// shape returns the JSON of a plugin: its name, the fields of its status, and where it is.
func (b Background) shape() json.RawMessage {
	type what struct {
		Name   string      `json:"name"`
		Plugin schema.Path `json:"plugin"`
	}
	type unknown struct {
		State   string `json:"state"`
		Problem string `json:"problem,omitempty"`
	}
	type where struct {
		Socket    schema.Path `json:"socket"`
		Log       schema.Path `json:"log"`
		DaemonPID int         `json:"daemon_pid,omitempty"`
		Version   string      `json:"version,omitempty"`
		Python    schema.Path `json:"python,omitempty"`
	}
	known := b.Status
	known.Concurrency, known.Since, known.Attach = 0, time.Time{}, nil // for programs that ask the socket
	var status any = known
	if b.Problem != "" || b.Gone {
		status = unknown{b.State(), b.Problem}
	}
	return joinJSON(what{b.Name, b.Plugin}, status, where{b.Socket, b.Log, b.Daemon, b.Version, b.Python})
}

// Statuses prints the status of background plugins on standard output: a table whose
// first columns are NAME and STATE, or {"schema", "plugins"}. If a terminal is too narrow for
// all columns, a note names those that are left out.
func (s *Streams) Statuses(plugins []Background, asJSON bool) error {
	if asJSON {
		return s.writeStatuses(plugins)
	}
	if len(plugins) == 0 {
		return nil
	}
	lines, hidden := s.statusTable(plugins)
	err := s.Print(strings.Join(lines, "\n") + "\n")
	if len(hidden) > 0 {
		s.Note("the terminal is too narrow for " + strings.Join(hidden, ", ") + "; --json has everything")
	}
	return err
}

func (s *Streams) writeStatuses(plugins []Background) error {
	shapes := make([]json.RawMessage, len(plugins))
	for i, b := range plugins {
		shapes[i] = b.shape()
	}
	return s.writeJSON(struct {
		Plugins []json.RawMessage `json:"plugins"`
	}{shapes})
}

// statusTitles are the titles of the status table. A narrow terminal has no room for those of
// wideTitles.
var (
	statusTitles = []string{"NAME", "STATE", "WORKERS", "PID", "UPTIME", "CALLS", "FAILED", "RESTARTS", "MEMORY", "PLUGIN", "NOTE"}
	wideTitles   = []string{"WORKERS", "PID", "PLUGIN"}
)

// statusRow returns the texts below statusTitles. A dash stands for an unknown value.
func (s *Streams) statusRow(b Background) []string {
	st := b.Status
	row := []string{b.Name, b.State(), "", "-", "-", "-", "-", "-", "-", schema.Relative(string(b.Plugin), s.cwd()), b.note()}
	if st.Workers > 1 {
		row[2] = fmt.Sprintf("%d/%d", st.Ready, st.Workers)
	}
	if st.PID != 0 {
		row[3], row[4] = strconv.Itoa(st.PID), schema.Span(time.Duration(st.Uptime).Truncate(time.Second))
	}
	if b.Problem == "" {
		row[5], row[6], row[7] = fmt.Sprint(st.Calls), fmt.Sprint(st.Failed), strconv.Itoa(st.Restarts)
	}
	if st.Memory != 0 {
		row[8] = fmt.Sprintf("%d MB", (st.Memory+1<<19)>>20)
	}
	return row
}

// statusTable is a line for the titles and one for each plugin. On a terminal no line is wider than
// that: notes that do not fit are below their lines, and a narrow one lacks the columns hidden.
func (s *Streams) statusTable(plugins []Background) (lines, hidden []string) {
	rows := [][]string{statusTitles}
	for _, b := range plugins {
		rows = append(rows, s.statusRow(b))
	}
	room := width(s.Out, s.OutTTY)
	fits := func() bool {
		lines = table(rows)
		return room == 0 || !slices.ContainsFunc(lines, func(line string) bool { return runewidth.StringWidth(line) > room })
	}
	empty := func(title string) { // which leaves the column out
		for _, row := range rows[1:] {
			row[slices.Index(statusTitles, title)] = ""
		}
	}
	if fits() {
		return lines, nil
	}
	empty("NOTE")
	if !fits() {
		hidden = slices.DeleteFunc(slices.Clone(wideTitles), func(title string) bool { return !strings.Contains(lines[0], title) })
		for _, title := range wideTitles {
			empty(title)
		}
		fits()
	}
	var below []string
	for i, line := range lines {
		below = append(below, runewidth.Truncate(line, room, "…"))
		if i == 0 {
			continue
		}
		if note := plugins[i-1].note(); note != "" {
			note = "  " + folded(visible(oneLine(note)), "  ", 2, room)
			below = append(below, strings.Split(note, "\n")...)
		}
	}
	return below, hidden
}

// changed reports whether b is worth a line after before.
func (b Background) changed(before Background) bool {
	now, last := b.Status, before.Status
	return b.State() != before.State() || b.Problem != before.Problem || now.Note != last.Note || now.Reason != last.Reason ||
		now.PID != last.PID || now.Generation != last.Generation || now.Restarts != last.Restarts
}

// StatusWatch prints the status of background plugins repeatedly: on a terminal as a table
// that it redraws, elsewhere as a line for each change. Make one with
// [Streams.WatchStatuses]. One goroutine uses it.
type StatusWatch struct {
	s     *Streams
	name  string // of the only plugin; empty: all are shown
	json  bool
	drawn int                   // lines of the table on the terminal
	last  map[string]Background // by name, as it was printed; nil before the first
}

// WatchStatuses returns a StatusWatch of the named plugin, or of all.
func (s *Streams) WatchStatuses(name string, asJSON bool) *StatusWatch {
	return &StatusWatch{s: s, name: name, json: asJSON}
}

// Show shows the plugins as they are now. Without a terminal it prints a line for each
// plugin whose state, process or count of restarts has changed, and for each that is
// gone: "TIME NAME STATE" and a note, or an object {"schema", "plugins"} with those
// alone.
func (w *StatusWatch) Show(plugins []Background) error {
	if w.s.OutTTY && !w.json {
		return w.draw(plugins)
	}
	var changed []Background
	now := map[string]Background{}
	for _, b := range plugins {
		before, known := w.last[b.Name]
		now[b.Name] = b
		if !known || b.changed(before) {
			changed = append(changed, b)
		}
	}
	for name, b := range w.last {
		if _, still := now[name]; !still {
			changed = append(changed, Background{Name: name, Plugin: b.Plugin, Socket: b.Socket, Log: b.Log, Gone: true})
		}
	}
	w.last = now
	if len(changed) == 0 {
		return nil
	}
	if w.json {
		return w.s.writeStatuses(changed)
	}
	return w.s.Print(w.lines(changed))
}

func (w *StatusWatch) lines(changed []Background) string {
	var b strings.Builder
	now := w.s.Now().Format("15:04:05")
	for _, p := range changed {
		line := fmt.Sprintf("%s  %s  %s", now, p.Name, p.State())
		if p.Status.PID != 0 {
			line += fmt.Sprintf("  pid %d", p.Status.PID)
		}
		if note := p.note(); note != "" {
			line += "  " + note
		}
		b.WriteString(oneLine(line) + "\n")
	}
	return b.String()
}

// draw draws the table over the last one.
func (w *StatusWatch) draw(plugins []Background) error {
	var lines []string
	switch {
	case len(plugins) > 0:
		lines, _ = w.s.statusTable(plugins)
	case w.name != "":
		lines = []string{runewidth.Truncate(visible(oneLine(w.name)+" is not running"), columns(w.s.Out)-1, "…")}
	default:
		lines = []string{"no background plugins are running"}
	}
	text := strings.Join(lines, "\x1b[K\n") + "\x1b[K\n\x1b[J"
	if w.drawn > 0 {
		text = fmt.Sprintf("\r\x1b[%dA", w.drawn) + text
	}
	w.drawn = len(lines)
	return w.s.writeOut([]byte(text))
}

// Healthy prints that a probe found a plugin healthy: a line, or {"schema", "name", "healthy",
// "took_ms", "pid", "python"}. The name is empty if there is only one plugin.
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

// Health prints a line of a watch: a plugin's health status, or the error of a probe. A
// status is a gRPC name, such as "SERVING". Without a status, a plugin is healthy if there is
// no error.
//
// A line is the word "healthy" or "unhealthy", then the status and the reason; an object
// is {"schema", "time", "healthy", "status", "reason"}.
func (s *Streams) Health(status string, probe *hook.Error, asJSON bool) error {
	healthy := probe == nil && (status == "" || status == "SERVING")
	reason := ""
	if probe != nil {
		reason = probe.Error()
	}
	if asJSON {
		return s.writeJSON(struct {
			Time    string `json:"time"`
			Healthy bool   `json:"healthy"`
			Status  string `json:"status,omitempty"`
			Reason  string `json:"reason,omitempty"`
		}{s.Now().Format(wire.Time), healthy, status, reason})
	}
	line := Paint(Green, "healthy") + "    "
	if !healthy {
		line = Paint(Red, "unhealthy") + "  "
	}
	line += status
	if status != "" && reason != "" {
		line += ": "
	}
	return s.Print(strings.TrimRight(oneLine(line+reason), " ") + "\n")
}

// EventJSON is an event of the plugin with that name as a line of JSON: {"schema",
// "time", "name"} and the other fields of the event.
func EventJSON(name string, e hook.Event) []byte {
	return append(visibleJSON(wire.Event(name, e)), '\n')
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
