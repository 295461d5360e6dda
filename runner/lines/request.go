package lines

import (
	"bytes"
	"fmt"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// badLine is the error of a line that cannot be read: what was seen, then what was
// wanted.
func badLine(format string, args ...any) *hook.Error {
	return &hook.Error{Kind: hook.Request, Err: fmt.Errorf(format, args...)}
}

// request is what a line asks for.
type request struct {
	id   []byte // as it stands in the line; nil: none
	hook string
	args []byte // an array or an object; nil: none
}

// parser makes requests of lines.
type parser struct {
	hook  string // of all lines; empty: each has its own
	items Items
	begun bool // a line was parsed
}

// blank reports whether a line is skipped. As text only an empty line is.
func (p *parser) blank(line []byte) bool {
	if p.hook != "" && p.items == Text {
		return len(line) == 0
	}
	return len(bytes.Trim(line, blanks)) == 0
}

// parse makes a request of a line that is not blank. With an error the request has what
// could be read.
func (p *parser) parse(line []byte) (request, *hook.Error) {
	first := !p.begun
	p.begun = true
	r := request{hook: p.hook}
	if p.hook == "" {
		return p.parseObject(line)
	}
	if p.items == Text {
		r.args = append(schema.AppendQuote(append(make([]byte, 0, len(line)+4), '['), string(line)), ']')
		return r, nil
	}
	value := bytes.Trim(line, blanks)
	if !validJSON(value) {
		err := badLine("the line is %w", schema.CheckValue(line))
		if first {
			err.Hints = schema.Hints("to pass each line as text, use %s text", schema.Setting("items"))
		}
		return r, err
	}
	if p.items == ByShape && (value[0] == '[' || value[0] == '{') {
		r.args = value
		return r, nil
	}
	r.args = append(append(append(make([]byte, 0, len(value)+2), '['), value...), ']')
	return r, nil
}

// keys are those of a line that names its hook.
var keys = []string{"id", "hook", "args"}

// parseObject reads a line that names its hook.
func (p *parser) parseObject(line []byte) (request, *hook.Error) {
	var (
		r     request
		name  []byte
		first *hook.Error // the first key that is wrong
		value = bytes.Trim(line, blanks)
	)
	switch {
	case !validJSON(value):
		return r, badLine("the line is %w", schema.CheckValue(line)) // bytes count from its start
	case value[0] != '{':
		return r, badLine(`the line is %s, want an object with "hook" and "args"`, jsonType(value))
	}
	fields := map[string]*[]byte{"id": &r.id, "hook": &name, "args": &r.args}
	for key, v := range members(value) {
		field := fields[unquote(key)]
		switch {
		case field != nil && *field == nil:
			*field = v
		case first != nil:
		case field != nil:
			first = badLine("%s is given twice", key)
		default:
			first = unknownKey(unquote(key))
		}
	}
	err := r.resolve(name)
	if first != nil {
		err = first
	}
	return r, err
}

// resolve sets the hook and checks the arguments.
func (r *request) resolve(name []byte) *hook.Error {
	switch {
	case name == nil, string(name) == "null":
		return badLine(`"hook" is missing`)
	case name[0] != '"':
		return badLine(`"hook" is %s, want text`, jsonType(name))
	case len(name) == len(`""`):
		return badLine(`"hook" is empty`)
	}
	r.hook = unquote(name)
	if string(r.args) == "null" {
		r.args = nil
	}
	if r.args != nil && r.args[0] != '[' && r.args[0] != '{' {
		return badLine(`"args" is %s, want an object (names) or an array (positions)`, jsonType(r.args))
	}
	return nil
}

func unknownKey(name string) *hook.Error {
	e := badLine("unknown key %s, want id, hook and args", schema.Quote(schema.Short(name)))
	e.Hints = schema.DidYouMean(schema.Suggest(name, keys))
	return e
}

// jsonType names the type of a JSON value.
func jsonType(value []byte) string {
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
