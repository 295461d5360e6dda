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

// wordsBody is the body of a call with words.
type wordsBody struct {
	Words []wireWord `json:"words"`
}

// wireWord is one argument. It has Typed, which the daemon lexes, or a form and one of
// Text, Base64 (text in another encoding than UTF-8) and JSON.
type wireWord struct {
	Name   string          `json:"name,omitempty"`
	Form   string          `json:"form,omitempty"`
	Text   *string         `json:"text,omitempty"`
	Base64 []byte          `json:"base64,omitempty"`
	JSON   json.RawMessage `json:"json,omitempty"`
	// Typed is the word as typed on a command line. File is the content of the file
	// that it names: the daemon reads none.
	Typed string  `json:"typed,omitempty"`
	File  *[]byte `json:"file,omitempty"`
}

// forms are the names of the forms of words, by [schema.Form], and marks what stands
// between name and value.
var (
	forms = [...]string{schema.Plain: "value", schema.Text: "text", schema.JSON: "json", schema.FileText: "file"}
	marks = [...]string{schema.Plain: "=", schema.Text: "=", schema.JSON: ":=", schema.FileText: "@="}
)

func encodeWord(w schema.Word) wireWord {
	if utf8.ValidString(w.Typed) {
		return wireWord{Typed: w.Typed, File: fileOf(w)}
	}
	return wireWord{Name: w.Name, Form: forms[w.Form], Base64: []byte(w.Value)}
}

// fileOf is the content of the file that a word names, also if only the plugin knows
// that what is before the "=" is a name; nil if it names none. Standard input is not
// read for the latter: it can be read only once.
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

// decodeArgs reads the arguments of a call.
func decodeArgs(mediaType string, body []byte) (hook.Args, error) {
	if mediaType != wordsType {
		text := strings.TrimSpace(string(body))
		if text == "" {
			return hook.Args{}, nil
		}
		if !utf8.Valid(body) {
			return hook.Args{}, errors.New("the body is not UTF-8")
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
	args := hook.Args{Words: make([]schema.Word, len(words.Words))}
	for i, e := range words.Words {
		var err error
		if args.Words[i], err = e.decode(); err != nil {
			return hook.Args{}, fmt.Errorf("word %d: %w", i+1, err)
		}
	}
	return args, nil
}

// decode reads one word.
func (e wireWord) decode() (schema.Word, error) {
	if e.Text == nil && e.Base64 == nil && e.JSON == nil {
		return e.lex()
	}
	form := schema.Plain
	if e.Form != "" {
		i := slices.Index(forms[:], e.Form)
		if i < 0 {
			return schema.Word{}, fmt.Errorf("unknown form %q", e.Form)
		}
		form = schema.Form(i)
	} else if e.JSON != nil {
		form = schema.JSON
	}
	value := string(e.JSON)
	if e.Text != nil {
		value = *e.Text
	} else if e.Base64 != nil {
		value = string(e.Base64)
	}
	typed := value
	if e.Name != "" || form != schema.Plain {
		typed = e.Name + marks[form] + value
	}
	return schema.Word{Name: e.Name, Form: form, Value: value, Typed: typed}, nil
}

// lex reads a word as it was typed.
func (e wireWord) lex() (schema.Word, error) {
	if e.Form != "" {
		return schema.Word{}, errors.New("want \"typed\", or one of \"text\", \"base64\" and \"json\"")
	}
	var read func(string) ([]byte, error)
	if e.File != nil {
		read = func(string) ([]byte, error) { return *e.File, nil }
	}
	words, err := schema.ParseWords([]string{e.Typed}, read)
	if err != nil {
		return schema.Word{}, err
	}
	return words[0], nil
}
