package manifest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// document is the text of a manifest with its place in a file.
type document struct {
	file string
	text string
	// skipped is the number of lines of the file before text.
	skipped int
	// prefix precedes each line of text in the file.
	prefix string
	// table is the path of pyplug's table in the text, such as tool, pyplug.
	table []string
	// locate finds a key in the text.
	locate func(text string, path []string) position
}

// position is a place in a document. line and column start at 1. Line 0 means unknown.
type position struct{ line, column int }

// fault reports a problem with a value in pyplug's table.
func (d document) fault(p *problem) *Error {
	e := d.errorAt(d.locate(d.text, slices.Concat(d.table, p.path)))
	key := strings.ReplaceAll(strings.Join(p.path, "."), ".[", "[")
	switch {
	case p.is == "":
		e.Message = fmt.Sprintf("unknown key %q", key)
	case key == "":
		e.Message = "the document " + p.is
	default:
		e.Message = key + " " + p.is
	}
	e.Advice = p.hint
	return e
}

// errorAt returns an error with a place. The caller adds the message.
func (d document) errorAt(at position) *Error {
	e := &Error{File: d.file}
	if at.line > 0 {
		e.Line, e.Column = d.skipped+at.line, len(d.prefix)+at.column
	}
	return e
}

// decode parses TOML.
func (d document) decode() (map[string]any, error) {
	var root map[string]any
	err := bounded.TOML([]byte(d.text), &root)
	if err == nil {
		return root, nil
	}
	at := position{}
	if wrong := (*toml.DecodeError)(nil); errors.As(err, &wrong) {
		at.line, at.column = wrong.Position()
	}
	e := d.errorAt(at)
	e.Message = strings.TrimPrefix(err.Error(), "toml: ")
	return nil, e
}

// locateTOML returns the place of a key, or of the closest key or table that contains it. The
// TOML is valid. Steps into arrays of tables are written as [0].
func locateTOML(text string, path []string) (found position) {
	var parser unstable.Parser
	parser.Reset([]byte(text))
	var table []string
	longest, elements := 0, map[string]int{} // of each array of tables, so far
	for parser.NextExpression() {
		node := parser.Expression()
		at := slices.Clone(table)
		if node.Kind != unstable.KeyValue {
			at = nil
		}
		for keys := node.Key(); keys.Next(); {
			step := func(name string) {
				at = append(at, name)
				if n := len(at); n > longest && n <= len(path) && slices.Equal(at, path[:n]) {
					start := parser.Shape(keys.Node().Raw).Start
					longest, found = n, position{line: start.Line, column: start.Column}
				}
			}
			step(string(keys.Node().Data))
			name := strings.Join(at, "\x00")
			if keys.IsLast() && node.Kind == unstable.ArrayTable {
				elements[name]++
			}
			if n := elements[name]; n > 0 {
				step(index(n - 1))
			}
		}
		if node.Kind != unstable.KeyValue {
			table = at
		}
	}
	return found
}

// Error is the only error type of this package: a mistake in a manifest or in the path of a
// plugin.
type Error struct {
	// File is the absolute path of the file with the mistake. It is empty for a mistake in the
	// path of a plugin.
	File string
	// Line and Column start at 1. 0 means unknown. Column counts bytes.
	Line, Column int
	// Message says what was seen and what was expected.
	Message string
	schema.Advice
	// Err is the error of the system, or nil.
	Err error
}

// Error returns one line with the place and the message.
func (e *Error) Error() string {
	if e.File == "" {
		return e.Message
	}
	place := short(e.File)
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
	}
	if e.Column > 0 {
		place += fmt.Sprintf(":%d", e.Column)
	}
	return place + ": " + e.Message
}

// Unwrap returns the error of the system, if any.
func (e *Error) Unwrap() error { return e.Err }

// unreadable reports a file that exists but cannot be read.
func unreadable(path string, err error) *Error {
	cause := err
	if perr, ok := err.(*os.PathError); ok {
		cause = perr.Err
	}
	return &Error{File: path, Message: "cannot be read: " + cause.Error(), Err: err}
}

// short returns the path relative to the working directory if it is below that,
// else unchanged.
func short(path string) string {
	cwd, err := os.Getwd()
	if err != nil {
		return path
	}
	return schema.Relative(path, cwd)
}
