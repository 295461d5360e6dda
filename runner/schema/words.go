package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Form is how a word's text is read.
type Form uint8

// The forms of a word.
const (
	// Plain is VALUE or name=VALUE: the parameter decides the type.
	Plain Form = iota
	// Text is =TEXT: verbatim.
	Text
	// JSON is :=JSON or name:=JSON.
	JSON
	// FileText is name@=FILE: the file's text, or bytes for a bytes field.
	FileText
)

// Word is one argument as it was typed, with its form but without a type.
type Word struct {
	// Name is the parameter's name, empty for a positional argument.
	Name string
	Form Form
	// Value is the text after the mark, or the content of the file for FileText and
	// for :=@FILE.
	Value string
	// Typed is the whole word, for messages.
	Typed string
	// read is for Respell, which may find the name of a file in a positional word.
	read fileReader
}

// fileReader reads the file that a word names; nil reads none.
type fileReader func(name string) ([]byte, error)

// ParseWords reads the form of each word. The forms are VALUE, name=VALUE, =TEXT, :=JSON,
// name:=JSON, @=FILE, name@=FILE, :=@FILE and name:=@FILE. A name is a Python identifier or
// several joined by dots. A word with any other text before its first "=" is a positional
// VALUE, such as http://x?a=b. A caller that knows other names calls [Word.Respell], which
// may read a file.
//
// ParseWords reads files by read, also the file "-". If read is nil, a word that names a file
// is an error. An error is an [*ArgumentError].
func ParseWords(words []string, read func(name string) ([]byte, error)) ([]Word, error) {
	parsed := make([]Word, 0, len(words))
	for _, typed := range words {
		w, err := parse(typed, read, isName)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, w)
	}
	return parsed, nil
}

// Respell reads a positional VALUE again, with names that need not be Python identifiers:
// named reports whether a text is a name. It returns any other word unchanged. Its errors are
// the errors of [ParseWords].
func (w Word) Respell(named func(name string) bool) (Word, error) {
	if w.Name != "" || w.Form != Plain {
		return w, nil
	}
	return parse(w.Typed, w.read, named)
}

// parse reads one word, and its file.
func parse(typed string, read fileReader, named func(string) bool) (Word, error) {
	w, file := split(typed, named)
	if w.Name == "" && w.Form == Plain {
		w.read = read
	}
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

// split finds a word's name, form and value, and the file that it names.
func split(typed string, named func(string) bool) (w Word, file string) {
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
	if name != "" && !named(name) {
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

// CheckJSON returns nil if text is exactly one JSON value, else the byte offset of the error
// and the error.
func CheckJSON(text []byte) (offset int, err error) {
	if json.Valid(text) {
		return 0, nil
	}
	var raw json.RawMessage
	err = json.Unmarshal(text, &raw)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return 0, err
	}
	// The decoder counts the offending byte as read, and the end of the text as
	// the byte after the last.
	offset = int(syntax.Offset)
	if offset > 0 && offset <= len(text) && !strings.HasPrefix(err.Error(), "unexpected end") {
		offset--
	}
	return offset, err
}

// CheckUTF8 returns an error about the first byte that is not UTF-8, nil if there is none.
func CheckUTF8(text []byte) error {
	if utf8.Valid(text) { // much faster
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

// CheckValue returns nil if text is exactly one JSON value in UTF-8, else an error that follows
// what the text is, such as "not JSON: byte 3: …".
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

// cut keeps at most so many runes of a text.
func cut(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// QuoteLine joins words so that a POSIX shell reads them again. Only bash, zsh and ksh read
// words that are not UTF-8.
func QuoteLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case !utf8.ValidString(w):
			q := strconv.Quote(w)
			w = "$'" + strings.ReplaceAll(q[1:len(q)-1], "'", `\'`) + "'"
		case w == "" || strings.ContainsFunc(w, needsQuote):
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

func needsQuote(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,", r) && r < 0x80
}

// SplitLine splits a line into words as a shell does, with quotes of both kinds and
// backslashes. It expands nothing.
func SplitLine(text string) ([]string, error) {
	var words []string
	var word []rune
	var quote rune
	in, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word = append(word, '\\') // it is one only before these
			}
			word, escaped = append(word, r), false
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			in, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if in {
				words = append(words, string(word))
			}
			word, in = nil, false
		default:
			word, in = append(word, r), true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a %c is not closed", quote)
	case escaped:
		return nil, errors.New("nothing follows the last backslash")
	case in:
		words = append(words, string(word))
	}
	return words, nil
}
