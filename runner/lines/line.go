package lines

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// Line is a line with a call that names its hook. In a record or a file of cases, the line also has
// the answer. [Line.Parse] parses the call and finds the other members. [Line.Answer],
// [Line.Occurrence] and [Line.Read] decode them.
type Line struct {
	Call
	text    []byte
	members [len(keys)]member // the members, in the order of keys
}

// Call is the call that a line requests.
type Call struct {
	ID   []byte // JSON as in the line, without line breaks, or nil if there is no id
	Hook string
	Args []byte // a JSON array or object, or nil if there are none
	Text []byte // the only argument, verbatim, or nil if there is none
}

// Answer is the result, the items or the error of a call.
type Answer struct {
	hook.Item
	Streamed bool
	Items    []hook.Item     // the items of a stream
	Error    json.RawMessage // the error as JSON, or nil if the call succeeded
	Attempts int             // how often the call was made
}

// member has byte offsets in a line: at of a key, from of its value, and to of the end of the
// value. It is zero if the line does not have the member.
type member struct{ at, from, to int }

// HeadKey is the only key of the head line of a record.
const HeadKey = "record"

// IsHead reports whether a line is the head line of a record.
func IsHead(line []byte) bool {
	rest, isObject := bytes.CutPrefix(schema.Trim(line), []byte("{"))
	return isObject && bytes.HasPrefix(schema.Trim(rest), []byte(`"`+HeadKey+`"`))
}

// IsComment reports whether a line is a comment, which begins with #.
func IsComment(line []byte) bool { return bytes.HasPrefix(schema.Trim(line), []byte("#")) }

// Parse parses a line. l refers to text. Parse rejects unknown keys and keys that are given twice.
// After an error, l has the members that could be parsed.
func (l *Line) Parse(text []byte) *hook.Error {
	l.text = text
	value := schema.Trim(text)
	if err := schema.CheckValue(text); err != nil { // text, not value, so that the error counts bytes from the start of the line
		return badLine("the line is %w", err)
	}
	if value[0] != '{' {
		return badLine(`the line is %s, expected an object with "hook" and "args"`, schema.Short(string(value)))
	}
	var first *hook.Error // the error of the first wrong key
	for quoted, v := range schema.Members(value) {
		i := indexOf(quoted)
		switch {
		case i >= 0 && l.members[i].to == 0:
			from := cap(text) - cap(v) // v is a part of text
			l.members[i] = member{cap(text) - cap(quoted), from, from + len(v)}
		case first != nil:
		case i >= 0:
			first = badLine("%w", &schema.KeyError{Key: keys[i]})
		default:
			first = unknownKey(string(schema.Unquote(quoted)))
		}
	}
	if err := l.resolve(); first == nil {
		return err
	}
	return first
}

// resolve sets the fields of the call, and checks them.
func (l *Line) resolve() *hook.Error {
	if l.ID = l.Value("id"); bytes.IndexByte(l.ID, '\n') >= 0 {
		l.ID = compact(l.ID) // an answer is one line
	}
	name, args := l.Value("hook"), l.Value("args")
	switch {
	case name == nil, string(name) == "null":
		return badLine(`"hook" is missing`)
	case name[0] != '"':
		return badLine(`"hook" is %s, expected text`, schema.Short(string(name)))
	case len(name) == len(`""`):
		return badLine(`"hook" is empty`)
	}
	l.Hook = string(schema.Unquote(name))
	if string(args) == "null" {
		args = nil
	}
	if l.Args = args; args != nil && args[0] != '[' && args[0] != '{' {
		return badLine(`"args" is %s, expected an object (names) or an array (positions)`, schema.Short(string(args)))
	}
	return l.resolveText(l.Value("text"), l.Value("base64"))
}

// resolveText sets the text of a call. The line has it as a JSON string or, if it is not UTF-8, as
// base64.
func (l *Line) resolveText(text, encoded []byte) *hook.Error {
	switch {
	case text == nil && encoded == nil:
		return nil
	case l.Args != nil || text != nil && encoded != nil:
		return badLine(`the line has more than one of "args", "text" and "base64", expected one`)
	case text != nil && text[0] != '"':
		return badLine(`"text" is %s, expected text`, schema.Short(string(text)))
	case text != nil:
		l.Text = schema.Unquote(text)
		return nil
	}
	var content []byte
	if json.Unmarshal(encoded, &content) != nil || content == nil {
		return badLine(`"base64" is %s, expected base64`, schema.Short(string(encoded)))
	}
	l.Text = content
	return nil
}

// compact returns JSON without whitespace outside strings.
func compact(value []byte) []byte {
	if !bytes.ContainsAny(value, schema.Blanks) {
		return value
	}
	var b bytes.Buffer
	_ = json.Compact(&b, value) // cannot fail, because the value was checked
	return b.Bytes()
}

// member returns the place of the member with a key.
func (l *Line) member(key string) member {
	for i := range keys {
		if keys[i] == key {
			return l.members[i]
		}
	}
	return member{}
}

// Value returns the value of a member, or nil if the line does not have it. The value is a part of
// the line.
func (l *Line) Value(key string) []byte {
	m := l.member(key)
	if m.to == 0 {
		return nil
	}
	return l.text[m.from:m.to]
}

// noValue lists the values that [Line.Read] rejects.
var noValue = []string{"null", `""`, "false"}

// Read decodes the value of a member, if the line has it. want describes the expected value in an
// error.
func (l *Line) Read(key string, to any, want string) error {
	value := l.Value(key)
	if value != nil && (json.Unmarshal(value, to) != nil || slices.Contains(noValue, string(value))) {
		return fmt.Errorf("%q is %s, expected %s", key, schema.Short(string(value)), want)
	}
	return nil
}

// Occurrence returns the number of the call among the equal calls of a record, from 1.
func (l *Line) Occurrence() (int, error) {
	n := 1
	const want = "a number from 1"
	if err := l.Read("occurrence", &n, want); err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, fmt.Errorf(`"occurrence" is %d, expected %s`, n, want)
	}
	return n, nil
}

// AnswerKey returns the key of the answer: "result", "items" or "error", or "" if the line has no
// answer.
func (l *Line) AnswerKey() (string, error) {
	found := ""
	for _, key := range [...]string{"result", "items", "error"} {
		switch {
		case l.Value(key) == nil:
		case found != "":
			return "", errors.New(`the line has more than one of "result", "items" and "error", expected one`)
		default:
			found = key
		}
	}
	return found, nil
}

// Answer returns the answer, which is empty if the line has none. In the line, "binary" is true if
// all values are bytes, or a list if only some items are bytes.
func (l *Line) Answer() (*Answer, error) {
	key, err := l.AnswerKey()
	a := &Answer{Streamed: key == "items"}
	err = cmp.Or(err, l.Read("attempts", &a.Attempts, "a number"), l.Read("sole", &a.Sole, "text"))
	if err != nil {
		return nil, err
	}
	if key == "error" {
		a.Error = l.Value(key)
		return a, nil
	}
	var texts []json.RawMessage
	if items := l.Value("items"); items != nil && (json.Unmarshal(items, &texts) != nil || texts == nil) {
		return nil, fmt.Errorf(`"items" is %s, expected an array`, schema.Short(string(items)))
	}
	each := make([]bool, len(texts))
	binary := l.Value("binary")
	if binary != nil && json.Unmarshal(binary, &a.Binary) != nil && (json.Unmarshal(binary, &each) != nil || len(each) != len(texts)) {
		return nil, fmt.Errorf(`"binary" is %s, expected true`, schema.Short(string(binary)))
	}
	for i, text := range texts {
		a.Items = append(a.Items, hook.Item{Value: text, Binary: a.Binary || each[i], Sole: a.Sole})
		if err := decode64(&a.Items[i], fmt.Sprintf(`"items"[%d]`, i)); err != nil {
			return nil, err
		}
	}
	if key == "result" {
		a.Value = l.Value(key)
		err = decode64(&a.Item, `"result"`)
	}
	return a, err
}

// decode64 replaces the base64 text of a binary value by its bytes. place names the value in an
// error.
func decode64(item *hook.Item, place string) error {
	var content []byte
	if item.Binary && json.Unmarshal(item.Value, &content) != nil {
		return fmt.Errorf("%s is %s, expected base64", place, schema.Short(string(item.Value)))
	}
	if item.Binary {
		item.Value = content
	}
	return nil
}

// WithAnswer returns the line with another answer. key is its key, and value its JSON. binary is
// the new value of "binary", or nil if no value is bytes. Nothing else changes. The line must have
// an answer.
func (l *Line) WithAnswer(key string, value, binary []byte) []byte {
	was, _ := l.AnswerKey()
	answer, flag := l.member(was), l.member("binary")
	name := bytes.Replace(l.text[answer.at:answer.from], []byte(was), []byte(key), 1)
	edits := []edit{{answer.at, answer.to, slices.Concat(name, value)}}
	switch {
	case flag.to > 0 && binary == nil:
		edits = append(edits, edit{flag.from, flag.to, []byte("false")})
	case flag.to > 0:
		edits = append(edits, edit{flag.from, flag.to, binary})
	case binary != nil:
		edits[0].text = slices.Concat(edits[0].text, []byte(`,"binary":`), binary)
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from }) // backward, so that earlier offsets stay valid
	line := l.text
	for _, e := range edits {
		line = slices.Concat(line[:e.from], e.text, line[e.to:])
	}
	return line
}

// edit replaces bytes of a line.
type edit struct {
	from, to int
	text     []byte
}

// AppendKept appends the [Line] of a call and its answer. It appends nothing if the answer contains
// NaN or Infinity, because the line would not be JSON.
func AppendKept(dst []byte, c Call, occurrence int, a *Answer) []byte {
	dst = slices.Grow(dst, 128+len(c.Args)+len(c.Text)+len(a.Value)+len(a.Error))
	before := len(dst)
	dst = append(c.append(append(dst, '{'), occurrence), ',')
	if dst = a.append(dst, true); hasNaN(dst[before:]) {
		return dst[:before]
	}
	return dst
}

// hasNaN reports whether NaN or Infinity makes a line invalid JSON.
func hasNaN(line []byte) bool {
	return (bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity"))) && !json.Valid(line)
}

// append appends the members of a call.
func (c Call) append(dst []byte, occurrence int) []byte {
	dst = schema.AppendQuote(append(dst, `"hook":`...), c.Hook)
	switch {
	case c.Args != nil:
		dst = append(append(dst, `,"args":`...), c.Args...)
	case c.Text != nil && utf8.Valid(c.Text):
		dst = schema.AppendQuote(append(dst, `,"text":`...), string(c.Text))
	case c.Text != nil:
		dst = append(base64.StdEncoding.AppendEncode(append(dst, `,"base64":"`...), c.Text), '"')
	}
	if c.ID != nil {
		dst = append(append(dst, `,"id":`...), c.ID...)
	}
	if occurrence > 1 {
		dst = strconv.AppendInt(append(dst, `,"occurrence":`...), int64(occurrence), 10)
	}
	return dst
}

// append appends the members of an answer and the end of its line. If kept is set, the line is for
// a record and contains the items of a stream. Otherwise each item has its own line.
func (a *Answer) append(dst []byte, kept bool) []byte {
	sole := a.Sole
	switch {
	case a.Error != nil:
		dst = append(append(dst, `"error":`...), a.Error...)
	case a.Streamed && kept:
		dst = AppendItems(append(dst, `"items":`...), a.Items)
		if binary := Binary(a.Items); binary != nil {
			dst = append(append(dst, `,"binary":`...), binary...)
		}
		for _, item := range a.Items { // all items are messages of the same type
			sole = cmp.Or(item.Sole, sole)
		}
	case a.Streamed:
		dst = append(dst, `"done":true`...)
	default:
		dst = wire.AppendValue(dst, "result", a.Item)
	}
	if a.Attempts > 1 {
		dst = strconv.AppendInt(append(dst, `,"attempts":`...), int64(a.Attempts), 10)
	}
	if kept && sole != "" {
		dst = schema.AppendQuote(append(dst, `,"sole":`...), sole)
	}
	return append(dst, "}\n"...)
}

// AppendItems appends the value of "items".
func AppendItems(dst []byte, items []hook.Item) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item.JSON()...)
	}
	return append(dst, ']')
}

// Binary returns the value of "binary" for items, or nil if no item is bytes.
func Binary(items []hook.Item) []byte {
	flags := make([]bool, len(items))
	for i, item := range items {
		flags[i] = item.Binary
	}
	switch {
	case !slices.Contains(flags, true):
		return nil
	case !slices.Contains(flags, false):
		return []byte("true")
	}
	text, _ := json.Marshal(flags) // cannot fail
	return text
}
