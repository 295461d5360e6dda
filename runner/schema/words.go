package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Form says how a word's text is read.
type Form uint8

// The forms of a word.
const (
	// Plain is VALUE, name=VALUE or --name=VALUE. The parameter decides the type.
	Plain Form = iota
	// Text is =TEXT, or a word after the first "--". It is used verbatim.
	Text
	// JSON is :=JSON or name:=JSON.
	JSON
	// FileText is name@=FILE. The value is the file's text, or its bytes for a bytes field.
	FileText
	// Option is --name. The next word is its value, unless the parameter is a bool.
	Option
	// Rest is the first "--". It may be the value of the [Option] before it.
	Rest
)

// Word is one argument as typed, with its form but without a type.
type Word struct {
	// Name is the parameter's name, or empty for a positional argument.
	Name string
	Form Form
	// Value is the text after the mark, or the content of the file for FileText and
	// for :=@FILE.
	Value string
	// Typed is the whole word.
	Typed string
	// Number is the word's position among the typed words, from 1, or 0 if unknown.
	Number int
	// Fault says why the word cannot be read. It is ignored if the word proves to be the value of
	// an option, or a text.
	Fault error
}

// FileReader reads the file that a word names. If it is nil, no files can be read.
type FileReader func(name string) ([]byte, error)

// ParseWords reads the form of each word. The forms are VALUE, name=VALUE, =TEXT, :=JSON,
// name:=JSON, @=FILE, name@=FILE, :=@FILE, name:=@FILE, --name=VALUE, --name and "--". A name is a
// Python identifier or several joined by dots. After the dashes it is any text. A word with any
// other text before its first "=" is a positional VALUE, such as http://x?a=b. A caller that knows
// the parameters calls [Decide].
//
// ParseWords calls read to read files, including the file "-". If read is nil, a word that names a
// file is an error. An error is an [*ArgumentError].
func ParseWords(words []string, read FileReader) ([]Word, error) {
	parsed := make([]Word, len(words))
	var l Lexer
	for i, typed := range words {
		var err error
		if parsed[i], err = l.Next(typed, read); err != nil {
			return nil, err
		}
		parsed[i].Number = i + 1
	}
	return parsed, nil
}

// Lexer reads the forms of words in their order. The zero value is ready.
type Lexer struct {
	option string // the previous word, if it is an Option
	open   string // the Option whose value may be the first "--"
	texts  bool   // whether a "--" that is not a value was read
}

// Next reads the form of the next word. A word may be the value of the [Option] before it.
// Next does not read the file of such a word, and stores an error in its Fault.
func (l *Lexer) Next(typed string, read FileReader) (Word, error) {
	if l.texts {
		return Word{Form: Text, Value: typed, Typed: typed}, nil
	}
	before := cmp.Or(l.option, l.open)
	name, _, hasValue := strings.Cut(strings.TrimPrefix(typed, "--"), "=")
	dashed := strings.HasPrefix(typed, "--") && typed[2:] != "" && name != ""
	l.option = ""
	switch {
	case typed == "--":
		l.open, l.texts = before, before == ""
		return Word{Form: Rest, Typed: typed}, nil
	case dashed && hasValue:
		return Word{Name: name, Value: typed[len("--")+len(name)+len("="):], Typed: typed}, nil
	case dashed:
		l.option = typed
		return Word{Name: name, Form: Option, Typed: typed}, nil
	case before == "":
		return parse(typed, read)
	}
	w, err := parse(typed, unread(before))
	w.Typed, w.Fault = typed, err
	return w, nil
}

// Skip skips a word that does not come from a command line.
func (l *Lexer) Skip() { l.option = "" }

// unread returns a FileReader that rejects every file.
func unread(option string) FileReader {
	return func(string) ([]byte, error) {
		return nil, fmt.Errorf("%s may take this word as its value, so the file is not read: put the word before %[1]s", option)
	}
}

// Decide decides which words are values of the [Option] before them, and which are texts after a
// "--". The result has no [Option] and no [Rest]. An option without a value is true, and --no-NAME
// is false if NAME is a flag. flag reports whether a name is known, and whether it takes no value.
func Decide(words []Word, flag func(name string) (known, is bool)) ([]Word, error) {
	var decided []Word
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Form == Rest:
			for _, text := range words[i+1:] {
				decided = append(decided, Word{Form: Text, Value: text.Typed, Typed: text.Typed, Number: text.Number})
			}
			return decided, nil
		case w.Form == Option:
			known, is := flag(w.Name)
			w.Form, w.Value = Plain, "true"
			if name, negated := cutNo(w.Name); negated && !known {
				if _, is = flag(name); is {
					w.Name, w.Value = name, "false"
				}
			}
			switch {
			case is:
			case i+1 < len(words):
				i++
				w.Value = words[i].Typed
				w.Typed += " " + w.Value
			case known:
				return nil, ArgumentErrorf(w.Name, "%s needs a value", Short(w.Typed))
			}
		case w.Fault != nil:
			return nil, w.Fault
		}
		decided = append(decided, w)
	}
	return decided, nil
}

// cutNo removes no- from the beginning of a name.
func cutNo(name string) (rest string, ok bool) {
	return name[min(len(name), len("no-")):], strings.HasPrefix(name, "no-") || strings.HasPrefix(name, "no_")
}

// OptionOf returns --name for a name. It returns "" for an empty name.
func OptionOf(name string) string {
	if name == "" {
		return ""
	}
	return "--" + strings.ReplaceAll(name, "_", "-")
}

// IsDashed reports whether the word was typed as --name, where dashes may stand for underscores.
func (w Word) IsDashed() bool { return w.Name != "" && strings.HasPrefix(w.Typed, "--") }

// parse reads one word, and its file.
func parse(typed string, read FileReader) (Word, error) {
	w, file := split(typed)
	fault := func(err error) (Word, error) {
		e := ArgumentErrorf(w.Name, "argument %q: %v", Short(typed), err)
		e.Err = err
		return w, e
	}
	place := ""
	if file != "" || w.Form == FileText {
		if read == nil {
			return fault(errors.New("a file cannot be read here"))
		}
		content, err := read(file)
		if err != nil {
			return fault(err)
		}
		if w.Form == JSON {
			content = bytes.TrimPrefix(content, []byte("\uFEFF"))
		}
		w.Value, place = string(content), fmt.Sprintf("%q: ", file)
	}
	if w.Form != JSON {
		return w, nil
	}
	if offset, err := CheckJSON([]byte(w.Value)); err != nil {
		return fault(fmt.Errorf("%snot JSON at byte %d: %w", place, offset+1, err))
	}
	w.Value = strings.Trim(w.Value, " \t\r\n")
	return w, nil
}

// split returns a word with its name, form and value, and the file that it names.
func split(typed string) (w Word, file string) {
	w = Word{Value: typed, Typed: typed}
	head, value, found := strings.Cut(typed, "=")
	if !found {
		return w, ""
	}
	name, form := head, Plain
	switch {
	case head == "":
		form = Text
	case strings.HasSuffix(head, ":"):
		name, form = head[:len(head)-1], JSON
	case strings.HasSuffix(head, "@"):
		name, form = head[:len(head)-1], FileText
	}
	if name != "" && !isName(name) {
		return w, ""
	}
	w = Word{Name: name, Form: form, Value: value, Typed: typed}
	if form == FileText {
		return w, value
	}
	if form == JSON && strings.HasPrefix(value, "@") {
		return w, value[1:]
	}
	return w, ""
}

// isName reports whether s is a Python identifier, or several joined by dots.
func isName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		for i, r := range part {
			start := r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
			if !start && (i == 0 || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)) {
				return false
			}
		}
		if part == "" {
			return false
		}
	}
	return true
}

// CheckJSON returns nil if text is exactly one JSON value, or else the error and its byte offset.
func CheckJSON(text []byte) (offset int, err error) {
	short := text
	if len(text) >= longText {
		short = withoutPlain(text)
	}
	if json.Valid(short) {
		return 0, nil
	}
	var raw json.RawMessage
	err = json.Unmarshal(text, &raw)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return 0, err
	}
	// The decoder counts the wrong byte as read, and the end of the text as the byte after the
	// last.
	offset = int(syntax.Offset)
	if offset > 0 && offset <= len(text) && !strings.HasPrefix(err.Error(), "unexpected end") {
		offset--
	}
	return offset, err
}

// longText is the size from which withoutPlain shortens a text before encoding/json checks it.
// encoding/json takes five times as long as withoutPlain for each character.
const longText = 64 << 10

// withoutPlain removes the plain characters of strings. The rest is valid JSON if and only if text
// is: it has the same quotes, escapes and control characters in the same order.
func withoutPlain(text []byte) (left []byte) {
	quoted := false
	for i := 0; i < len(text); i++ {
		size := 1
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c >= ' ' && c != '\\': // checked before escapes, because it is nearly all of a long line
			continue
		case quoted && bytes.HasPrefix(text[i:], []byte(`\u`)):
			size = len(`\u0000`)
		case quoted && c == '\\':
			size = len(`\n`)
		}
		left = append(left, text[i:min(i+size, len(text))]...)
		i += size - 1
	}
	return left
}

// CheckUTF8 returns an error about the first byte that is not UTF-8, or nil.
func CheckUTF8(text []byte) error {
	if utf8.Valid(text) { // much faster than the loop
		return nil
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("not UTF-8: byte %d is 0x%02x", at+1, text[at])
		}
		at += size
	}
	return nil
}

// CheckValue returns nil if text is exactly one JSON value in UTF-8. Otherwise it returns an error
// that continues "the text is", such as "not JSON: byte 3: …".
func CheckValue(text []byte) error {
	if err := CheckUTF8(text); err != nil {
		return err
	}
	if offset, err := CheckJSON(text); err != nil {
		return fmt.Errorf("not JSON: byte %d: %w", offset+1, err)
	}
	return nil
}

// Short cuts a long word for a message.
func Short(word string) string {
	const most = 80
	return cut(word, most)
}

// cut shortens a text to the given number of runes.
func cut(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i] + "…"
		}
	}
	return text
}
