package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// forms are the names of the forms of words, by [schema.Form], and marks what stands
// between name and value.
var (
	forms = [...]string{schema.Plain: "value", schema.Text: "text", schema.JSON: "json", schema.FileText: "file"}
	marks = [...]string{schema.Plain: "=", schema.Text: "=", schema.JSON: ":=", schema.FileText: "@="}
)

// AppendWords appends words to dst as a JSON array, for a worker, which knows the parameters.
// Each word has the keys that docs/http.md documents: "name" if it has one, and "text" or
// "json". A text has a "value" if [schema.Value] of it is not that text, and a "form" if it
// must not become another type. Bytes that are not UTF-8 are written as [schema.Quote] does.
//
// The worker decides what the forms "option" (--name) and "rest" ("--") are: a word behind one
// of them has "typed" if that differs from its text, since it may be a value or a text, and
// "fault" if it can be nothing else. A name with dashes has "typed", too.
func AppendWords(dst []byte, words []schema.Word) []byte {
	dst = append(dst, '[')
	option, rest := false, false // has come: just now, or at all
	for i, w := range words {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		if w.Name != "" {
			dst = append(schema.AppendQuote(append(dst, `"name":`...), w.Name), ',')
		}
		if w.IsDashed() || (option || rest) && w.Typed != w.Value {
			dst = append(schema.AppendQuote(append(dst, `"typed":`...), w.Typed), ',')
		}
		dst = append(appendForm(dst, w), '}')
		option, rest = w.Form == schema.Option, rest || w.Form == schema.Rest
	}
	return append(dst, ']')
}

// AppendTexts appends words as a JSON array of texts. It returns false unless each is a positional
// text whose [schema.Value] is that text.
func AppendTexts(dst []byte, words []schema.Word) ([]byte, bool) {
	dst = append(dst, '[')
	for i, w := range words {
		if w.Form != schema.Text || w.Name != "" {
			return nil, false
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		at := len(dst)
		if dst = schema.AppendQuote(dst, w.Value); string(schema.Value(w.Value)) != string(dst[at:]) {
			return nil, false
		}
	}
	return append(dst, ']'), true
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

// typedForm is the form of a word whose text is all of it, as typed on a command line. A key
// "typed" is short for it.
const typedForm = "typed"

// wireWord is one argument as [EncodeWords] writes it. Others may write more, see
// [decodeWord].
type wireWord struct {
	// Typed is the word as typed on a command line. One that is not UTF-8 has Base64 and the
	// form typed instead.
	Typed  *string `json:"typed,omitempty"`
	Form   string  `json:"form,omitempty"`
	Base64 *[]byte `json:"base64,omitempty"`
	// File is the content of the file that the word names: a server reads none.
	File *[]byte `json:"file,omitempty"`
}

// EncodeWords returns {"words": [WORD, …]}, with "args" if there is JSON, too, for
// [DecodeArgs]. The words are as they were typed: only a plugin knows all names.
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
	text, _ := json.Marshal(body) // our own shape
	return text
}

// fileOf returns the content of the file that a word names, even if only the plugin knows
// that the text before the "=" is a name; nil if the word names none. It does not read
// standard input for the latter, because that can be read only once.
func fileOf(w schema.Word) *[]byte {
	if !strings.Contains(w.Typed, "@=") && !strings.Contains(w.Typed, ":=@") {
		return nil
	}
	if w.Form == schema.Plain && !strings.HasSuffix(w.Typed, "-") {
		var err error
		if w, err = w.Respell(func(name string) bool { return name != "" }); err != nil {
			return nil // the plugin reports it, if it is a name
		}
	}
	if w.Form != schema.FileText && w.Form != schema.JSON {
		return nil
	}
	content := []byte(w.Value)
	return &content
}

// DecodeArgs reads the arguments of a call: {"words": [WORD, …]} if words is set, otherwise an
// object (names), an array (positions) or nothing. It rejects every body that differs from
// what docs/http.md documents, because the plugin receives parts of it unread.
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
		err = errors.New("the body is not a JSON object (names) or array (positions)")
	}
	return args, err
}

// decodeWords reads {"words": [WORD, …]}, with or without "args". Its errors begin with the place.
func decodeWords(body []byte) (words []schema.Word, args json.RawMessage, err error) {
	given, err := members(body)
	if err != nil {
		return nil, nil, fmt.Errorf("the body%w", err)
	}
	list, args := given["words"], given["args"]
	if list == nil || len(given) > 1 && args == nil || len(given) > 2 {
		return nil, nil, fmt.Errorf(`the body has %s, want only "words" and "args"`, keysOf(given))
	}
	if args != nil && args[0] != '{' && args[0] != '[' {
		return nil, nil, fmt.Errorf("args%w", unwanted(args, "an object or an array"))
	}
	words, err = wordList(list)
	return words, args, err
}

// wordList reads an array of words.
func wordList(list []byte) ([]schema.Word, error) {
	if list[0] != '[' {
		return nil, fmt.Errorf("words%w", unwanted(list, "an array"))
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(list, &elements); err != nil {
		return nil, err
	}
	words := make([]schema.Word, len(elements))
	var l schema.Lexer
	for i, element := range elements {
		var err error
		if words[i], err = decodeWord(element, &l); err != nil {
			return nil, fmt.Errorf("words[%d]%w", i, err)
		}
		words[i].Number = i + 1
	}
	return words, nil
}

// wordKeys are the keys with the value of a word, and those that the word may have then.
var wordKeys = map[string][]string{
	"typed":  {"typed", "file"},
	"text":   {"text", "name", "form"},
	"base64": {"base64", "name", "form", "file"},
	"json":   {"json", "name", "form"},
}

// decodeWord reads one word. Its errors follow the place of the word.
func decodeWord(element []byte, l *schema.Lexer) (w schema.Word, err error) {
	given, err := members(element)
	if err != nil {
		return w, err
	}
	source := "" // the key with the value
	for key, allowed := range wordKeys {
		rest := maps.Clone(given)
		maps.DeleteFunc(rest, func(k string, _ json.RawMessage) bool { return slices.Contains(allowed, k) })
		if given[key] != nil && len(rest) == 0 {
			source = key
		}
	}
	if source == "" {
		return w, fmt.Errorf(` has %s, want "typed", or one of "text", "base64" and "json" with or without "name" and "form"`, keysOf(given))
	}
	texts := map[string]string{}
	for _, key := range wordKeys[source] {
		if given[key] == nil {
			continue
		}
		if texts[key], err = textOf(key, given[key]); err != nil {
			return w, fmt.Errorf(".%s%w", key, err)
		}
	}
	if isTyped := source == typedForm || texts["form"] == typedForm && given["name"] == nil && source != "json"; isTyped {
		return typedWord(l, source, texts)
	}
	if given["file"] != nil {
		return w, errors.New(` has "file", want it beside a word as typed alone`)
	}
	l.Skip()
	return wordOf(source, texts)
}

// typedWord returns a word as it was typed. source is the key with its text.
func typedWord(l *schema.Lexer, source string, texts map[string]string) (w schema.Word, err error) {
	var read schema.FileReader
	if content, ok := texts["file"]; ok {
		read = func(string) ([]byte, error) { return []byte(content), nil }
	}
	if w, err = l.Next(texts[source], read); err != nil {
		return w, fmt.Errorf(".%s: %w", source, err)
	}
	return w, nil
}

// wordOf returns a word of its parts. source is the key with its value.
func wordOf(source string, texts map[string]string) (w schema.Word, err error) {
	name, named := texts["name"]
	form, formed := texts["form"]
	if !formed && source == "json" {
		form = forms[schema.JSON]
	} else if !formed {
		form = forms[schema.Plain]
	}
	i := slices.Index(forms[:], form)
	w = schema.Word{Name: name, Form: schema.Form(max(i, 0)), Value: texts[source], Typed: texts[source]}
	switch {
	case named && name == "":
		return w, errors.New(".name is empty")
	case i < 0:
		return w, fmt.Errorf(".form is %q, want one of %s", schema.Short(form), strings.Join(append(forms[:], typedForm), ", "))
	case source == "json" && w.Form != schema.JSON:
		return w, fmt.Errorf(`.form is %q, want json beside "json"`, form)
	case w.Form == schema.JSON:
		if offset, err := schema.CheckJSON([]byte(w.Value)); err != nil {
			return w, fmt.Errorf(".%s is not JSON: byte %d: %w", source, offset+1, err)
		}
	}
	if named || w.Form != schema.Plain {
		w.Typed = name + marks[w.Form] + w.Value
	}
	return w, nil
}

// textOf reads the value of a key of a word. Its errors follow the place of the value.
func textOf(key string, value []byte) (text string, err error) {
	if key == "json" {
		return string(value), nil
	}
	if value[0] != '"' {
		return "", unwanted(value, "text")
	}
	if escape := schema.LoneSurrogate(value); escape != "" {
		return "", fmt.Errorf(" has the lone surrogate %s, which is not text", escape)
	}
	if err := json.Unmarshal(value, &text); err != nil || key != "base64" && key != "file" {
		return text, err
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf(" is not base64: %w", err)
	}
	return string(content), nil
}

// members returns the members of a JSON object. Its errors follow the place of the object.
func members(value []byte) (found map[string]json.RawMessage, err error) {
	if value[0] != '{' {
		return nil, unwanted(value, "an object")
	}
	return found, json.Unmarshal(value, &found)
}

// keysOf lists the keys of an object for a message.
func keysOf(object map[string]json.RawMessage) string {
	if len(object) == 0 {
		return "no key"
	}
	keys := slices.Sorted(maps.Keys(object))
	return fmt.Sprintf("%.80q", keys[:min(len(keys), 5)])
}

// unwanted says what a value is. It follows the place of the value.
func unwanted(value []byte, want string) error {
	return fmt.Errorf(" is %s, want %s", schema.Short(string(value)), want)
}
