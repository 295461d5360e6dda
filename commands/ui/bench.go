package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// BenchPhase is what was measured in one phase.
type BenchPhase struct {
	Name   string
	Rounds int
	// Jobs is how many calls were made at once.
	Jobs                    int
	Min, P50, P90, P99, Max time.Duration
	PerSecond               float64
}

// BenchResult is a whole measurement.
type BenchResult struct {
	Plugin, Hook, Transport, Python string
	Phases                          []BenchPhase
}

// Bench prints a measurement on standard output: a table and a picture, or
// {"schema", "plugin", "hook", "transport", "python", "phases": [{"name",
// "rounds", "jobs", "min_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms",
// "per_second"}]}.
func (s *Streams) Bench(m BenchResult, asJSON bool) error {
	if asJSON {
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
		Plugin    string           `json:"plugin"`
		Hook      string           `json:"hook"`
		Transport string           `json:"transport"`
		Python    string           `json:"python,omitempty"`
		Phases    []benchPhaseJSON `json:"phases"`
	}{m.Plugin, m.Hook, m.Transport, m.Python, phases}
}

// fineMS is a duration in milliseconds, to 100 ns: a call may take some microseconds.
func fineMS(d time.Duration) float64 { return math.Round(float64(d)/1e2) / 1e4 }

// benchTable is a line for each phase.
func (s *Streams) benchTable(phases []BenchPhase) string {
	rows := make([][]cell, 1, len(phases)+1)
	for i, title := range []string{"PHASE", "ROUNDS", "MIN", "P50", "P90", "P99", "MAX", "PER SECOND"} {
		rows[0] = append(rows[0], cell{text: title, right: i > 0})
	}
	for _, p := range phases {
		row := []cell{{text: p.Name}, {text: strconv.Itoa(p.Rounds), right: true}}
		for _, d := range []time.Duration{p.Min, p.P50, p.P90, p.P99, p.Max} {
			row = append(row, cell{text: digits(d), right: true})
		}
		rows = append(rows, append(row, cell{text: grouped(int64(math.Round(p.PerSecond))), right: true}))
	}
	lines := s.out().table(rows)
	lines[0] = s.PaintOut(Bold, lines[0])
	return strings.Join(lines, "\n") + "\n"
}

// The picture's scale runs from 1 µs to 10 s.
const (
	decades      = 7
	decadeCells  = 8
	pictureCells = decades * decadeCells
)

// benchPicture draws the phases on a logarithmic scale: a line from the shortest to the
// longest time, thick up to the 99th percentile, with the median on it.
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

// cellOf is the place of a duration in the picture.
func cellOf(d time.Duration) int {
	us := float64(d) / float64(time.Microsecond)
	if us <= 1 {
		return 0
	}
	return min(int(math.Log10(us)*decadeCells), pictureCells-1)
}
