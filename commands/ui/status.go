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
	"github.com/pyplug/pyplug/runner/schema"
)

// Background is a background plugin as [Streams.Statuses] shows it.
type Background struct {
	Name string
	// Plugin is its absolute path; Python the path of its interpreter, empty if the
	// plugin chooses that itself.
	Plugin, Python schema.Path
	// Socket is where it takes calls, Log the file with what it printed.
	Socket, Log schema.Path
	// Daemon is the pid of its daemon; 0 if that is unknown.
	Daemon int
	Status hook.Status
	// Problem says why its status is unknown; empty if it is known.
	Problem string
	// Gone says that it ended: nothing else is known of it.
	Gone bool
}

// state is the state in one word.
func (b Background) state() string {
	switch {
	case b.Gone:
		return string(hook.StateStopped)
	case b.Problem != "":
		return "unknown"
	}
	return string(b.Status.State)
}

// note is what to say besides the numbers.
func (b Background) note() string {
	st := b.Status
	note := cmp.Or(b.Problem, st.Note, st.Reason)
	switch {
	case b.Problem == "" && st.State == hook.StateBackoff:
		if note == "" && st.LastExit != nil {
			note = "exited: " + st.LastExit.String()
		}
		return "restarting in " + schema.Span(time.Duration(st.NextStart)) + "; " + cmp.Or(note, "failed to start") // which may be cut at its end
	case note == "" && st.Queued > 0:
		return fmt.Sprintf("%d running, %d waiting", st.Running, st.Queued)
	}
	return note
}

// shape is the public shape of a plugin of a status: the fields of its status between
// what identifies it and where it is.
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
		Python    schema.Path `json:"python,omitempty"`
	}
	known := b.Status
	known.Concurrency, known.Since, known.Attach = 0, time.Time{}, nil // for programs that ask the socket
	var status any = known
	if b.Problem != "" || b.Gone {
		status = unknown{b.state(), b.Problem}
	}
	return joinJSON(what{b.Name, b.Plugin}, status, where{b.Socket, b.Log, b.Daemon, b.Python})
}

// Statuses prints the status of background plugins on standard output: a table whose
// first columns are NAME and STATE, with fewer columns on a narrow terminal; or
// {"schema", "plugins"}.
func (s *Streams) Statuses(plugins []Background, asJSON bool) error {
	if asJSON {
		return s.writeStatuses(plugins)
	}
	if len(plugins) == 0 {
		return nil
	}
	return s.Print(strings.Join(s.statusTable(plugins), "\n") + "\n")
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

// statusTitles are the titles of the status table. A narrow terminal has those of
// narrowTitles alone.
var (
	statusTitles = []string{"NAME", "STATE", "WORKERS", "PID", "UPTIME", "RESTARTS", "CALLS", "FAILED", "MEMORY", "PLUGIN", "NOTE"}
	narrowTitles = []string{"NAME", "STATE", "UPTIME", "CALLS", "NOTE"}
)

// statusRow are the texts below statusTitles. A dash stands for what is unknown.
func (s *Streams) statusRow(b Background) []string {
	st := b.Status
	row := []string{b.Name, b.state(), "", "-", "-", "-", "-", "-", "-", schema.Relative(string(b.Plugin), s.cwd()), b.note()}
	if st.Workers > 1 {
		row[2] = fmt.Sprintf("%d/%d", st.Ready, st.Workers)
	}
	if st.PID != 0 {
		row[3], row[4] = strconv.Itoa(st.PID), schema.Span(time.Duration(st.Uptime).Truncate(time.Second))
	}
	if b.Problem == "" {
		row[5], row[6], row[7] = strconv.Itoa(st.Restarts), fmt.Sprint(st.Calls), fmt.Sprint(st.Failed)
	}
	if st.Memory != 0 {
		row[8] = fmt.Sprintf("%d MB", (st.Memory+1<<19)>>20)
	}
	return row
}

// statusTable is a line for the titles and one for each plugin. On a terminal no line
// is wider than that: a narrow one gets fewer columns, and the end of a line is cut.
func (s *Streams) statusTable(plugins []Background) []string {
	rows := [][]string{statusTitles}
	for _, b := range plugins {
		rows = append(rows, s.statusRow(b))
	}
	lines := table(rows)
	if !s.OutTTY {
		return lines
	}
	room := columns(s.Out) - 1 // some terminals wrap at the last column
	if slices.ContainsFunc(lines, func(line string) bool { return runewidth.StringWidth(line) > room }) {
		for _, row := range rows[1:] {
			for i, title := range statusTitles {
				if !slices.Contains(narrowTitles, title) {
					row[i] = "" // which leaves the column out
				}
			}
		}
		lines = table(rows)
	}
	for i, line := range lines {
		lines[i] = runewidth.Truncate(line, room, "…")
	}
	return lines
}

// changed reports whether b is worth a line after before.
func (b Background) changed(before Background) bool {
	now, last := b.Status, before.Status
	return b.state() != before.state() || b.Problem != before.Problem || now.Note != last.Note || now.Reason != last.Reason ||
		now.PID != last.PID || now.Generation != last.Generation || now.Restarts != last.Restarts
}
