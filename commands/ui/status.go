package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Background is a background plugin as [Streams.Statuses] shows it.
type Background struct {
	Name string
	// Plugin is its absolute path; Python the path of its interpreter, empty if the
	// plugin chooses that itself.
	Plugin, Python string
	// Socket is where it takes calls, Log the file with what it printed.
	Socket, Log string
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
		return hook.StateStopped.String()
	case b.Problem != "":
		return "unknown"
	}
	return b.Status.State.String()
}

// note is what to say besides the numbers.
func (b Background) note() string {
	st := b.Status
	note := cmp.Or(st.Note, st.Reason)
	switch {
	case b.Problem != "":
		return b.Problem
	case st.State == hook.StateBackoff && note != "": // which may be cut at its end
		return "retrying in " + span(st.NextStart) + "; " + note
	case st.State == hook.StateBackoff && st.LastExit != nil:
		return "exited (" + st.LastExit.String() + "), restarting in " + span(st.NextStart)
	case st.State == hook.StateBackoff:
		return "failed to start, retrying in " + span(st.NextStart)
	case note != "":
		return note
	case st.Queued > 0:
		return strconv.Itoa(st.Running) + " running, " + strconv.Itoa(st.Queued) + " waiting"
	}
	return ""
}

// shape is the public shape of a plugin of a status: the fields of its status between
// what identifies it and where it is.
func (b Background) shape() json.RawMessage {
	type what struct {
		Name   string `json:"name"`
		Plugin string `json:"plugin"`
	}
	type unknown struct {
		State   string `json:"state"`
		Problem string `json:"problem,omitempty"`
	}
	type where struct {
		Socket    string `json:"socket"`
		Log       string `json:"log"`
		DaemonPID int    `json:"daemon_pid,omitempty"`
		Python    string `json:"python,omitempty"`
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
	return s.writeOut(strings.Join(s.statusTable(plugins), "\n") + "\n")
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

// column is one of the status table.
type column struct {
	title string
	right bool // holds numbers
	// dropped is the order in which columns are dropped if there is no room, the
	// highest first; 0 stays.
	dropped int
	text    func(Background) string
}

// statusColumns are those of the status table, in their order.
var statusColumns = []column{
	{"NAME", false, 0, func(b Background) string { return b.Name }},
	{"STATE", false, 0, Background.state},
	{"WORKERS", true, 4, Background.workers},
	{"PID", true, 2, func(b Background) string { return unlessZero(b.Status.PID, strconv.Itoa) }},
	{"UPTIME", true, 1, func(b Background) string { return unlessZero(b.Status.Uptime, age) }},
	{"RESTARTS", true, 3, func(b Background) string { return known(b, strconv.Itoa(b.Status.Restarts)) }},
	{"CALLS", true, 1, func(b Background) string { return known(b, strconv.FormatUint(b.Status.Calls, 10)) }},
	{"FAILED", true, 5, func(b Background) string { return known(b, strconv.FormatUint(b.Status.Failed, 10)) }},
	{"MEMORY", true, 6, func(b Background) string { return unlessZero(b.Status.Memory, memory) }},
	{"PLUGIN", false, 7, func(b Background) string { return b.Plugin }},
	{"NOTE", false, 0, Background.note},
}

// known is a count, if the plugin's status is known.
func known(b Background, count string) string {
	if b.Problem != "" {
		return "-"
	}
	return count
}

// unlessZero is a value as text, or a dash for zero, which stands for unknown.
func unlessZero[T comparable](value T, text func(T) string) string {
	if value == *new(T) {
		return "-"
	}
	return text(value)
}

// workers is how many are ready, if there are several.
func (b Background) workers() string {
	if b.Status.Workers <= 1 {
		return ""
	}
	return strconv.Itoa(b.Status.Ready) + "/" + strconv.Itoa(b.Status.Workers)
}

func memory(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MB", (bytes+1<<19)>>20)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
}

// statusTable is a line for the titles and one for each plugin, none wider than the
// terminal. It leaves out columns that say nothing about these plugins. On a narrow
// terminal it drops more, and cuts the last one.
func (s *Streams) statusTable(plugins []Background) []string {
	out, room := s.out(), math.MaxInt
	if out.terminal != nil {
		room = out.columns() - 1
	}
	plugins = slices.Clone(plugins)
	for i, b := range plugins {
		plugins[i].Plugin = relative(s.cwd(), b.Plugin)
	}
	shown := slices.DeleteFunc(slices.Clone(statusColumns), func(c column) bool {
		return !slices.ContainsFunc(plugins, func(b Background) bool { return c.text(b) != "" })
	})
	for {
		rows := statusRows(out, shown, plugins)
		widths := columnWidths(rows)
		total := len("  ") * (len(widths) - 1)
		for _, width := range widths {
			total += width
		}
		first := slices.MaxFunc(shown, func(a, b column) int { return a.dropped - b.dropped })
		if total > room && first.dropped > 0 {
			shown = slices.DeleteFunc(shown, func(c column) bool { return c.title == first.title })
			continue
		}
		last := len(shown) - 1
		for _, row := range rows {
			row[last].text = fit(row[last].text, "", room-(total-widths[last]))
		}
		return out.table(rows)
	}
}

func statusRows(out target, shown []column, plugins []Background) [][]cell {
	rows := make([][]cell, 1+len(plugins))
	for _, c := range shown {
		rows[0] = append(rows[0], cell{text: c.title, right: c.right})
		for i, b := range plugins {
			color := NoColor
			if c.title == "STATE" {
				color = stateColor(b.state())
			}
			rows[i+1] = append(rows[i+1], cell{out.line(c.text(b)), c.right, color})
		}
	}
	return rows
}

func stateColor(state string) Color {
	switch state {
	case hook.StateReady.String():
		return Green
	case hook.StateFailed.String():
		return Red
	}
	return Yellow
}

// changed reports whether b is worth a line after before.
func (b Background) changed(before Background) bool {
	now, last := b.Status, before.Status
	return b.state() != before.state() || b.Problem != before.Problem || now.Note != last.Note || now.Reason != last.Reason ||
		now.PID != last.PID || now.Generation != last.Generation || now.Restarts != last.Restarts
}
