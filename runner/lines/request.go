package lines

import (
	"bufio"
	"bytes"
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
	limit int  // the maximum size of a line in bytes
	end   byte // the end of a line
	begun bool
	last  int   // the size of the last line, because the next one is often as long
	read  int64 // the size of all lines so far
}

// NewReader returns a reader of lines of at most limit bytes. If null is set, lines end with a NUL.
func NewReader(from io.Reader, limit int, null bool) *Reader {
	r := &Reader{from: bufio.NewReaderSize(from, readSize), limit: limit, end: '\n'}
	if null {
		r.end = 0
	}
	return r
}

// Next returns the next line without its line end, which the last line need not have. The caller
// owns the line. If a line exceeds the limit, Next reads it to its end and returns a
// [*hook.Error]. If an error other than io.EOF cuts a line off, Next drops the line.
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

// ready reports whether the whole next line is buffered.
func (r *Reader) ready() bool {
	read, _ := r.from.Peek(r.from.Buffered()) // cannot fail
	return bytes.IndexByte(read, r.end) >= 0
}

// whole reads one line with its line end. If the line exceeds the limit, whole returns only a part
// of it, which also exceeds the limit.
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

// badLine returns the error of a line that cannot be parsed.
func badLine(format string, args ...any) *hook.Error {
	return &hook.Error{Kind: hook.Request, Err: fmt.Errorf(format, args...)}
}

// Arguments returns the arguments of the call and words. The arguments of the call take
// precedence. field names the argument for Text. If it is empty, the argument is by position.
func (c Call) Arguments(field string, words []schema.Word) hook.Args {
	if c.Text != nil { // Text comes first, because the last word may need a value
		words = append([]schema.Word{{Name: field, Form: schema.Text, Value: string(c.Text), Typed: field + "=" + string(c.Text)}}, words...)
	}
	return hook.Args{Words: words, JSON: c.Args, Valid: true}
}

// parser parses lines into calls.
type parser struct {
	hook  string // the hook of all lines, or empty if each line has its own
	items Items
	begun bool // a line was parsed
}

// blank reports whether a line is skipped: a blank line or, if lines name their hooks, a comment or
// the head line of a record. If lines are text, only an empty line is skipped.
func (p *parser) blank(line []byte) bool {
	if p.hook != "" && p.items == Text {
		return len(line) == 0
	}
	line = schema.Trim(line)
	return len(line) == 0 || p.hook == "" && (IsComment(line) || IsHead(line))
}

// parse parses a line that is not blank. After an error, the call has the members that could be
// parsed.
func (p *parser) parse(line []byte) (Call, *hook.Error) {
	first := !p.begun
	p.begun = true
	c := Call{Hook: p.hook}
	if p.hook == "" {
		var l Line
		err := l.Parse(line)
		return l.Call, err
	}
	if p.items == Text {
		c.Text = line
		return c, nil
	}
	value := schema.Trim(line)
	if wrong := schema.CheckValue(line); wrong != nil { // line, not value, so that the error counts bytes from the start of the line
		err := badLine("the line is %w", wrong)
		if first {
			err.Hints = schema.Hints("pass %s text to read each line as text", schema.Setting("items"))
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

// withLineHint adds a hint to an error if the arguments of a call look like a line that names its
// hook. pyplug reads such lines only if the command line has no HOOK. hookName is that HOOK, or
// empty.
func withLineHint(hookName string, c Call, err *hook.Error) *hook.Error {
	if hookName == "" || !slices.Contains([]string{"id", "hook", "args"}, err.Unknown) {
		return err
	}
	var l Line
	_ = l.Parse(c.Args) // after an error, l has the members that could be parsed
	hint := schema.Hintf("write the arguments alone after HOOK: %s", schema.Short(string(l.Value("args"))))
	switch {
	case l.Value("args") == nil:
		return err
	case l.Value("hook") != nil:
		hint = schema.Hintf("leave out HOOK, %s: the line names its hook", hookName)
	}
	hinted := *err
	hinted.Hints = append(slices.Clone(err.Hints), hint)
	return &hinted
}
