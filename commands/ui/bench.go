package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// BenchResult is a whole measurement, and its public shape.
type BenchResult struct {
	Plugin    string       `json:"plugin"`
	Hook      string       `json:"hook"`
	Transport string       `json:"transport"`
	Python    string       `json:"python,omitempty"`
	Phases    []BenchPhase `json:"phases"`
}

// BenchPhase is what was measured in one phase.
type BenchPhase struct {
	Name   string `json:"name"`
	Rounds int    `json:"rounds"`
	// Jobs is how many calls were made at once.
	Jobs      int               `json:"jobs"`
	Min       hook.Milliseconds `json:"min_ms"`
	P50       hook.Milliseconds `json:"p50_ms"`
	P90       hook.Milliseconds `json:"p90_ms"`
	P99       hook.Milliseconds `json:"p99_ms"`
	Max       hook.Milliseconds `json:"max_ms"`
	PerSecond float64           `json:"per_second"`
}

// Bench prints a measurement on standard output: a table and a picture, or
// {"schema", "plugin", "hook", "transport", "python", "phases": [{"name",
// "rounds", "jobs", "min_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms",
// "per_second"}]}.
func (s *Streams) Bench(m BenchResult, asJSON bool) error {
	if asJSON {
		return s.writeJSON(m)
	}
	rows := [][]string{{"PHASE", "ROUNDS", "MIN", "P50", "P90", "P99", "MAX", "PER SECOND"}}
	for _, p := range m.Phases {
		row := []string{p.Name, strconv.Itoa(p.Rounds)}
		for _, d := range []hook.Milliseconds{p.Min, p.P50, p.P90, p.P99, p.Max} {
			row = append(row, schema.Span(time.Duration(d)))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f", p.PerSecond)))
	}
	return s.Print(strings.Join(table(rows), "\n") + "\n\n" + benchPicture(m.Phases))
}

// The picture's scale runs from 1 µs to 10 s.
const (
	decades      = 7
	decadeCells  = 8
	pictureCells = decades * decadeCells
)

// benchPicture draws the phases on a logarithmic scale: a line from the shortest to the
// longest time, thick up to the 99th percentile, with the median on it.
func benchPicture(phases []BenchPhase) string {
	column := 0
	for _, p := range phases {
		column = max(column, len(p.Name))
	}
	var b strings.Builder
	axis := strings.Repeat(" ", column+2)
	for _, label := range []string{"1 µs", "10", "100", "1 ms", "10", "100", "1 s"} {
		axis += fmt.Sprintf("%-*s", decadeCells, label)
	}
	b.WriteString(strings.TrimRight(axis, " ") + "\n")
	for _, p := range phases {
		line := []rune(strings.Repeat(" ", pictureCells))
		for i := cellOf(p.Min); i <= cellOf(p.Max); i++ {
			line[i] = '─'
		}
		for i := cellOf(p.Min); i <= cellOf(p.P99); i++ {
			line[i] = '━'
		}
		line[cellOf(p.P50)] = '█'
		fmt.Fprintf(&b, "%-*s  %s\n", column, p.Name, strings.TrimRight(string(line), " "))
	}
	return b.String()
}

// cellOf is the place of a duration, of nanoseconds, in the picture.
func cellOf(d hook.Milliseconds) int {
	us := float64(d) / 1e3
	if us <= 1 {
		return 0
	}
	return min(int(math.Log10(us)*decadeCells), pictureCells-1)
}
