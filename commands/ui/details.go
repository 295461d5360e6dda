package ui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Details prints facts about a background plugin that do not fit in its row: the running calls, the
// finished calls by hook, the processor time, the settings, and the counts of replaced workers.
func (s *Streams) Details(b Background) error {
	st := b.Status
	if st == nil {
		return nil
	}
	var text strings.Builder
	for _, rows := range [][][]string{s.runningRows(st.RunningCalls), hookRows(st.Hooks)} {
		if len(rows) > 1 {
			text.WriteString("\n" + strings.Join(table(rows), "\n") + "\n")
		}
	}
	lines := s.factLines(st)
	if len(lines) > 0 {
		text.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
	return s.Print(text.String())
}

// runningRows returns the rows of the running calls.
func (s *Streams) runningRows(calls []hook.RunningCall) [][]string {
	rows := [][]string{{"HOOK", "RUNNING FOR", "PID", ""}}
	for _, c := range calls {
		row := []string{c.Hook, schema.Span(time.Duration(c.Age)), strconv.Itoa(c.PID), ""}
		if n := len(c.At); n > 0 {
			at := c.At[n-1]
			at.File = schema.Path(schema.Relative(string(at.File), s.cwd()))
			row[3], rows[0][3] = at.String(), "AT"
		}
		rows = append(rows, row)
	}
	return rows
}

// hookRows returns the rows of the finished calls.
func hookRows(hooks []hook.HookCalls) [][]string {
	rows := [][]string{{"HOOK", "CALLS", "FAILED", "MEAN", "P50", "P99", "MAX"}}
	for _, h := range hooks {
		row := []string{h.Hook, fmt.Sprint(h.Calls), fmt.Sprint(h.Failed)}
		for _, d := range []hook.Milliseconds{h.Mean, h.P50, h.P99, h.Max} {
			row = append(row, schema.Span(time.Duration(d)))
		}
		rows = append(rows, row)
	}
	return rows
}

// factLines returns the lines of other facts.
func (s *Streams) factLines(st *hook.Status) (lines []string) {
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, oneLine(name+": "+text))
		}
	}
	if st.CPU > 0 {
		add("cpu time", schema.Span(time.Duration(st.CPU)))
	}
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(st.Settings)) {
		flags = append(flags, name+"="+st.Settings[name])
	}
	add("settings", schema.QuoteLine(flags))
	add("restarted", countsText(st.RestartCauses, ""))
	add("last restart", s.lastRestart(st))
	add("replaced", countsText(st.Replacements, "at its limit of "))
	add("last replacement", strings.TrimPrefix(st.LastReplacement, "replacing the worker: "))
	return lines
}

// countsText returns counts by name, such as "2 crash, 1 probe", with before in front of each name.
func countsText(counts map[string]int, before string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s%s", counts[name], before, name))
	}
	return strings.Join(parts, ", ")
}

// lastRestart returns why and when a worker was last restarted, or "" if none was.
func (s *Streams) lastRestart(st *hook.Status) string {
	if st.LastRestart == "" {
		return ""
	}
	return st.LastRestart + ", " + s.clock(st.LastRestartAt)
}

// clock returns a time of day, with its date unless that is today.
func (s *Streams) clock(at time.Time) string {
	at, now := at.Local(), s.Now().Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04:05")
}
