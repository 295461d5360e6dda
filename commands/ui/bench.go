package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// BenchPhase is what was measured of one way of using a plugin.
type BenchPhase struct {
	Name   string
	Rounds int
	// Jobs is how many calls were made at once.
	Jobs                    int
	Min, P50, P90, P99, Max time.Duration
	PerSecond               float64
}

// BenchResult is a whole measurement: of what, and its phases in order.
type BenchResult struct {
	Plugin, Hook, Transport, Python string
	Phases                          []BenchPhase
}

// Bench prints a measurement on standard output: a table and a picture, or
// {"schema", "plugin", "hook", "transport", "python", "phases": [{"name",
// "rounds", "jobs", "min_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms",
// "per_second"}]}.
func (s *Streams) Bench(m BenchResult, jsonFace bool) error {
	if jsonFace {
		return s.writeJSON(benchShape(m))
	}
	return s.writeOut(s.benchTable(m.Phases) + "\n" + s.benchPicture(m.Phases))
}

type benchPhaseJSON struct {
	Name      string  `json:"name"`
	Rounds    int     `json:"rounds"`
	Jobs      int     `json:"jobs"`
	MinMS     float64 `json:"min_ms"`
	P50MS     float64 `json:"p50_ms"`
	P90MS     float64 `json:"p90_ms"`
	P99MS     float64 `json:"p99_ms"`
	MaxMS     float64 `json:"max_ms"`
	PerSecond float64 `json:"per_second"`
}

func benchShape(m BenchResult) any {
	phases := make([]benchPhaseJSON, len(m.Phases))
	for i, p := range m.Phases {
		phases[i] = benchPhaseJSON{p.Name, p.Rounds, p.Jobs, fineMS(p.Min), fineMS(p.P50), fineMS(p.P90), fineMS(p.P99), fineMS(p.Max),
			math.Round(p.PerSecond*10) / 10}
	}
	return struct {
		Schema    int              `json:"schema"`
		Plugin    string           `json:"plugin"`
		Hook      string           `json:"hook"`
		Transport string           `json:"transport"`
		Python    string           `json:"python,omitempty"`
		Phases    []benchPhaseJSON `json:"phases"`
	}{1, m.Plugin, m.Hook, m.Transport, m.Python, phases}
}

// fineMS is in milliseconds with the digits that a call of some microseconds has.
func fineMS(d time.Duration) float64 { return math.Round(float64(d)/1e2) / 1e4 }

// benchTable is a line for each phase.
func (s *Streams) benchTable(phases []BenchPhase) string {
	rows := [][]string{{"PHASE", "ROUNDS", "MIN", "P50", "P90", "P99", "MAX", "PER SECOND"}}
	for _, p := range phases {
		row := []string{p.Name, strconv.Itoa(p.Rounds)}
		for _, d := range []time.Duration{p.Min, p.P50, p.P90, p.P99, p.Max} {
			row = append(row, digits(d))
		}
		rows = append(rows, append(row, grouped(int64(math.Round(p.PerSecond)))))
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], textCells(text))
		}
	}
	var b strings.Builder
	for n, row := range rows {
		line := row[0] + strings.Repeat(" ", widths[0]-textCells(row[0]))
		for i, text := range row[1:] {
			line += strings.Repeat(" ", 2+widths[i+1]-textCells(text)) + text
		}
		if n == 0 {
			line = s.PaintOut(Bold, line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// digits is a time with three digits that count.
func digits(d time.Duration) string {
	value, unit := float64(d.Nanoseconds())/1000, "µs"
	switch {
	case d >= 999_500*time.Microsecond: // else it would be rounded to 1000 ms
		value, unit = d.Seconds(), "s"
	case d >= 999_500*time.Nanosecond:
		value, unit = value/1000, "ms"
	}
	places := 0
	switch {
	case value < 9.995:
		places = 2
	case value < 99.95:
		places = 1
	}
	return strconv.FormatFloat(value, 'f', places, 64) + " " + unit
}

// The picture's scale: from 1 µs to 10 s, a decade has so many cells.
const (
	decades      = 7
	decadeCells  = 8
	pictureCells = decades * decadeCells
)

// benchPicture shows where the phases are on a logarithmic scale: a line from the
// shortest to the longest, thick up to the 99th percentile, and the median on it.
func (s *Streams) benchPicture(phases []BenchPhase) string {
	column := 0
	for _, p := range phases {
		column = max(column, textCells(p.Name))
	}
	var b strings.Builder
	axis := strings.Repeat(" ", column+2)
	for _, label := range []string{"1 µs", "10", "100", "1 ms", "10", "100", "1 s"} {
		axis += label + strings.Repeat(" ", decadeCells-textCells(label))
	}
	b.WriteString(s.PaintOut(Bold, strings.TrimRight(axis, " ")) + "\n")
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

// cellOf is where a time is in the picture.
func cellOf(d time.Duration) int {
	us := float64(d) / float64(time.Microsecond)
	if us <= 1 {
		return 0
	}
	return min(int(math.Log10(us)*decadeCells), pictureCells-1)
}
