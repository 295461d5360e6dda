package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Form says how a word's text is to be read.
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

// Word is one argument as it was typed, parsed but not yet typed.
type Word struct {
	// Name is the parameter's name, empty for a positional argument.
	Name string
	Form Form
	// Value is the text after the mark; for FileText and for :=@FILE what the
	// file holds.
	Value string
	// Typed is the whole word, for messages.
	Typed string
	// files reads the file that Respell finds a word without a name to name.
	files *fileReader
}

// fileReader reads the file that a word names.
type fileReader func(name string) ([]byte, error)

// WordError says which word cannot be read. Err is a [*json.SyntaxError] when
// its JSON is at fault, else what reading the file returned.
type WordError struct {
	// Word is the whole word as it was typed.
	Word string
	// File is the file that the word names, empty when it names none.
	File string
	// Offset is the byte of the JSON where it goes wrong, from 0; -1 when the
	// JSON is not at fault.
	Offset int
	Err    error
}

// Error names the word, and the place in its JSON counted from 1.
func (e *WordError) Error() string {
	where := ""
	if e.File != "" && e.Offset >= 0 {
		where = fmt.Sprintf("%q: ", e.File)
	}
	if e.Offset >= 0 {
		return fmt.Sprintf("argument %q: %snot JSON at byte %d: %v", Short(e.Word), where, e.Offset+1, e.Err)
	}
	return fmt.Sprintf("argument %q: %v", Short(e.Word), e.Err)
}

// Unwrap returns the cause.
func (e *WordError) Unwrap() error { return e.Err }

var errNoFiles = errors.New("a file cannot be read here")

// ParseWords reads the form of each word. The forms are VALUE, name=VALUE,
// =TEXT, :=JSON, name:=JSON, @=FILE, name@=FILE, :=@FILE and name:=@FILE. A
// name is a Python identifier or several joined by dots; a word with anything
// else before its first "=" is a positional VALUE, such as http://x?a=b; who
// knows other names finds them with [Word.Respell], which may read a file then.
//
// Files are read by read, which also gets "-" when that was typed; with a nil
// read a word that names a file is an error. Errors are [*WordError].
func ParseWords(words []string, read func(name string) ([]byte, error)) ([]Word, error) {
	parsed := make([]Word, 0, len(words))
	for _, typed := range words {
		w, err := parse(typed, (*fileReader)(&read), isName)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, w)
	}
	return parsed, nil
}

// Respell reads a VALUE again as a word with a name, which may be no Python
// identifier: named tells what is a name. A word that has none even so comes
// back as it is. Errors are those of [ParseWords].
func (w Word) Respell(named func(name string) bool) (Word, error) {
	if w.Name != "" || w.Form != Plain {
		return w, nil
	}
	return parse(w.Typed, w.files, named)
}

// parse reads one word, and its file.
func parse(typed string, files *fileReader, named func(string) bool) (Word, error) {
	w, file := split(typed, named)
	if w.Name == "" && w.Form == Plain {
		w.files = files
	}
	if file != "" || w.Form == FileText {
		if files == nil || *files == nil {
			return w, &WordError{Word: typed, File: file, Offset: -1, Err: errNoFiles}
		}
		content, err := (*files)(file)
		if err != nil {
			return w, &WordError{Word: typed, File: file, Offset: -1, Err: err}
		}
		if w.Form == JSON {
			content = bytes.TrimPrefix(content, []byte("\uFEFF"))
		}
		w.Value = string(content)
	}
	if w.Form == JSON {
		if offset, err := CheckJSON(w.Value); err != nil {
			return w, &WordError{Word: typed, File: file, Offset: offset, Err: err}
		}
		w.Value = strings.Trim(w.Value, " \t\r\n")
	}
	return w, nil
}

// split finds a word's name, form and value, and the file it names; named tells
// what is a name.
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

// isName tells whether s is a Python identifier, or several joined by dots.
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

// CheckJSON returns nil when text is exactly one JSON value, else where and why
// it is not.
func CheckJSON(text string) (offset int, err error) {
	if json.Valid([]byte(text)) {
		return 0, nil
	}
	var raw json.RawMessage
	err = json.Unmarshal([]byte(text), &raw)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return 0, err
	}
	// The decoder counts the byte it stumbled over as read, and the end as
	// the place after the last byte.
	offset = int(syntax.Offset)
	if offset > 0 && offset <= len(text) && !strings.HasPrefix(err.Error(), "unexpected end") {
		offset--
	}
	return offset, err
}

// Short keeps a message readable when a word is long.
func Short(word string) string {
	const most = 80
	return cut(word, most)
}

// cut keeps the first runes of a text that has more than most.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}
