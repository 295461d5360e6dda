package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// wordsType is the media type of arguments that are words.
const wordsType = "application/vnd.pyplug.words+json"

// wordsBody is the body of a call with words.
type wordsBody struct {
	Words []wireWord `json:"words"`
}

// wireWord is one argument. It has Typed alone, which the daemon lexes, or a form and
// one of Text, Base64 (text in another encoding than UTF-8) and JSON.
type wireWord struct {
	Name   string          `json:"name,omitempty"`
	Form   string          `json:"form,omitempty"`
	Text   *string         `json:"text,omitempty"`
	Base64 []byte          `json:"base64,omitempty"`
	JSON   json.RawMessage `json:"json,omitempty"`
	// Typed is the word as typed on a command line. File is the content of the file
	// that it may name: the daemon reads none.
	Typed string `json:"typed,omitempty"`
	File  []byte `json:"file,omitempty"`
}

// forms are the names of the forms of words, by [schema.Form].
var forms = [...]string{schema.Plain: "value", schema.Text: "text", schema.JSON: "json", schema.FileText: "file"}

// encodeWords makes the body of a call with words.
func encodeWords(words []schema.Word) ([]byte, error) {
	body := wordsBody{Words: make([]wireWord, 0, len(words))}
	for _, w := range words {
		body.Words = append(body.Words, encodeWord(w))
	}
	return json.Marshal(body)
}

func encodeWord(w schema.Word) wireWord {
	if w.Name == "" && w.Form == schema.Plain && utf8.ValidString(w.Typed) {
		return wireWord{Typed: w.Typed, File: possibleFile(w)}
	}
	e := wireWord{Name: w.Name, Form: forms[w.Form]}
	switch {
	case w.Form == schema.JSON && utf8.ValidString(w.Value):
		e.JSON = json.RawMessage(w.Value)
	case utf8.ValidString(w.Value):
		e.Text = &w.Value
	default:
		e.Base64 = []byte(w.Value)
	}
	if (w.Form == schema.FileText || w.Form == schema.JSON) && utf8.ValidString(w.Typed) {
		e.Typed = w.Typed
	}
	return e
}

// possibleFile is the content of the file that a VALUE names if what is before its
// "=" turns out to be the name of a field, which only the plugin knows; nil if it
// names none. Standard input is not read for that: it can be read only once.
func possibleFile(w schema.Word) []byte {
	if !strings.Contains(w.Typed, "@=") && !strings.Contains(w.Typed, ":=@") || strings.HasSuffix(w.Typed, "-") {
		return nil
	}
	again, err := w.Respell(func(name string) bool { return name != "" })
	if err != nil || again.Form == schema.Plain {
		return nil
	}
	return []byte(again.Value)
}

// decodeArgs reads the arguments of a call.
func decodeArgs(mediaType string, body []byte) (hook.Args, error) {
	if mediaType != wordsType {
		text := strings.TrimSpace(string(body))
		if text == "" {
			return hook.Args{}, nil
		}
		if !json.Valid(body) || text[0] != '{' && text[0] != '[' {
			return hook.Args{}, errors.New("the body is not a JSON object (names) or array (positions)")
		}
		return hook.Args{JSON: json.RawMessage(text)}, nil
	}
	var words wordsBody
	if err := json.Unmarshal(body, &words); err != nil {
		return hook.Args{}, fmt.Errorf("the body is not %s: %w", wordsType, err)
	}
	args := hook.Args{Words: make([]schema.Word, 0, len(words.Words))}
	for i, e := range words.Words {
		w, err := e.decode()
		if err != nil {
			return hook.Args{}, fmt.Errorf("word %d: %w", i+1, err)
		}
		args.Words = append(args.Words, w)
	}
	return args, nil
}

var errNoForm = errors.New("want \"typed\", or one of \"text\", \"base64\" and \"json\"")

// decode reads one word.
func (e wireWord) decode() (schema.Word, error) {
	if e.Text == nil && e.Base64 == nil && e.JSON == nil {
		return e.lex()
	}
	w := schema.Word{Name: e.Name, Typed: e.Typed}
	switch form := slices.Index(forms[:], e.Form); {
	case e.Form == "" && e.JSON != nil:
		w.Form = schema.JSON
	case e.Form == "":
	case form < 0:
		return w, fmt.Errorf("unknown form %q", e.Form)
	default:
		w.Form = schema.Form(form)
	}
	switch {
	case e.Text != nil:
		w.Value = *e.Text
	case e.Base64 != nil:
		w.Value = string(e.Base64)
	default:
		w.Value = string(e.JSON)
	}
	if w.Typed == "" {
		mark := map[schema.Form]string{schema.Plain: "=", schema.Text: "=", schema.JSON: ":=", schema.FileText: "@="}[w.Form]
		if w.Name == "" && w.Form == schema.Plain {
			mark = ""
		}
		w.Typed = w.Name + mark + w.Value
	}
	return w, nil
}

// lex reads a word as it was typed.
func (e wireWord) lex() (schema.Word, error) {
	if e.Form != "" {
		return schema.Word{}, errNoForm
	}
	var read func(string) ([]byte, error)
	if e.File != nil {
		read = func(string) ([]byte, error) { return e.File, nil }
	}
	words, err := schema.ParseWords([]string{e.Typed}, read)
	if err != nil {
		return schema.Word{}, err
	}
	return words[0], nil
}
