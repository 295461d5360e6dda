package ui

import (
	"fmt"
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

// Bench prints a measurement on standard output: a table, or
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
	return s.Print(strings.Join(table(rows), "\n") + "\n")
}
