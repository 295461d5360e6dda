package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// errorJSON is the public shape of an error, documented in docs/lines.md.
type errorJSON struct {
	Kind    string `json:"kind"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Hint has one line per hint.
	Hint    string            `json:"hint,omitempty"`
	Hook    string            `json:"hook,omitempty"`
	Sent    bool              `json:"sent"`
	Place   string            `json:"place,omitempty"`
	Python  *Raised           `json:"python,omitempty"`
	At      []Frame           `json:"at,omitempty"`
	Exit    *exitJSON         `json:"exit,omitempty"`
	Status  string            `json:"status,omitempty"` // the code's name
	Details []json.RawMessage `json:"details,omitempty"`
	// StatusMessage is the status's message if Message does not contain it.
	StatusMessage string   `json:"status_message,omitempty"`
	Tried         []string `json:"tried,omitempty"`
	Drawing       []string `json:"drawing,omitempty"`
	Plugin        string   `json:"plugin,omitempty"`
}

// exitJSON is the public shape of an [Exit]. It has either Code or Signal.
type exitJSON struct {
	Code        *int         `json:"code,omitempty"`
	Signal      string       `json:"signal,omitempty"`
	Limit       string       `json:"limit,omitempty"`
	OutOfMemory bool         `json:"out_of_memory,omitempty"`
	After       Milliseconds `json:"after_ms"`
	Stderr      []string     `json:"stderr,omitempty"`
	Stacks      []string     `json:"stacks,omitempty"`
}

// MarshalJSON returns the JSON that `--json` prints and the daemon sends, on one
// line. It replaces bytes that are not UTF-8 with \xNN.
func (e *Error) MarshalJSON() ([]byte, error) {
	shape := errorJSON{
		Kind: e.Kind.String(), Reason: e.Reason, Message: validText(e.Error()), Hint: validText(strings.Join(e.Hints, "\n")),
		Hook: validText(e.Hook), Sent: e.Begun, Place: e.Place, Python: e.Python, At: e.At,
		Tried: validTexts(e.Tried), Drawing: validTexts(e.Drawing), Plugin: validText(e.Plugin),
	}
	if e.Exit != nil {
		shape.Exit = e.Exit.shape()
	}
	if s := e.Status; s != nil {
		shape.Status, shape.Details = s.Code, s.Details
		if !strings.Contains(shape.Message, s.Message) {
			shape.StatusMessage = s.Message
		}
	}
	return marshal(shape)
}

// UnmarshalJSON reads the JSON of MarshalJSON. Only the message of the cause
// remains. An unknown kind becomes [Internal].
func (e *Error) UnmarshalJSON(text []byte) error {
	var shape errorJSON
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	*e = Error{
		Kind: kindNamed(shape.Kind), Reason: shape.Reason, Hook: shape.Hook, Begun: shape.Sent, Python: shape.Python, At: shape.At,
		Place: shape.Place, Tried: shape.Tried, Drawing: shape.Drawing, Plugin: shape.Plugin, Err: errors.New(shape.Message),
	}
	if shape.Hint != "" {
		e.Hints = strings.Split(shape.Hint, "\n")
	}
	if shape.Exit != nil {
		e.Exit = shape.Exit.exit()
	}
	if shape.Status != "" {
		e.Status = &RPCStatus{Code: shape.Status, Message: shape.StatusMessage, Details: shape.Details}
	}
	return nil
}

// MarshalJSON returns the JSON that an error has as "exit" and a status as
// "last_exit".
func (e Exit) MarshalJSON() ([]byte, error) { return marshal(e.shape()) }

// UnmarshalJSON reads the JSON of MarshalJSON.
func (e *Exit) UnmarshalJSON(text []byte) error {
	var shape exitJSON
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	*e = *shape.exit()
	return nil
}

func (e Exit) shape() *exitJSON {
	shape := &exitJSON{
		Signal: e.Signal, Limit: e.Limit, OutOfMemory: e.OutOfMemory, After: Milliseconds(e.Uptime),
		Stderr: validTexts(e.Stderr), Stacks: validTexts(e.Stacks),
	}
	if e.Signal == "" {
		shape.Code = &e.Code
	}
	return shape
}

func (s *exitJSON) exit() *Exit {
	e := &Exit{
		Code: -1, Signal: s.Signal, Limit: s.Limit, OutOfMemory: s.OutOfMemory,
		Uptime: time.Duration(s.After), Stderr: s.Stderr, Stacks: s.Stacks,
	}
	if s.Code != nil {
		e.Code = *s.Code
	}
	return e
}

// kindNamed returns the kind with that name, or [Internal].
func kindNamed(name string) Kind {
	for _, k := range Kinds() {
		if k.String() == name {
			return k
		}
	}
	return Internal
}

// marshal encodes a value on one line without escaping <, > and &.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// validText replaces each byte that is not UTF-8 with \xNN: a plugin may write
// anything to its standard error.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, text[0])
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

func validTexts(texts []string) []string {
	var valid []string
	for _, text := range texts {
		valid = append(valid, validText(text))
	}
	return valid
}
