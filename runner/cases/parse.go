package cases

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

const blanks = " \t\r"

// maxBad is the number of bad lines that an error lists.
const maxBad = 20

// Parse parses the text of a file of cases. The returned File refers to text. An error has kind
// [hook.Usage] and names the lines and the columns. Both count from 1, columns in bytes.
func Parse(path string, text []byte) (*File, error) {
	p := &parser{file: &File{Path: path, text: text}, heading: newHeading(nil), last: map[key]int{}}
	rest := bytes.TrimPrefix(text, []byte(hook.ByteOrderMark))
	for p.number = 1; len(rest) > 0; p.number++ {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		start := len(text) - len(rest)
		rest = after
		if len(line) > lines.DefaultMaxLine {
			return nil, hook.NewError(hook.Usage, fmt.Errorf("%s:%d: the line has more than %d bytes", path, p.number, lines.DefaultMaxLine))
		}
		if len(bytes.Trim(line, blanks)) == 0 || lines.IsComment(line) {
			continue
		}
		if p.file.isRecord && !whole && !json.Valid(line) { // the run was killed while it wrote this line
			break
		}
		if err := p.line(line, start); err != nil {
			p.bad = append(p.bad, hook.AsError(err))
		}
		if len(p.bad) > maxBad {
			break
		}
	}
	if len(p.bad) > 0 {
		return nil, p.wrongLines()
	}
	p.file.places = slices.DeleteFunc(p.file.places, func(at place) bool { return at.line == 0 })
	if p.file.Len() == 0 {
		return nil, hook.NewError(hook.Usage, fmt.Errorf("%s has no cases", path))
	}
	return p.file, nil
}

// parser reads the lines of a file.
type parser struct {
	file   *File
	number int
	bad    []*hook.Error // the errors of bad lines
	*heading
	last map[key]int // in a record: the index of the last answer of each call
}

func newHeading(words []schema.Word) *heading {
	return &heading{words: words, fields: map[string]string{}, messages: map[string]*messages{}}
}

// line reads one line, which is not blank.
func (p *parser) line(line []byte, start int) error {
	if lines.IsHead(line) {
		return p.head(line)
	}
	at := place{start, p.number, p.heading}
	c, err := p.file.read(at)
	if err != nil {
		return p.wrong(line, err)
	}
	p.add(c, at)
	return nil
}

// read reads the case at a place.
func (f *File) read(at place) (*Case, error) {
	line, _, _ := bytes.Cut(f.text[at.start:], []byte("\n"))
	c, err := parseCase(line)
	if err != nil {
		return nil, err
	}
	c.File, c.Line, c.heading, c.start, c.end = f.Path, at.line, at.heading, at.start, at.start+len(line)
	return c, nil
}

// parseCase parses a line of a file of cases, or of a record.
func parseCase(text []byte) (*Case, error) {
	var l lines.Line
	if bad := l.Parse(text); bad != nil {
		return nil, bad
	}
	c := &Case{call: l.Call}
	return c, c.read(&l)
}

// add adds a case. In a record, the last answer of an occurrence of a call replaces earlier
// ones. add ignores canceled calls of a record, because they have no answer from the plugin.
func (p *parser) add(c *Case, at place) {
	if p.file.isRecord && c.fails != nil && c.fails.Kind == hook.Canceled {
		return
	}
	if p.file.isRecord {
		key := keyOf(c.call, c.occurrence)
		if before, ok := p.last[key]; ok {
			if b, _ := p.file.read(p.file.places[before]); isSame(b.call, c.call) {
				p.file.places[before].line = 0
			}
		}
		p.last[key] = p.file.Len()
	}
	p.file.places = append(p.file.places, at)
}

// head parses a head line of a record. Its words are arguments of every call below it.
func (p *parser) head(line []byte) error {
	head, err := parseHead(line)
	if err != nil {
		return p.wrong(line, err)
	}
	words, err := schema.ParseWords(head.Words, func(name string) ([]byte, error) {
		return nil, fmt.Errorf("the record takes an argument from the file %s, expected all arguments in the record", name)
	})
	if err != nil {
		return p.wrong(line, err)
	}
	p.heading, p.file.isRecord = newHeading(words), true
	return nil
}

// wrong returns an error about a line.
func (p *parser) wrong(line []byte, err error) error {
	e := *hook.NewError(hook.Usage, err)
	e.Err = fmt.Errorf("%s:%d:%d: %w", p.file.Path, p.number, column(line, err.Error()), err)
	return &e
}

// wrongLines returns the error of the first bad line, with the errors of the others as its drawing.
func (p *parser) wrongLines() error {
	e := p.bad[0]
	for i, other := range p.bad[1:] {
		if i+1 == maxBad {
			e.Drawing = append(e.Drawing, "… more lines cannot be read")
			break
		}
		text := other.Error()
		if hints := hook.Words(other.Hints); len(hints) > 0 && !slices.Equal(hints, hook.Words(e.Hints)) {
			text += " (" + strings.Join(hints, "; ") + ")"
		}
		e.Drawing = append(e.Drawing, text)
	}
	return e
}

// column returns the column of an error: the column of the first byte that is not JSON, or else of
// the first key that the message names.
func column(line []byte, message string) int {
	if !utf8.Valid(line) {
		return bytes.IndexRune(line, utf8.RuneError) + 1 // the column of the first invalid byte
	}
	if offset, err := schema.CheckJSON(line); err != nil {
		return offset + 1
	}
	if object := bytes.TrimLeft(line, blanks); object[0] == '{' {
		for key := range schema.Members(object) {
			if strings.Contains(message, string(schema.Quote(schema.Short(string(schema.Unquote(key)))))) {
				return cap(line) - cap(key) + 1 // key is a subslice of line, so their capacities differ by its offset
			}
		}
	}
	return 1 + len(line) - len(bytes.TrimLeft(line, blanks))
}

// read reads the keys of a line other than the call.
func (c *Case) read(l *lines.Line) (err error) {
	var under, match string
	for _, field := range []struct {
		key  string
		to   any
		want string
	}{
		{"name", &c.Name, "text"}, {"skip", &c.Skip, "text with the reason"}, {"match", &match, "text with a regular expression"},
		{"health", &c.health, "true"}, {"under", &under, `text such as "200ms"`},
	} {
		if err := l.Read(field.key, field.to, field.want); err != nil {
			return err
		}
	}
	if c.occurrence, err = l.Occurrence(); err != nil {
		return err
	}
	if under != "" {
		var ok bool
		if c.under, ok = schema.ParseDuration(under); !ok || c.under <= 0 {
			return fmt.Errorf(`"under" is %q, expected a duration such as "200ms"`, under)
		}
	}
	c.contains = l.Value("contains")
	if c.match, err = compile(match); err != nil {
		return err
	}
	return c.readAnswer(l)
}

// compile compiles the value of "match". It returns nil for an empty pattern.
func compile(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf(`"match" is not a valid regular expression: %w`, err)
	}
	return re, nil
}

// readAnswer reads the answer that the call should get.
func (c *Case) readAnswer(l *lines.Line) error {
	key, err := l.AnswerKey()
	if err != nil {
		return err
	}
	a, err := l.Answer()
	switch {
	case err != nil:
		return err
	case key != "error":
		c.wants.Answer, c.hasAnswer = *a, key != ""
		return nil
	case c.contains != nil || c.match != nil:
		return errors.New(`"contains" or "match" is next to "error", expected "match" inside "error"`)
	}
	return c.readError(a.Error)
}

// errorKeys are the keys of the error of a case. errorShape lists the other keys that a
// returned error may have.
var (
	errorKeys     = []string{"kind", "type", "match", "message"}
	errorSynonyms = map[string]string{"exception": "type", "class": "type", "code": "type", "status": "type", "text": "match", "contains": "match", "regex": "match"}
	errorShape    = []string{"reason", "hint", "hook", "sent", "python", "at", "place", "unknown", "word",
		"exit", "tried", "drawing", "plugin", "status", "details", "status_message"}
)

// readError reads the error that the call should return.
func (c *Case) readError(value json.RawMessage) error {
	c.fails = &wantedError{}
	if json.Unmarshal(value, &c.fails.text) == nil && c.fails.text != "" {
		return nil
	}
	var fields map[string]json.RawMessage
	err := schema.Decode(value, &fields)
	if twice := schema.Twice(err); twice != nil {
		return fmt.Errorf(`in "error", %w`, twice)
	}
	if err != nil || fields == nil {
		return fmt.Errorf(`"error" is %s, expected the type or a part of the message, or an object with "kind", "type" or "match"`, schema.Short(string(value)))
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(errorKeys, key) && !slices.Contains(errorShape, key) {
			e := hook.NewError(hook.Usage, fmt.Errorf(`unknown key %q in "error", expected kind, type and match`, key))
			e.Hints = schema.DidYouMean(cmp.Or(errorSynonyms[key], schema.Suggest(key, errorKeys)))
			return e
		}
	}
	w := c.fails
	for key, to := range map[string]any{"kind": &w.Kind, "type": &w.Type, "match": &w.Match, "message": &w.Message} {
		if value := fields[key]; value != nil && json.Unmarshal(value, to) != nil {
			return fmt.Errorf(`%q of "error" is %s, expected text`, key, schema.Short(string(value)))
		}
	}
	if w.Kind != "" && !slices.Contains(hook.Kinds(), w.Kind) {
		var kinds []string
		for _, kind := range hook.Kinds() {
			kinds = append(kinds, string(kind))
		}
		e := hook.NewError(hook.Usage, fmt.Errorf(`the kind of "error" is %q, expected %s`, w.Kind, schema.OneOf(kinds)))
		e.Hints = schema.DidYouMean(schema.Suggest(string(w.Kind), kinds))
		return e
	}
	if w.match, err = compile(w.Match); err != nil {
		return fmt.Errorf(`in "error", %w`, err)
	}
	w.whole = fields["message"] != nil
	if !w.whole || w.Type != "" {
		return nil
	}
	returned := new(hook.Error)
	if err := returned.UnmarshalJSON(value); err == nil {
		w.Type = typeOf(returned)
	} else if twice := schema.Twice(err); twice != nil {
		return fmt.Errorf(`in "error", %w`, twice)
	}
	return nil
}
