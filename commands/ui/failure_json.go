package ui

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
)

// withHints returns the error with those of the failure's hints that it does not have.
func (f Failure) withHints() *hook.Error {
	e := *f.Err
	e.Hints = slices.Clone(e.Hints)
	for _, hint := range f.Hints {
		if !slices.Contains(e.Hints, hint) {
			e.Hints = append(e.Hints, hint)
		}
	}
	return &e
}

// ErrorJSON is the public shape of an error, to stand under the key "error".
func (f Failure) ErrorJSON() json.RawMessage { return compactJSON(f.withHints()) }

// LineErrorJSON is ErrorJSON with the exception's "type" and its "traceback" as
// text, which is what an answer of `run --lines` carries.
func (f Failure) LineErrorJSON() json.RawMessage {
	text := f.ErrorJSON()
	r := f.Err.Python
	if r == nil {
		return text
	}
	more := compactJSON(struct {
		Type      string `json:"type,omitempty"`
		Traceback string `json:"traceback,omitempty"`
	}{r.Type, Traceback(r)})
	if len(more) <= len("{}") {
		return text
	}
	return append(append(bytes.TrimSuffix(text, []byte("}")), ','), more[1:]...)
}

// compactJSON writes one of our shapes, which cannot fail, on one line.
func compactJSON(shape any) json.RawMessage {
	text, err := plainJSON(shape)
	if err != nil {
		panic("a shape of ours is not JSON: " + err.Error())
	}
	return guardJSON(text)
}

// plainJSON writes a value on one line, with < and > as themselves.
func plainJSON(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
