package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is the text of a manifest with its place in a file.
type document struct {
	file string
	text string
	// skipped is the number of lines of the file before text.
	skipped int
	// prefix is what stands in the file before each line of text.
	prefix string
	// table is the path of pyplug's table in the text, such as tool, pyplug.
	table []string
	// locate finds a key in the text, or its value.
	locate func(text string, path []string, value bool) position
}

// position is a place in a document. line and column start at 1; a zero line means
// that it is unknown.
type position struct{ line, column, width int }

// fault reports a problem with a value in pyplug's table.
func (d document) fault(p *problem) *Error {
	e := d.errorAt(d.locate(d.text, slices.Concat(d.table, p.path), p.is != ""))
	key := strings.ReplaceAll(strings.Join(p.path, "."), ".[", "[")
	switch {
	case p.is == "":
		e.Message = fmt.Sprintf("unknown key %q", key)
	case key == "":
		e.Message = "the document " + p.is
	default:
		e.Message = key + " " + p.is
	}
	e.Hint = p.hint
	return e
}

// errorAt starts an error about a place.
func (d document) errorAt(at position) *Error {
	e := &Error{File: d.file}
	if lines := strings.Split(d.text, "\n"); at.line >= 1 && at.line <= len(lines) {
		e.Line, e.Text = d.skipped+at.line, d.prefix+strings.TrimSuffix(lines[at.line-1], "\r")
		e.Column, e.Width = max(1, min(len(d.prefix)+at.column, len(e.Text)+1)), at.width
	}
	return e
}

// decode parses TOML.
func (d document) decode() (map[string]any, error) {
	var root map[string]any
	err := toml.Unmarshal([]byte(d.text), &root)
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

// locateTOML finds a key, or the closest key or table that contains it, in TOML
// that was decoded without error. Steps into arrays are written as [0].
func locateTOML(text string, path []string, value bool) position {
	search := tomlSearch{path: path, values: value, elements: map[string]int{}}
	search.parser.Reset([]byte(text))
	var table []string
	for search.parser.NextExpression() {
		node := search.parser.Expression()
		if node.Kind == unstable.KeyValue {
			search.keyValue(table, node)
		} else {
			table = search.header(node)
		}
	}
	return search.found
}

type tomlSearch struct {
	parser   unstable.Parser
	path     []string
	values   bool // find the value rather than its key
	depth    int  // the number of steps of path that led to found
	found    position
	elements map[string]int // the number of elements of each array of tables, so far
}

// visit compares the path of a node with the path that is searched for.
func (s *tomlSearch) visit(at []string, node *unstable.Node) {
	for node != nil && node.Raw.Length == 0 { // arrays have no position of their own
		node = node.Child()
	}
	if node == nil || len(at) <= s.depth || len(at) > len(s.path) || !slices.Equal(at, s.path[:len(at)]) {
		return
	}
	s.depth = len(at)
	s.mark(node)
}

func (s *tomlSearch) mark(node *unstable.Node) {
	start := s.parser.Shape(node.Raw).Start
	s.found = position{line: start.Line, column: start.Column, width: int(node.Raw.Length)}
}

// header returns the path of a table header.
func (s *tomlSearch) header(node *unstable.Node) []string {
	var path []string
	keys := node.Key()
	for keys.Next() {
		path = append(path, string(keys.Node().Data))
		s.visit(path, keys.Node())
		name := strings.Join(path, "\x00")
		if keys.IsLast() && node.Kind == unstable.ArrayTable {
			s.elements[name]++
		}
		if n := s.elements[name]; n > 0 {
			path = append(path, index(n-1))
		}
		s.visit(path, keys.Node())
	}
	return path
}

func (s *tomlSearch) keyValue(table []string, node *unstable.Node) {
	path := slices.Clone(table)
	for keys := node.Key(); keys.Next(); {
		path = append(path, string(keys.Node().Data))
		s.visit(path, keys.Node())
	}
	value := node.Value()
	if s.values && value.Raw.Length > 0 && value.Kind != unstable.InlineTable && slices.Equal(path, s.path) {
		s.mark(value)
	}
	s.value(path, value)
}

func (s *tomlSearch) value(path []string, node *unstable.Node) {
	children := node.Children()
	for i := 0; children.Next(); i++ {
		switch node.Kind {
		case unstable.InlineTable:
			s.keyValue(path, children.Node())
		case unstable.Array:
			element := append(slices.Clone(path), index(i))
			s.visit(element, children.Node())
			s.value(element, children.Node())
		}
	}
}
