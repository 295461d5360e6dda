package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// document is what [Manifest] knows of its text.
type document struct {
	text string
	// skipped is the number of lines of the file before text.
	skipped int
	// table is the path of pyplug's table in the text, such as tool, pyplug.
	table []string
	// entry is the absolute path of the entry, or "". entryKey leads to it in the table.
	entry    string
	entryKey []string
	// python reports that Python runs the entry, whatever its name.
	python bool
}

// position is a place in a document. line and column start at 1, column counts bytes. Line 0 means
// unknown.
type position struct{ line, column int }

// fault reports a problem with a value in pyplug's table.
func (m Manifest) fault(mistake *settings.Mistake) *Error {
	locate := locateTOML
	if m.Form == PluginJSON {
		locate = locateJSON
	}
	e := m.errorAt(locate(m.text, slices.Concat(m.table, mistake.Path)))
	key := strings.ReplaceAll(strings.Join(mistake.Path, "."), ".[", "[")
	switch {
	case mistake.Text == "":
		e.Message = fmt.Sprintf("unknown key %q", key)
	case key == "":
		e.Message = "the document " + mistake.Text
	default:
		e.Message = key + " " + mistake.Text
	}
	e.Advice = mistake.Advice
	return e
}

// entryError returns the error for an entry. more says what is wrong with it.
func (m Manifest) entryError(more, wanted string) *Error {
	mistake := &settings.Mistake{Text: fmt.Sprintf("is %q%s, want %s", m.Entry, more, wanted), Advice: schema.DidYouMean(closest(m.entry))}
	return m.fault(mistake.Within(m.entryKey...))
}

// missingEntry returns the error for an entry that does not exist.
func (m Manifest) missingEntry(err error) *Error {
	e := m.entryError("", "a file or package that exists")
	e.Err = err
	return e
}

// errorAt returns an error with a place. The caller adds the message.
func (m Manifest) errorAt(at position) *Error {
	e := &Error{Place: short(m.File)}
	if m.Form == Script {
		at.column += len("# ")
	}
	if at.line > 0 {
		e.Place += fmt.Sprintf(":%d:%d", m.skipped+at.line, at.column)
	}
	return e
}

// parse parses TOML.
func (m Manifest) parse() (map[string]any, error) {
	var root map[string]any
	err := bounded.TOML([]byte(m.text), &root)
	if err == nil {
		return root, nil
	}
	at := position{}
	if wrong := (*toml.DecodeError)(nil); errors.As(err, &wrong) {
		at.line, at.column = wrong.Position()
	}
	e := m.errorAt(at)
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
				step(settings.Index(n - 1))
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
	// Place is the file with the mistake, with the line and the column if they are known. It is empty
	// for a mistake in the path of a plugin.
	Place string
	// Message says what was seen and what was expected.
	Message string
	schema.Advice
	// Err is the error of the system, or nil.
	Err error
}

// Error returns one line with the place and the message.
func (e *Error) Error() string {
	if e.Place == "" {
		return e.Message
	}
	return e.Place + ": " + e.Message
}

// Unwrap returns the error of the system, if any.
func (e *Error) Unwrap() error { return e.Err }

// unreadable reports a file that exists but cannot be read.
func unreadable(path string, err error) *Error {
	cause := cmp.Or(errors.Unwrap(err), err) // without the path again
	return &Error{Place: short(path), Message: "cannot be read: " + cause.Error(), Err: err}
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
