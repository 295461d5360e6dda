package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/schema"
)

// LineError says why a line cannot be read.
type LineError struct {
	// Problem is what was seen, then what was wanted.
	Problem string
	// Suggest is what was probably meant, empty when nothing is near.
	Suggest string
}

// Error is the problem.
func (e *LineError) Error() string { return e.Problem }

func isLineError(err error) bool {
	var bad *LineError
	return errors.As(err, &bad)
}

func badLine(format string, args ...any) *LineError {
	return &LineError{Problem: fmt.Sprintf(format, args...)}
}

func tooLong(most int) *LineError {
	return badLine("the line has more than %d bytes", most)
}

// request is what a line asks for.
type request struct {
	id   []byte // as it stands in the line; nil: none
	hook string
	args json.RawMessage // an array or an object; nil: none
}

// parser makes requests of lines.
type parser struct {
	hook  string // of all lines; empty: each has its own
	items Items
	last  string // the hook of the line before, most often that of the next
}

// blank tells whether a line says nothing. As text only an empty line does.
func (p *parser) blank(line []byte) bool {
	if p.hook != "" && p.items == Text {
		return len(line) == 0
	}
	return len(bytes.Trim(line, blanks)) == 0
}

// parse makes a request of a line that is not blank. When it returns an error, of
// type [*LineError], the request has what could be read all the same.
func (p *parser) parse(line []byte) (request, error) {
	if p.hook != "" && p.items == Text {
		args := append(schema.AppendQuote(append(make([]byte, 0, len(line)+4), '['), string(line)), ']')
		return request{hook: p.hook, args: args}, nil
	}
	value := bytes.Trim(line, blanks)
	if err := checkJSON(line, value); err != nil {
		return request{hook: p.hook}, err
	}
	if p.hook == "" {
		return p.whole(value)
	}
	if p.items == ByShape && (value[0] == '[' || value[0] == '{') {
		return request{hook: p.hook, args: value}, nil
	}
	args := make([]byte, 0, len(value)+2)
	return request{hook: p.hook, args: append(append(append(args, '['), value...), ']')}, nil
}

// checkJSON wants one JSON value in UTF-8. Bytes are counted from the beginning
// of the line, from 1.
func checkJSON(line, value []byte) error {
	if json.Valid(value) && utf8.Valid(value) {
		return nil
	}
	for at := 0; at < len(line); {
		r, size := utf8.DecodeRune(line[at:])
		if r == utf8.RuneError && size == 1 {
			return badLine("the line is not UTF-8: byte %d is 0x%02x", at+1, line[at])
		}
		at += size
	}
	offset, err := schema.CheckJSON(string(line))
	return badLine("the line is not JSON: byte %d: %s", offset+1, err)
}

// keys are those of a line that names its hook.
var keys = []string{"id", "hook", "args"}

// whole reads a line that names its hook.
func (p *parser) whole(value []byte) (request, error) {
	var (
		r     request
		seen  [3]bool
		first error
		name  []byte
	)
	if value[0] != '{' {
		return r, badLine(`the line is %s, want an object with "hook" and "args"`, sort(value))
	}
	for m := (members{text: value, at: 1}); ; {
		key, v, ok := m.next()
		if !ok {
			break
		}
		i := keyIndex(key)
		switch {
		case i < 0:
			first = firstOf(first, unknownKey(key))
			continue
		case seen[i]:
			first = firstOf(first, badLine("%q is given twice", keys[i]))
			continue
		}
		seen[i] = true
		switch keys[i] {
		case "id":
			r.id = v
		case "hook":
			name = v
		case "args":
			r.args = v
		}
	}
	if err := p.settle(&r, name); first == nil {
		first = err
	}
	return r, first
}

// settle reads the hook's name and looks at the arguments.
func (p *parser) settle(r *request, name []byte) error {
	switch {
	case name == nil, string(name) == "null":
		return badLine(`"hook" is missing`)
	case name[0] != '"':
		return badLine(`"hook" is %s, want text`, sort(name))
	case len(name) == 2:
		return badLine(`"hook" is empty`)
	}
	if inner := name[1 : len(name)-1]; string(inner) == p.last {
		r.hook = p.last
	} else {
		r.hook = text(name)
		if bytes.IndexByte(inner, '\\') < 0 {
			p.last = r.hook
		}
	}
	switch {
	case r.args == nil, r.args[0] == '[', r.args[0] == '{':
		return nil
	case string(r.args) == "null":
		r.args = nil
		return nil
	}
	return badLine(`"args" is %s, want an object (names) or an array (positions)`, sort(r.args))
}

func firstOf(first, err error) error {
	if first != nil {
		return first
	}
	return err
}

// keyIndex is the index of a key, which is a JSON string, in keys; -1 when it is
// none of them.
func keyIndex(key []byte) int {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = schema.Quote(text(key))
	}
	switch string(key) {
	case `"id"`:
		return 0
	case `"hook"`:
		return 1
	case `"args"`:
		return 2
	}
	return -1
}

func unknownKey(key []byte) *LineError {
	name := text(key)
	e := badLine("unknown key %s, want id, hook and args", schema.Quote(schema.Short(name)))
	e.Suggest = schema.Suggest(name, keys)
	return e
}

// sort names what sort of JSON a value is.
func sort(value []byte) string {
	switch value[0] {
	case '"':
		return "text"
	case '[':
		return "an array"
	case '{':
		return "an object"
	case 't', 'f', 'n':
		return string(value)
	}
	return "a number"
}
