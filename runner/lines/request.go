package lines

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	readSize = 64 << 10
	// byteOrderMark may stand before the first line, where some editors put it.
	byteOrderMark = "\ufeff"
)

// lineReader splits an input into lines.
type lineReader struct {
	from  *bufio.Reader
	limit int  // bytes of a line
	end   byte // of a line
	begun bool
	last  int // size of the last line: the next one is often as long
}

func newLineReader(from io.Reader, limit int, null bool) *lineReader {
	r := &lineReader{from: bufio.NewReaderSize(from, readSize), limit: limit, end: '\n'}
	if null {
		r.end = 0
	}
	return r
}

// next returns one line without its end, which the last line need not have. The
// line belongs to the caller. A line over the limit is read to its end and is a
// [*hook.Error]. A line that is cut off by an error other than io.EOF is dropped.
func (r *lineReader) next() ([]byte, error) {
	line, err := r.whole()
	if err != nil {
		return nil, err
	}
	if !r.begun {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
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

// whole reads one line. Of a line over the limit it returns only enough to see that.
func (r *lineReader) whole() ([]byte, error) {
	var line []byte
	ends := len(byteOrderMark) + len("\r\n")
	for {
		part, err := r.from.ReadSlice(r.end)
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

// request is what a line asks for.
type request struct {
	id       []byte // as it stands in the line; nil: none
	hook     string
	args     []byte // an array or an object; nil: none
	verbatim []byte // the line itself, as text; nil: none
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
		r.verbatim = line
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
		return r, badLine(`the line is %s, want an object with "hook" and "args"`, schema.Short(string(value)))
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
	if bytes.IndexByte(r.id, '\n') >= 0 {
		r.id = compact(r.id) // an answer is one line
	}
	if first != nil {
		err = first
	}
	return r, err
}

// compact returns JSON on one line.
func compact(value []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, value) // it was checked
	return b.Bytes()
}

// resolve sets the hook and checks the arguments.
func (r *request) resolve(name []byte) *hook.Error {
	switch {
	case name == nil, string(name) == "null":
		return badLine(`"hook" is missing`)
	case name[0] != '"':
		return badLine(`"hook" is %s, want text`, schema.Short(string(name)))
	case len(name) == len(`""`):
		return badLine(`"hook" is empty`)
	}
	r.hook = unquote(name)
	if string(r.args) == "null" {
		r.args = nil
	}
	if r.args != nil && r.args[0] != '[' && r.args[0] != '{' {
		return badLine(`"args" is %s, want an object (names) or an array (positions)`, schema.Short(string(r.args)))
	}
	return nil
}

func unknownKey(name string) *hook.Error {
	e := badLine("unknown key %s, want id, hook and args", schema.Quote(schema.Short(name)))
	e.Hints = schema.DidYouMean(schema.Suggest(name, keys))
	return e
}

// blanks are JSON's.
const blanks = " \t\r\n"

// longText is the size from which withoutPlain shortens a text before encoding/json checks
// it. encoding/json takes five times as long for each character.
const longText = 64 << 10

// validJSON reports whether text is one JSON value in UTF-8.
func validJSON(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	if len(text) >= longText {
		text = withoutPlain(text)
	}
	return json.Valid(text)
}

// withoutPlain drops the plain characters of strings. What is left is valid JSON if and
// only if text is: it has the same quotes, escapes and control characters in the same
// order.
func withoutPlain(text []byte) []byte {
	var left []byte
	quoted := false
	for {
		if quoted {
			text = text[plainSize(text):]
		}
		if len(text) == 0 {
			return left
		}
		n := 1
		if text[0] == '"' {
			quoted = !quoted
		} else if quoted {
			n = min(escapeSize(text), len(text))
		}
		left = append(left, text[:n]...)
		text = text[n:]
	}
}

// plainSize returns the number of bytes in the rest of a string before the next quote, escape
// or control character.
func plainSize(rest []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(rest)-i >= 8; i += 8 { // eight at once, as far as all of them are plain
		c := binary.LittleEndian.Uint64(rest[i:])
		quote, escape := c^ones*'"', c^ones*'\\' // have a zero for each
		if ((c-ones*' ')&^c|(quote-ones)&^quote|(escape-ones)&^escape)&tops != 0 {
			break
		}
	}
	for ; i < len(rest); i++ {
		if c := rest[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// escapeSize returns the length of the escape at the beginning of a text, 1 if there is none.
func escapeSize(text []byte) int {
	switch {
	case text[0] != '\\':
		return 1
	case bytes.HasPrefix(text, []byte(`\u`)):
		return len(`\u0000`)
	}
	return len(`\n`)
}

// members yields the keys, which are JSON strings, and the values of a valid JSON object.
// Both are parts of its text.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest := object // from the brace or comma in front of a member
		part := func() []byte {
			n := 1 + partSize(rest[1:])
			text := bytes.Trim(rest[1:n], blanks)
			rest = rest[n:]
			return text
		}
		for rest[0] != '}' {
			key := part()
			if len(key) == 0 || !yield(key, part()) {
				return
			}
		}
	}
}

// partSize returns the length of a key or value with the blanks around it. A colon, a comma
// or the brace of the object ends it.
func partSize(rest []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch rest[i] {
		case '"':
			for i++; rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case ':', ',', '}', ']':
			if depth == 0 {
				return i
			}
			if rest[i] == '}' || rest[i] == ']' {
				depth--
			}
		}
	}
}

// unquote reads a valid JSON string.
func unquote(quoted []byte) string {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic("a string of valid JSON is none: " + err.Error())
	}
	return s
}
