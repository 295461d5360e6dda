package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// forms are the names of the word forms, indexed by [schema.Form]. marks are the
// separators between name and value.
var (
	forms = [...]string{schema.Plain: "value", schema.Text: "text", schema.JSON: "json", schema.FileText: "file"}
	marks = [...]string{schema.Plain: "=", schema.Text: "=", schema.JSON: ":=", schema.FileText: "@="}
)

// AppendWords appends words to dst as a JSON array, for a worker, which knows the parameters. Each
// word has the keys that docs/http.md documents: "name" if it has one, and "text" or "json". A text
// has a "value" if [schema.Value] changes the text, and a "form" if it must not become
// another type. A positional text without a "value" is a JSON string. Bytes that are not UTF-8 are
// written as [schema.Quote] does.
//
// The worker decides what the forms "option" (--name) and "rest" ("--") mean. After such a word,
// the worker may need the next words as typed: b=2 after --a may be the value of --a. They have
// "typed" if it differs from their text. If such a word is valid only as typed, it has "fault" with
// the reason. A word typed as --name also has "typed".
func AppendWords(dst []byte, words []schema.Word) []byte {
	dst = append(dst, '[')
	option, rest := false, false // whether the previous word is an option, and whether a rest mark came before
	for i, w := range words {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendWord(dst, w, w.IsDashed() || (option || rest) && w.Typed != w.Value)
		option, rest = w.Form == schema.Option, rest || w.Form == schema.Rest
	}
	return append(dst, ']')
}

// appendWord appends one word. If typed is set, it includes the word as typed.
func appendWord(dst []byte, w schema.Word, typed bool) []byte {
	if w.Form == schema.Text && w.Name == "" && w.Fault == nil && !typed {
		at := len(dst)
		if dst = schema.AppendQuote(dst, w.Value); string(schema.Value(w.Value)) == string(dst[at:]) {
			return dst
		}
		dst = dst[:at]
	}
	dst = append(dst, '{')
	if w.Name != "" {
		dst = append(schema.AppendQuote(append(dst, `"name":`...), w.Name), ',')
	}
	if typed {
		dst = append(schema.AppendQuote(append(dst, `"typed":`...), w.Typed), ',')
	}
	return append(appendForm(dst, w), '}')
}

// appendForm appends the form of a word and its value.
func appendForm(dst []byte, w schema.Word) []byte {
	switch {
	case w.Fault != nil:
		return schema.AppendQuote(append(dst, `"fault":`...), w.Fault.Error())
	case w.Form == schema.Option:
		return append(dst, `"form":"option"`...)
	case w.Form == schema.Rest:
		return append(dst, `"form":"rest"`...)
	case w.Form == schema.JSON:
		return schema.AppendJSON(append(dst, `"json":`...), w.Value)
	}
	text := schema.Quote(w.Value)
	dst = append(append(dst, `"text":`...), text...)
	if value := schema.Value(w.Value); string(value) != string(text) {
		dst = append(append(dst, `,"value":`...), value...)
	}
	if w.Form != schema.Plain {
		dst = append(append(append(dst, `,"form":"`...), forms[w.Form]...), '"')
	}
	return dst
}

// typedForm is the form of a word whose text is the whole word as typed on a command line. The key
// "typed" is short for text with this form.
const typedForm = "typed"

// wireWord is one argument, as docs/http.md documents it. [EncodeWords] writes words as typed.
type wireWord struct {
	// Typed is the word as typed on a command line. A word that is not UTF-8 has Base64 and
	// the form "typed" instead.
	Typed  *string         `json:"typed,omitempty"`
	Text   *string         `json:"text,omitempty"`
	Base64 *[]byte         `json:"base64,omitempty"`
	JSON   json.RawMessage `json:"json,omitempty"`
	Name   *string         `json:"name,omitempty"`
	Form   string          `json:"form,omitempty"`
	// File is the content of the file that the word names, because a server does not read files.
	File *[]byte `json:"file,omitempty"`
}

// EncodeWords returns {"words": [WORD, …]} for [DecodeArgs], with "args" if there is also JSON. The
// words are as typed, because only a plugin knows all names.
func EncodeWords(args hook.Args) []byte {
	body := struct {
		Words []wireWord      `json:"words"`
		Args  json.RawMessage `json:"args,omitempty"`
	}{Args: args.JSON}
	for _, w := range args.Words {
		word := wireWord{Typed: &w.Typed, File: fileOf(w)}
		if !utf8.ValidString(w.Typed) {
			typed := []byte(w.Typed)
			word.Typed, word.Form, word.Base64 = nil, typedForm, &typed
		}
		body.Words = append(body.Words, word)
	}
	text, _ := json.Marshal(body) // this type can always be encoded
	return text
}

// fileOf returns the content of the file that a word names, or nil.
func fileOf(w schema.Word) *[]byte {
	if w.Form != schema.FileText && !(w.Form == schema.JSON && strings.Contains(w.Typed, ":=@")) {
		return nil
	}
	content := []byte(w.Value)
	return &content
}

// DecodeArgs reads the arguments of a call: {"words": [WORD, …]} if words is set, otherwise an
// object (names), an array (positions) or nothing. It rejects every body that differs from
// docs/http.md, because the plugin receives parts of it unparsed.
func DecodeArgs(body []byte, words bool) (args hook.Args, err error) {
	body = bytes.Trim(body, " \t\r\n")
	if len(body) == 0 && !words {
		return args, nil
	}
	if err := schema.CheckValue(body); err != nil {
		return args, fmt.Errorf("the body is %w", err)
	}
	args.Valid = true
	switch {
	case words:
		args.Words, args.JSON, err = decodeWords(body)
	case body[0] == '{' || body[0] == '[':
		args.JSON = body
	default:
		err = fmt.Errorf("the body is %s, expected a JSON object (names) or array (positions)", schema.Short(string(body)))
	}
	return args, err
}

// decodeWords reads {"words": [WORD, …]}, with or without "args". Its errors begin with the place.
func decodeWords(body []byte) (words []schema.Word, args json.RawMessage, err error) {
	var given struct {
		Words []json.RawMessage `json:"words"`
		Args  json.RawMessage   `json:"args"`
	}
	err = schema.DecodeKnown(body, &given)
	if twice := schema.Twice(err); twice != nil {
		return nil, nil, fmt.Errorf("the body: %w", twice)
	}
	if err != nil || given.Words == nil {
		return nil, nil, fmt.Errorf(`the body is %s, expected {"words": [WORD, …]} with or without "args"`, schema.Short(string(body)))
	}
	if args = given.Args; args != nil && args[0] != '{' && args[0] != '[' {
		return nil, nil, fmt.Errorf("\"args\" is %s, expected an object (names) or an array (positions)", schema.Short(string(args)))
	}
	words = make([]schema.Word, len(given.Words))
	var l schema.Lexer
	for i, element := range given.Words {
		if words[i], err = decodeWord(element, &l); err != nil {
			return nil, nil, fmt.Errorf("words[%d]%w", i, err)
		}
		words[i].Number = i + 1
	}
	return words, args, nil
}

// decodeWord reads one word. Its errors do not name the place of the word.
func decodeWord(element []byte, l *schema.Lexer) (w schema.Word, err error) {
	var g wireWord
	err = schema.DecodeKnown(element, &g)
	if twice := schema.Twice(err); twice != nil {
		return w, fmt.Errorf(": %w", twice)
	}
	var values []string // exactly one is expected
	if g.Typed != nil {
		values = append(values, *g.Typed)
	}
	if g.Text != nil {
		values = append(values, *g.Text)
	}
	if g.Base64 != nil {
		values = append(values, string(*g.Base64))
	}
	if g.JSON != nil {
		values = append(values, string(g.JSON))
	}
	isTyped := g.Typed != nil || g.Form == typedForm && g.Name == nil && g.JSON == nil
	switch {
	case err != nil, len(values) != 1, g.Typed != nil && (g.Name != nil || g.Form != ""), g.File != nil && !isTyped:
		return w, fmt.Errorf(` is %s, expected "typed" with or without "file", or one of "text", "base64" and "json" with or without "name" and "form"`,
			schema.Short(string(element)))
	case g.JSON == nil && schema.LoneSurrogate(element) != "":
		return w, fmt.Errorf(" has the lone surrogate %s, which is not text", schema.LoneSurrogate(element))
	case isTyped:
		return typedWord(l, values[0], g.File)
	}
	l.Skip()
	return wordOf(g, values[0])
}

// typedWord returns a word as it was typed.
func typedWord(l *schema.Lexer, text string, file *[]byte) (w schema.Word, err error) {
	var read schema.FileReader
	if file != nil {
		read = func(string) ([]byte, error) { return *file, nil }
	}
	if w, err = l.Next(text, read); err != nil {
		err = fmt.Errorf(": %w", err)
	}
	return w, err
}

// wordOf returns a word with this value.
func wordOf(g wireWord, value string) (w schema.Word, err error) {
	form := cmp.Or(g.Form, forms[schema.Plain])
	if g.JSON != nil {
		form = cmp.Or(g.Form, forms[schema.JSON])
	}
	i := slices.Index(forms[:], form)
	w = schema.Word{Form: schema.Form(max(i, 0)), Value: value, Typed: value}
	switch {
	case g.Name != nil && *g.Name == "":
		return w, errors.New(".name is empty")
	case g.JSON != nil && form != forms[schema.JSON]:
		return w, fmt.Errorf(`.form is %q, expected json with "json"`, schema.Short(form))
	case form == typedForm:
		return w, errors.New(`.form is "typed", expected a word without "name"`)
	case i < 0:
		return w, fmt.Errorf(".form is %q, expected one of %s", schema.Short(form), strings.Join(append(forms[:], typedForm), ", "))
	case w.Form == schema.JSON:
		if offset, err := schema.CheckJSON([]byte(value)); err != nil {
			return w, fmt.Errorf(" is not JSON: byte %d: %w", offset+1, err)
		}
	}
	if g.Name != nil {
		w.Name = *g.Name
	}
	if g.Name != nil || w.Form != schema.Plain {
		w.Typed = w.Name + marks[w.Form] + value
	}
	return w, nil
}
