package ui

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// StatusWatch shows the status of background plugins again and again: on a terminal as
// a table that it redraws, elsewhere as a line for each change. Make one with
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
		line := fmt.Sprintf("%s  %s  %s", now, p.Name, p.state())
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
		lines = w.s.statusTable(plugins)
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
