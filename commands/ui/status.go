package ui

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Background is a background plugin as [Streams.Statuses] shows it.
type Background struct {
	Name string
	// Plugin is its path, absolute; Python the path of the interpreter that runs
	// it, empty where it chooses that itself.
	Plugin, Python string
	// Socket is where it takes calls, Log the file with what it printed.
	Socket, Log string
	// Daemon is the number of the process that keeps it; 0 where it is not known.
	Daemon int
	Status hook.Status
	// Problem says why it does not tell its status; empty where it does.
	Problem string
	// Gone tells that it ended: nothing else is known of it.
	Gone bool
}

// state is its state in one word.
func (b Background) state() string {
	switch {
	case b.Gone:
		return hook.StateStopped.String()
	case b.Problem != "":
		return "unknown"
	}
	return b.Status.State.String()
}

// note is what there is to say of it beyond its numbers.
func (b Background) note() string {
	st := b.Status
	switch {
	case b.Problem != "":
		return b.Problem
	case st.State == hook.StateBackoff && st.Note != "": // which may be cut at its end
		return "tried again in " + span(st.NextStart) + "; " + st.Note
	case st.State == hook.StateBackoff && st.LastExit != nil:
		return "ended (" + st.LastExit.String() + "), starts again in " + span(st.NextStart)
	case st.State == hook.StateBackoff:
		return "did not start, tried again in " + span(st.NextStart)
	case st.Note != "":
		return st.Note
	case st.Queued > 0:
		return strconv.Itoa(st.Running) + " running, " + strconv.Itoa(st.Queued) + " waiting"
	}
	return ""
}

// statusShape is the public shape of one plugin of a status.
type statusShape struct {
	Name          string      `json:"name"`
	Plugin        string      `json:"plugin"`
	State         string      `json:"state"`
	Problem       string      `json:"problem,omitempty"`
	Note          string      `json:"note,omitempty"`
	PID           int         `json:"pid,omitempty"`
	Generation    int         `json:"generation,omitempty"`
	Workers       int         `json:"workers,omitempty"`
	Ready         *int        `json:"ready,omitempty"` // this and what follows: nil where it is not known
	UptimeMS      json.Number `json:"uptime_ms,omitempty"`
	Restarts      *int        `json:"restarts,omitempty"`
	Calls         *uint64     `json:"calls,omitempty"`
	Failed        *uint64     `json:"failed,omitempty"`
	Running       *int        `json:"running,omitempty"`
	Queued        *int        `json:"queued,omitempty"`
	LastExit      *hook.Exit  `json:"last_exit,omitempty"`
	NextRestartMS json.Number `json:"next_restart_ms,omitempty"`
	Socket        string      `json:"socket"`
	Log           string      `json:"log"`
	DaemonPID     int         `json:"daemon_pid,omitempty"`
	Python        string      `json:"python,omitempty"`
	MemoryBytes   int64       `json:"memory_bytes,omitempty"`
}

func (b Background) shape() statusShape {
	st := b.Status
	shape := statusShape{
		Name: b.Name, Plugin: b.Plugin, State: b.state(), Problem: b.Problem, Note: st.Note, PID: st.PID, Generation: st.Generation,
		Workers: st.Workers, Socket: b.Socket, Log: b.Log, DaemonPID: b.Daemon, Python: b.Python, MemoryBytes: st.Memory,
		LastExit: st.LastExit,
	}
	if b.Problem == "" && !b.Gone {
		shape.Ready, shape.Restarts, shape.Calls, shape.Failed = &st.Ready, &st.Restarts, &st.Calls, &st.Failed
		shape.Running, shape.Queued = &st.Running, &st.Queued
	}
	if st.Uptime > 0 {
		shape.UptimeMS = json.Number(milliseconds(st.Uptime))
	}
	if st.State == hook.StateBackoff {
		shape.NextRestartMS = json.Number(milliseconds(st.NextStart))
	}
	return shape
}

// Statuses prints what becomes of background plugins on standard output: a table
// whose first columns are NAME and STATE, made narrower for a terminal that is,
// or {"schema", "plugins"}.
func (s *Streams) Statuses(plugins []Background, jsonFace bool) error {
	if jsonFace {
		return s.writeOut(statusesJSON(plugins))
	}
	if len(plugins) == 0 {
		return nil
	}
	return s.writeOut(strings.Join(s.statusTable(plugins), "\n") + "\n")
}

func statusesJSON(plugins []Background) string {
	shapes := make([]statusShape, len(plugins))
	for i, b := range plugins {
		shapes[i] = b.shape()
	}
	return string(compactJSON(struct {
		Schema  int           `json:"schema"`
		Plugins []statusShape `json:"plugins"`
	}{1, shapes})) + "\n"
}

// column is one of a table of plugins.
type column struct {
	title string
	right bool // its cells are numbers
	// dropped says which column goes first where there is no room: that with the
	// highest; 0 stays.
	dropped int
	cell    func(Background) string
}

// statusColumns are those of a table of plugins, in their order.
var statusColumns = []column{
	{"NAME", false, 0, func(b Background) string { return b.Name }},
	{"STATE", false, 0, Background.state},
	{"WORKERS", true, 4, func(b Background) string {
		return strconv.Itoa(b.Status.Ready) + "/" + strconv.Itoa(b.Status.Workers)
	}},
	{"PID", true, 2, func(b Background) string { return number(b.Status.PID) }},
	{"UPTIME", true, 1, func(b Background) string {
		if b.Status.Uptime == 0 {
			return "-"
		}
		return age(b.Status.Uptime)
	}},
	{"RESTARTS", true, 3, func(b Background) string { return told(b, strconv.Itoa(b.Status.Restarts)) }},
	{"CALLS", true, 1, func(b Background) string { return told(b, strconv.FormatUint(b.Status.Calls, 10)) }},
	{"FAILED", true, 5, func(b Background) string { return told(b, strconv.FormatUint(b.Status.Failed, 10)) }},
	{"MEMORY", true, 6, func(b Background) string { return memory(b.Status.Memory) }},
	{"PLUGIN", false, 7, func(b Background) string { return b.Plugin }},
	{"NOTE", false, 0, Background.note},
}

// told is a count, of a plugin that tells any.
func told(b Background, count string) string {
	if b.Problem != "" {
		return "-"
	}
	return count
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// age is span without the smaller unit: it is looked at, and not reckoned with.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + " days"
}

func memory(bytes int64) string {
	switch {
	case bytes == 0:
		return "-"
	case bytes < 1<<30:
		return strconv.FormatInt((bytes+1<<19)>>20, 10) + " MB"
	}
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'f', 1, 64) + " GB"
}

// statusTable is a line for the titles and one for each plugin. On a terminal
// none is wider than that.
func (s *Streams) statusTable(plugins []Background) []string {
	room := math.MaxInt
	if s.OutTTY {
		room = columns(s.Out) - 1
	}
	plain := make([]Background, len(plugins))
	for i, b := range plugins {
		b.Name, b.Plugin = s.outLine(b.Name), s.outLine(s.relative(b.Plugin))
		b.Problem, b.Status.Note = s.outLine(b.Problem), s.outLine(b.Status.Note)
		plain[i] = b
	}
	shown := shownColumns(plain)
	for {
		lines, widest := s.rows(shown, plain)
		drop := -1
		for i, c := range shown {
			if c.dropped > 0 && (drop < 0 || c.dropped > shown[drop].dropped) {
				drop = i
			}
		}
		if widest <= room || drop < 0 {
			return lines
		}
		shown = append(append([]column{}, shown[:drop]...), shown[drop+1:]...)
	}
}

// shownColumns leaves out the columns that say nothing of these plugins.
func shownColumns(plugins []Background) []column {
	several, noted := false, false
	for _, b := range plugins {
		several = several || b.Status.Workers > 1
		noted = noted || b.note() != ""
	}
	var shown []column
	for _, c := range statusColumns {
		if c.title == "WORKERS" && !several || c.title == "NOTE" && !noted {
			continue
		}
		shown = append(shown, c)
	}
	return shown
}

// rows lays a table out, and tells the width of its widest line. A note that is
// last may be as long as the terminal is wide, and is cut there.
func (s *Streams) rows(shown []column, plugins []Background) (lines []string, widest int) {
	table := make([][]string, 1, len(plugins)+1)
	for _, c := range shown {
		table[0] = append(table[0], c.title)
	}
	for _, b := range plugins {
		row := make([]string, len(shown))
		for i, c := range shown {
			row[i] = c.cell(b)
		}
		table = append(table, row)
	}
	widths := make([]int, len(shown))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], textCells(cell))
		}
	}
	for r, row := range table {
		var line strings.Builder
		used := 0
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
				used += 2
			}
			pad := strings.Repeat(" ", widths[i]-textCells(cell))
			if shown[i].title == "NOTE" && s.OutTTY {
				cell = fit(cell, "", columns(s.Out)-1-used)
			}
			used += textCells(cell) + len(pad)
			if r > 0 && shown[i].title == "STATE" {
				cell = s.PaintOut(stateColor(cell), cell)
			}
			if shown[i].right {
				cell, pad = pad+cell, ""
			}
			line.WriteString(cell + pad)
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
		widest = max(widest, used)
	}
	return lines, widest
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

// changed tells whether a line about b is worth printing after one about before.
func (b Background) changed(before Background) bool {
	now, last := b.Status, before.Status
	return b.state() != before.state() || b.Problem != before.Problem || now.Note != last.Note ||
		now.PID != last.PID || now.Generation != last.Generation || now.Restarts != last.Restarts
}
