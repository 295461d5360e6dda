package ui

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// errorShape is the public shape of an error.
type errorShape struct {
	Kind    string       `json:"kind"`
	Message string       `json:"message"`
	Hint    string       `json:"hint,omitempty"`
	Hook    string       `json:"hook,omitempty"`
	Sent    bool         `json:"sent"`
	Python  *hook.Raised `json:"python,omitempty"`
	At      []hook.Frame `json:"at,omitempty"`
	Exit    *exitShape   `json:"exit,omitempty"`
	// Status is the gRPC code's name, Details what the plugin sent along.
	Status  string            `json:"status,omitempty"`
	Details []json.RawMessage `json:"details,omitempty"`
	Tried   []string          `json:"tried,omitempty"`
	// These two are for an answer of `run --lines`.
	Type      string `json:"type,omitempty"`
	Traceback string `json:"traceback,omitempty"`
}

type exitShape struct {
	Code    *int        `json:"code,omitempty"`
	Signal  string      `json:"signal,omitempty"`
	Limit   string      `json:"limit,omitempty"`
	AfterMS json.Number `json:"after_ms"`
	Stderr  []string    `json:"stderr,omitempty"`
}

// ErrorJSON is the public shape of an error, to stand under the key "error".
// Several hints are its lines of "hint".
func (f Failure) ErrorJSON() json.RawMessage { return compactJSON(f.shape()) }

// LineErrorJSON is ErrorJSON with the exception's "type" and its "traceback" as
// text, which is what an answer of `run --lines` carries.
func (f Failure) LineErrorJSON() json.RawMessage {
	shape := f.shape()
	if r := f.Err.Python; r != nil {
		shape.Type, shape.Traceback = r.Type, Traceback(r)
	}
	return compactJSON(shape)
}

func (f Failure) shape() errorShape {
	e := f.Err
	shape := errorShape{
		Kind: e.Kind.String(), Message: e.Error(), Hint: strings.Join(f.Hints, "\n"), Hook: e.Hook,
		Sent: e.Sent, Python: e.Python, At: e.At, Tried: e.Tried, Exit: exitShapeOf(e.Exit),
	}
	if e.Status != nil {
		shape.Status, shape.Details = e.Status.Code, e.Status.Details
	}
	return shape
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
