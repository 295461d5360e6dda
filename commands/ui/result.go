package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// Format says how a result is printed.
type Format uint8

// The formats of a result.
const (
	// Plain is the JSON value on one line.
	Plain Format = iota
	// Raw is a string without quotes, bytes verbatim, nothing for null, the only string
	// or bytes field of a message, and the JSON of any other value.
	Raw
	// Envelope is one object with the hook, the duration and the process.
	Envelope
)

// Result prints a hook's result on standard output. A streamed result, whose items
// [Streams.Item] printed, has no value, so Result prints only its envelope. It returns an
// error of the write, see [IsClosedPipe], or of a value that is not what r says.
//
// An envelope is {"schema", "hook", "result", "binary", "took_ms", "pid",
// "generation"}. "binary" is true for bytes, whose result is base64 text. A streamed
// result has "done": true in place of the value.
func (s *Streams) Result(f Format, hookName string, r hook.Result, info hook.Info, generation int) error {
	more := compactJSON(struct {
		TookMS     hook.Milliseconds `json:"took_ms"`
		PID        int               `json:"pid,omitempty"`
		Generation int               `json:"generation,omitempty"`
	}{hook.Milliseconds(r.Took), info.PID, generation})
	rest := "," + string(more[1:len(more)-1])
	switch {
	case !r.Streamed:
		return s.writeItem(f, hookName, "result", r.Item, rest)
	case f == Envelope:
		return s.writeItem(f, hookName, "done", hook.Item{Value: []byte("true")}, rest)
	}
	return nil
}

// Item prints one item of a streamed result at once. Its envelope is {"schema",
// "hook", "item", "binary"}. Errors are those of [Streams.Result].
func (s *Streams) Item(f Format, hookName string, item hook.Item) error {
	return s.writeItem(f, hookName, "item", item, "")
}

// writeItem prints a value. Its envelope is {"schema", "hook", key: value}, with rest
// before its end.
func (s *Streams) writeItem(f Format, hookName, key string, item hook.Item, rest string) error {
	if f == Raw {
		return s.writeRaw(item)
	}
	value := s.asShown(item.Value)
	if f != Envelope {
		return s.writeOut(value, []byte("\n"))
	}
	start := withSchema(struct {
		Hook string `json:"hook"`
	}{hookName})
	if item.Binary {
		rest = `,"binary":true` + rest
	}
	return s.writeOut(start[:len(start)-1], []byte(`,"`+key+`":`), value, []byte(rest+"}\n"))
}

// writeRaw prints what --raw prints.
func (s *Streams) writeRaw(item hook.Item) error {
	text, newline, err := wire.AppendRaw(nil, item, s.asShown)
	switch {
	case err != nil || len(text) == 0 && !newline:
		return err
	case newline:
		return s.writeOut(text, []byte("\n"))
	}
	return s.writeOut(text)
}

// RawLine appends the line of `run --lines --raw` for a result or an item: what
// --raw prints, with a newline even for bytes and null.
func (s *Streams) RawLine(dst []byte, item hook.Item) []byte {
	dst, _, _ = wire.AppendRaw(dst, item, s.asShown) // a worker's base64 is valid
	return append(dst, '\n')
}

// asShown returns a hook's JSON unchanged, or harmless if standard output is a terminal.
func (s *Streams) asShown(value []byte) []byte {
	if s.OutTTY {
		return visibleJSON(value)
	}
	return value
}

// Lines returns standard output for the answers of `run --lines`: lines of JSON, or with raw
// the lines of [Streams.RawLine]. Its error is that of the write, see [IsClosedPipe].
func (s *Streams) Lines(raw bool) io.Writer { return linesOut{s, raw} }

type linesOut struct {
	s   *Streams
	raw bool
}

func (l linesOut) Write(lines []byte) (int, error) {
	if l.raw {
		return len(lines), l.s.writeOut(lines)
	}
	return len(lines), l.s.writeOut(l.s.asShown(lines))
}

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
