package lines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const readSize = 64 << 10

// Reader splits an input into lines.
type Reader struct {
	from  *bufio.Reader
	limit int  // bytes of a line
	end   byte // of a line
	begun bool
	last  int   // size of the last line: the next one is often as long
	read  int64 // bytes of all lines so far
}

// NewReader returns a reader of lines of at most limit bytes. If null is set, they end with a NUL.
func NewReader(from io.Reader, limit int, null bool) *Reader {
	r := &Reader{from: bufio.NewReaderSize(from, readSize), limit: limit, end: '\n'}
	if null {
		r.end = 0
	}
	return r
}

// Next returns one line without its line end, which the last line may lack. The caller
// owns the line. If a line exceeds the limit, Next reads it to its end and returns a
// [*hook.Error]. A line that is cut off by an error other than io.EOF is dropped.
func (r *Reader) Next() ([]byte, error) {
	line, err := r.whole()
	if err != nil {
		return nil, err
	}
	if !r.begun {
		line = bytes.TrimPrefix(line, []byte(hook.ByteOrderMark))
	}
	r.begun = true
	if line = bytes.TrimSuffix(line, []byte{r.end}); r.end == '\n' {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	if len(line) > r.limit {
		return nil, badLine("the line has more than %d bytes", r.limit)
	}
	return line, nil
}

// ready reports whether the next line has been read.
func (r *Reader) ready() bool {
	read, _ := r.from.Peek(r.from.Buffered()) // it has as much
	return bytes.IndexByte(read, r.end) >= 0
}

// whole reads one line. If the line exceeds the limit, whole returns only enough of it to show
// that.
func (r *Reader) whole() ([]byte, error) {
	var line []byte
	ends := len(hook.ByteOrderMark) + len("\r\n")
	for {
		part, err := r.from.ReadSlice(r.end)
		r.read += int64(len(part))
		if err != nil && line == nil {
			line = slices.Grow(line, min(r.last, r.limit)+len(part))
		}
		if len(line) <= r.limit+ends {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
		case err != nil:
			return nil, err
		}
		r.last = len(line)
		return line, nil
	}
}

// badLine is the error of a line that cannot be read: what was seen, then what was
// wanted.
func badLine(format string, args ...any) *hook.Error {
	return &hook.Error{Kind: hook.Request, Err: fmt.Errorf(format, args...)}
}

// Call is the call that a line requests.
type Call struct {
	ID   []byte // as it stands in the line, on one line; nil: none
	Hook string
	Args []byte // an array or an object; nil: none
	Text []byte // the only argument, verbatim; nil: none
}

// Arguments returns the arguments of the call and words. The arguments of the call take
// precedence. field names the argument for Text; empty means by position.
func (c Call) Arguments(field string, words []schema.Word) hook.Args {
	if c.Text != nil { // in front, because the last word may need a value
		words = append([]schema.Word{{Name: field, Form: schema.Text, Value: string(c.Text), Typed: field + "=" + string(c.Text)}}, words...)
	}
	return hook.Args{Words: words, JSON: c.Args, Valid: true}
}

// parser parses lines into calls.
type parser struct {
	hook  string // of all lines; empty: each has its own
	items Items
	begun bool // a line was parsed
}

// blank reports whether a line is skipped: a blank line or, if lines name their hooks, the
// head line of a record. If lines are text, only an empty line is skipped.
func (p *parser) blank(line []byte) bool {
	if p.hook != "" && p.items == Text {
		return len(line) == 0
	}
	line = schema.Trim(line)
	return len(line) == 0 || p.hook == "" && IsHead(line)
}

// parse parses a line that is not blank. If it fails, the call has what could be read.
func (p *parser) parse(line []byte) (Call, *hook.Error) {
	first := !p.begun
	p.begun = true
	c := Call{Hook: p.hook}
	if p.hook == "" {
		c, err := ParseCall(line, nil)
		return c, err
	}
	if p.items == Text {
		c.Text = line
		return c, nil
	}
	value := schema.Trim(line)
	if wrong := schema.CheckValue(line); wrong != nil { // bytes count from its start
		err := badLine("the line is %w", wrong)
		if first {
			err.Hints = schema.Hints("to pass each line as text, use %s text", schema.Setting("items"))
		}
		return c, err
	}
	if p.items == ByShape && (value[0] == '[' || value[0] == '{') {
		c.Args = value
		return c, nil
	}
	c.Args = append(append(append(make([]byte, 0, len(value)+2), '['), value...), ']')
	return c, nil
}

// The keys of a line that names its hook: those of the call, and those that only a record or a
// file of cases has. Calls ignore the latter.
var (
	callKeys = []string{"id", "hook", "args", "text", "base64"}
	keptKeys = []string{"result", "items", "binary", "sole", "error", "attempts", "occurrence",
		"name", "match", "contains", "health", "under", "skip"}
)

// HeadKey is the only key of the head line of a record.
const HeadKey = "record"

// IsHead reports whether a line is the head line of a record.
func IsHead(line []byte) bool {
	rest, isObject := bytes.CutPrefix(schema.Trim(line), []byte("{"))
	return isObject && bytes.HasPrefix(schema.Trim(rest), []byte(`"`+HeadKey+`"`))
}

// ParseCall reads a line that names its hook. It passes the keys that are not the call's, as JSON
// strings, and their values to other, which may be nil. With an error the call has what could be read.
func ParseCall(line []byte, other func(key string, value []byte)) (Call, *hook.Error) {
	var (
		c     Call
		given [5][]byte   // by the order of callKeys
		first *hook.Error // the first key that is wrong
		value = schema.Trim(line)
	)
	if err := schema.CheckValue(line); err != nil { // bytes count from its start
		return c, badLine("the line is %w", err)
	}
	if value[0] != '{' {
		return c, badLine(`the line is %s, want an object with "hook" and "args"`, schema.Short(string(value)))
	}
	for quoted, v := range schema.Members(value) {
		key := knownKey(quoted)
		i := slices.Index(callKeys, key)
		switch {
		case i >= 0 && given[i] == nil:
			given[i] = v
		case i < 0 && slices.Contains(keptKeys, key):
			if other != nil {
				other(key, v)
			}
		case first != nil:
		case i >= 0:
			first = badLine("%s is given twice", quoted)
		default:
			first = unknownKey(key)
		}
	}
	err := c.resolve(given)
	if first != nil {
		err = first
	}
	return c, err
}

// knownKey returns a key without quotes. It does not copy a known key.
func knownKey(quoted []byte) string {
	for _, keys := range [][]string{callKeys, keptKeys} {
		for _, key := range keys {
			if string(quoted[1:len(quoted)-1]) == key {
				return key
			}
		}
	}
	return string(schema.Unquote(quoted))
}

// compact returns JSON without whitespace outside strings.
func compact(value []byte) []byte {
	if !bytes.ContainsAny(value, schema.Blanks) {
		return value
	}
	var b bytes.Buffer
	_ = json.Compact(&b, value) // it was checked
	return b.Bytes()
}

// resolve sets the call from the values of callKeys, and checks them.
func (c *Call) resolve(given [5][]byte) *hook.Error {
	id, name, args := given[0], given[1], given[2]
	if c.ID = id; bytes.IndexByte(id, '\n') >= 0 {
		c.ID = compact(id) // an answer is one line
	}
	switch {
	case name == nil, string(name) == "null":
		return badLine(`"hook" is missing`)
	case name[0] != '"':
		return badLine(`"hook" is %s, want text`, schema.Short(string(name)))
	case len(name) == len(`""`):
		return badLine(`"hook" is empty`)
	}
	c.Hook = string(schema.Unquote(name))
	if string(args) == "null" {
		args = nil
	}
	if c.Args = args; args != nil && args[0] != '[' && args[0] != '{' {
		return badLine(`"args" is %s, want an object (names) or an array (positions)`, schema.Short(string(args)))
	}
	return c.resolveText(given[3], given[4])
}

// resolveText sets the text of a call, which is a JSON string or, with bytes that are not UTF-8, base64.
func (c *Call) resolveText(text, encoded []byte) *hook.Error {
	switch {
	case text == nil && encoded == nil:
		return nil
	case c.Args != nil || text != nil && encoded != nil:
		return badLine(`the line has more than one of "args", "text" and "base64"`)
	case text != nil && text[0] != '"':
		return badLine(`"text" is %s, want text`, schema.Short(string(text)))
	case text != nil:
		c.Text = schema.Unquote(text)
	case json.Unmarshal(encoded, &c.Text) != nil || c.Text == nil:
		return badLine(`"base64" is %s, want base64`, schema.Short(string(encoded)))
	}
	return nil
}

func unknownKey(name string) *hook.Error {
	e := badLine("unknown key %s, want id, hook and args", schema.Quote(schema.Short(name)))
	e.Hints = schema.DidYouMean(schema.Suggest(name, slices.Concat(callKeys, keptKeys)))
	return e
}
