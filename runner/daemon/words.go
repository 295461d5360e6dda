package daemon

import (
	"strings"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/schema"
)

// wordsBody is the body of a call with words.
type wordsBody struct {
	Words []wireWord `json:"words"`
}

// wireWord is one argument as the client sends it. Others may send more, see
// [decodeWord].
type wireWord struct {
	// Typed is the word as typed on a command line. File is the content of the file
	// that it names: the daemon reads none.
	Typed *string `json:"typed,omitempty"`
	File  *[]byte `json:"file,omitempty"`
	// A word that is not UTF-8 has these instead.
	Name   string  `json:"name,omitempty"`
	Form   string  `json:"form,omitempty"`
	Base64 *[]byte `json:"base64,omitempty"`
}

// forms are the names of the forms of words, by [schema.Form], and marks what stands
// between name and value.
var (
	forms = [...]string{schema.Plain: "value", schema.Text: "text", schema.JSON: "json", schema.FileText: "file"}
	marks = [...]string{schema.Plain: "=", schema.Text: "=", schema.JSON: ":=", schema.FileText: "@="}
)

func encodeWord(w schema.Word) wireWord {
	if utf8.ValidString(w.Typed) {
		return wireWord{Typed: &w.Typed, File: fileOf(w)}
	}
	value := []byte(w.Value)
	return wireWord{Name: w.Name, Form: forms[w.Form], Base64: &value}
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
