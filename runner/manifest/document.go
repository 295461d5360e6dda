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
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// document is the text of a [Manifest], with the places of its parts.
type document struct {
	text string
	// skipped is the number of lines of the file before text.
	skipped int
	// table is the path of pyplug's table in the text, such as ["tool", "pyplug"].
	table []string
	// entry is the absolute path of the entry, or "". entryKey is the path of its key in the table.
	entry    string
	entryKey []string
	// python says that Python runs the entry, whatever its name.
	python bool
}

// position is a place in a document. line and column start at 1, and column counts bytes. Line 0
// means unknown.
type position struct{ line, column int }

// fault returns the error for a mistake in pyplug's table.
func (m Manifest) fault(mistake *settings.Mistake) *hook.Error {
	locate := locateTOML
	if m.Form == PluginJSON {
		locate = locateJSON
	}
	at := locate(m.text, slices.Concat(m.table, mistake.Path))
	key := strings.ReplaceAll(strings.Join(mistake.Path, "."), ".[", "[")
	text := key + " " + mistake.Text
	switch {
	case mistake.Text == "":
		text = fmt.Sprintf("unknown key %q", key)
	case key == "":
		text = "the document " + mistake.Text
	}
	return m.wrongAt(at, text, mistake.Hints...)
}

// entryError returns the error for an entry. more says what is wrong with it.
func (m Manifest) entryError(more, wanted string) *hook.Error {
	mistake := &settings.Mistake{Text: fmt.Sprintf("is %q%s, expected %s", m.Entry, more, wanted), Hints: schema.DidYouMean(closest(m.entry))}
	return m.fault(mistake.Within(m.entryKey...))
}

// missingEntry returns the error for an entry that does not exist.
func (m Manifest) missingEntry() *hook.Error {
	return m.entryError("", "a file or package that exists")
}

// wrongAt returns an error with a place in the manifest.
func (m Manifest) wrongAt(at position, text string, hints ...schema.Hint) *hook.Error {
	place := short(m.File)
	if m.Form == Script {
		at.column += len("# ")
	}
	if at.line > 0 {
		place += fmt.Sprintf(":%d:%d", m.skipped+at.line, at.column)
	}
	return wrong(place+": "+text, hints...)
}

// parse parses the manifest's TOML.
func (m Manifest) parse() (map[string]any, error) {
	var root map[string]any
	err := bounded.TOML([]byte(m.text), &root)
	if err == nil {
		return root, nil
	}
	at := position{}
	if syntax, ok := errors.AsType[*toml.DecodeError](err); ok {
		at.line, at.column = syntax.Position()
	}
	return nil, m.wrongAt(at, strings.TrimPrefix(err.Error(), "toml: "))
}

// locateTOML returns the place of the key at path, or of the closest key or table that contains
// it. In path, "[0]" is the first table of an array. The TOML is valid.
func locateTOML(text string, path []string) (found position) {
	var parser unstable.Parser
	parser.Reset([]byte(text))
	var table []string
	longest, elements := 0, map[string]int{} // elements counts the tables of each array so far
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

// wrong returns the error for a mistake in a manifest, or in the path of a plugin.
func wrong(text string, hints ...schema.Hint) *hook.Error {
	return &hook.Error{Kind: hook.Usage, Err: errors.New(text), Hints: hints, Permanent: true}
}

// unreadable returns the error for a file that exists but cannot be read.
func unreadable(path string, err error) *hook.Error {
	cause := cmp.Or(errors.Unwrap(err), err) // the cause does not repeat the path
	return wrong(short(path) + ": cannot be read: " + cause.Error())
}

// short returns the path relative to the working directory if it is below that, or else unchanged.
func short(path string) string {
	cwd, err := os.Getwd()
	if err != nil {
		return path
	}
	return schema.Relative(path, cwd)
}
