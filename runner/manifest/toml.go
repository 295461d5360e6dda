package manifest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// document is TOML text with its place in a file.
type document struct {
	file string
	text string
	// above is the number of lines of the file before text, sign what stands
	// before each of its own.
	above int
	sign  string
}

// decode reads the text; the error is an *Error with the place.
func (d document) decode() (map[string]any, error) {
	var root map[string]any
	_, err := toml.Decode(d.text, &root)
	if err == nil {
		return root, nil
	}
	e := &Error{Reason: Syntax, File: d.file, Seen: lowerFirst(strings.TrimPrefix(err.Error(), "toml: "))}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		e.Seen = lowerFirst(strings.TrimSuffix(parse.Message, "."))
		e.Line, e.Text = d.above+parse.Position.Line, d.line(parse.Position.Line)
		// The reader may have gone past the line before it noticed.
		e.Column = max(1, min(len(d.sign)+parse.Position.Col, len(e.Text)))
	}
	return nil, e
}

// line is line n of the text as the file has it, from 1.
func (d document) line(n int) string {
	lines := strings.Split(d.text, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return d.sign + strings.TrimSuffix(lines[n-1], "\r")
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// manifest reads a decoded table, which is at prefix in the document.
func (d document) manifest(form Form, values map[string]any, prefix ...string) (Manifest, error) {
	m := Manifest{File: d.file, Form: form, Dir: filepath.Dir(d.file)}
	p := table(m.keys())(values)
	if p == nil {
		return m, nil
	}
	return Manifest{}, d.problem(p, prefix)
}

// problem makes an error of what a setter found.
func (d document) problem(p *problem, prefix []string) *Error {
	e := &Error{Reason: BadValue, File: d.file, Seen: p.seen, Wanted: p.wanted, Suggest: p.suggest}
	if p.unknown {
		e.Reason = UnknownKey
	}
	e.Key = dotted(p.path)
	if n := line(d.text, append(prefix[:len(prefix):len(prefix)], p.path...)); n > 0 {
		e.Line = d.above + n
		e.Text = d.line(n)
	}
	return e
}

// dotted writes a path as "bootstrap[1].hook".
func dotted(path []string) string {
	out := ""
	for _, step := range path {
		if out != "" && !strings.HasPrefix(step, "[") {
			out += "."
		}
		out += step
	}
	return out
}

// line finds the line of a key in TOML that was read without error, from 1; 0
// when it is not there. The longest beginning of path that has a line of its own
// decides, so that a key of an inline table is found by the table's line.
func line(text string, path []string) int {
	best, longest := 0, 0
	var here []string
	tables := map[string]int{}
	open := ""
	for i, row := range strings.Split(text, "\n") {
		row = strings.TrimSpace(row)
		if open != "" {
			if strings.Contains(row, open) {
				open = ""
			}
			continue
		}
		var at []string
		switch {
		case strings.HasPrefix(row, "[["):
			here = numbered(splitKey(row[2:], "]]"), tables)
			name := strings.Join(here, "\x00")
			here = append(here, index(tables[name]))
			tables[name]++
			at = here
		case strings.HasPrefix(row, "["):
			here = numbered(splitKey(row[1:], "]"), tables)
			at = here
		case strings.Contains(row, "="):
			at = append(here[:len(here):len(here)], splitKey(row, "=")...)
			for _, quote := range [...]string{`"""`, "'''"} {
				if strings.Count(row, quote) == 1 {
					open = quote
				}
			}
		}
		if n := len(at); n > longest && n <= len(path) && fmt.Sprint(at) == fmt.Sprint(path[:n]) {
			best, longest = i+1, n
		}
	}
	return best
}

// numbered adds to a table's name the index of each array of tables in it.
func numbered(keys []string, tables map[string]int) []string {
	var out []string
	for i, key := range keys {
		out = append(out, key)
		if n := tables[strings.Join(out, "\x00")]; n > 0 && i < len(keys)-1 {
			out = append(out, index(n-1))
		}
	}
	return out
}

// splitKey splits a dotted key as far as the end mark, quotes taken off.
func splitKey(row, end string) []string {
	row, _, _ = strings.Cut(row, end)
	keys := strings.Split(row, ".")
	for i, key := range keys {
		keys[i] = strings.Trim(strings.TrimSpace(key), `"'`)
	}
	return keys
}
