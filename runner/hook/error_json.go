package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The types without methods, so that encoding/json uses their fields.
type (
	plainError Error
	plainExit  Exit
)

// errorJSON is the public shape of an error, documented in docs/lines.md. Kind and Reason
// are here to come first.
type errorJSON struct {
	Kind    Kind   `json:"kind"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Hint has one line per hint.
	Hint string `json:"hint,omitempty"`
	plainError
	Status  string            `json:"status,omitempty"` // the code's name
	Details []json.RawMessage `json:"details,omitempty"`
	// StatusMessage is the status's message if Message does not contain it.
	StatusMessage string `json:"status_message,omitempty"`
}

// MarshalJSON returns the JSON that `--json` prints and the daemon sends, on one
// line. It replaces bytes that are not UTF-8 with \xNN.
func (e *Error) MarshalJSON() ([]byte, error) {
	shape := errorJSON{
		Kind: e.Kind, Reason: e.Reason, Message: validText(e.Error()), Hint: validText(strings.Join(e.Hints, "\n")), plainError: plainError(*e),
	}
	shape.Hook, shape.Plugin = validText(e.Hook), validText(e.Plugin)
	shape.Tried, shape.Drawing = validTexts(e.Tried), validTexts(e.Drawing)
	if s := e.Status; s != nil {
		shape.Status, shape.Details = s.Code, s.Details
		if !strings.Contains(shape.Message, s.Message) {
			shape.StatusMessage = s.Message
		}
	}
	return Marshal(shape)
}

// UnmarshalJSON reads the JSON of MarshalJSON. Only the message of the cause
// remains. An unknown kind becomes [Internal].
func (e *Error) UnmarshalJSON(text []byte) error {
	var shape errorJSON
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	*e = Error(shape.plainError)
	e.Kind, e.Reason, e.Err = shape.Kind, shape.Reason, errors.New(shape.Message)
	if !slices.Contains(Kinds(), e.Kind) {
		e.Kind = Internal
	}
	if shape.Hint != "" {
		e.Hints = strings.Split(shape.Hint, "\n")
	}
	if shape.Status != "" {
		e.Status = &RPCStatus{Code: shape.Status, Message: shape.StatusMessage, Details: shape.Details}
	}
	return nil
}

// exitJSON is the public shape of an [Exit]. It has either Code or Signal.
type exitJSON struct {
	Code *int `json:"code,omitempty"`
	plainExit
	After  Milliseconds `json:"after_ms"`
	Stderr []string     `json:"stderr,omitempty"`
	Stacks []string     `json:"stacks,omitempty"`
}

// MarshalJSON returns the JSON that an error has as "exit" and a status as
// "last_exit".
func (e Exit) MarshalJSON() ([]byte, error) {
	shape := exitJSON{plainExit: plainExit(e), After: Milliseconds(e.Uptime), Stderr: validTexts(e.Stderr), Stacks: validTexts(e.Stacks)}
	if e.Signal == "" {
		shape.Code = &e.Code
	}
	return Marshal(shape)
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (e *Exit) UnmarshalJSON(text []byte) error {
	var shape exitJSON
	if err := json.Unmarshal(text, &shape); err != nil {
		return err
	}
	*e = Exit(shape.plainExit)
	e.Code, e.Uptime, e.Stderr, e.Stacks = -1, time.Duration(shape.After), shape.Stderr, shape.Stacks
	if shape.Code != nil {
		e.Code = *shape.Code
	}
	return nil
}

// Marshal encodes a value on one line without escaping <, > and &.
func Marshal(value any) ([]byte, error) {
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
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, text[i])
		} else {
			b.WriteRune(r)
		}
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
