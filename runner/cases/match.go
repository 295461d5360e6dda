package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// Failure says why a case failed.
type Failure struct {
	// Differences has at least one difference, and at most a few more than [maxDifferences].
	Differences []Difference
	// Err is the error of the call, or nil if the call succeeded.
	Err *hook.Error

	got    answer // the whole answer of the call
	answer int    // the number of differences of the answer; the others are about other keys of the case
}

// Difference is one way in which the answer of a call differs from the expected one.
type Difference struct {
	// Message is one line, such as "the result differs at $.total".
	Message string
	// Place is the place where two values differ, such as "$.total". It is empty if Wanted and Got
	// are whole values, or parts of an error.
	Place string
	// Wanted and Got are JSON. Each is nil if there is no such value.
	Wanted, Got json.RawMessage
}

// check compares the answer of a call, and its duration, with the expected ones. It returns nil if
// the case passed.
func (c *Case) check(got answer, took time.Duration) *Failure {
	f := &Failure{Differences: c.compareAnswer(got), Err: got.err, got: got}
	f.answer = len(f.Differences)
	if got.err == nil {
		f.Differences = append(f.Differences, c.compareResult(got)...)
	}
	if c.under > 0 && took >= c.under {
		f.add(Difference{Message: fmt.Sprintf("took %s, expected less than %s", schema.Span(took), c.under)})
	}
	if len(f.Differences) == 0 {
		return nil
	}
	return f
}

func (f *Failure) add(d Difference) { f.Differences = append(f.Differences, d) }

// compareAnswer compares the answer of a call with the answer in the case.
func (c *Case) compareAnswer(got answer) []Difference {
	switch {
	case c.fails != nil:
		return c.fails.check(got)
	case got.err != nil:
		return []Difference{{Message: c.Hook() + ": " + got.err.Error()}}
	case c.hasAnswer:
		return c.wants.compare(got, c.messages[c.Hook()])
	}
	return nil
}

// compareResult compares a result with the keys "contains" and "match" of the case.
func (c *Case) compareResult(got answer) (all []Difference) {
	if c.contains != nil {
		all = c.compareContained(got)
	}
	if c.match != nil {
		if raw := got.raw(); !c.match.Match(raw) {
			all = append(all, Difference{Message: fmt.Sprintf("the result does not match %q", c.match), Got: schema.Quote(string(raw))})
		}
	}
	return all
}

// compareContained checks that a result contains the value of "contains": a part of a text, of an
// object or of a list.
func (c *Case) compareContained(got answer) []Difference {
	part, isText := decode(c.contains).(string)
	if value := got.json(); isText && !got.Streamed && value[0] == '"' {
		raw := string(got.raw())
		if strings.Contains(raw, part) {
			return nil
		}
		return []Difference{{Message: "the result does not contain " + string(schema.Quote(part)), Got: schema.Quote(raw)}}
	}
	found := differences(decode(c.contains), decode(got.json()), true, c.messages[c.Hook()])
	return about(`the result does not contain the value of "contains"`, found)
}

// values returns the items, or a slice of only the result.
func (a answer) values() []hook.Item {
	if a.Streamed {
		return a.Items
	}
	return []hook.Item{a.Item}
}

// json returns the result, or the items as an array.
func (a answer) json() json.RawMessage {
	if a.Streamed {
		return lines.AppendItems(nil, a.Items)
	}
	return a.JSON()
}

// raw returns the answer as --raw prints it.
func (a answer) raw() []byte {
	var text []byte
	items := a.values()
	for i, item := range items {
		newline := false
		text, newline, _ = wire.AppendRaw(text, item, func(value []byte) []byte { return value }) // the base64 of a message is valid
		if newline && i < len(items)-1 {
			text = append(text, '\n')
		}
	}
	return text
}

// compare compares two answers without an error. If of is not nil, it describes the messages in
// them.
func (a answer) compare(got answer, of *messages) []Difference {
	if a.Streamed != got.Streamed {
		text := `the call returned one result; write "result" in place of "items"`
		if got.Streamed {
			text = `the call returned a stream; write "items" in place of "result"`
		}
		return []Difference{{Message: text, Wanted: a.json(), Got: got.json()}}
	}
	if !bytes.Equal(a.json(), got.json()) {
		if found := differences(decode(a.json()), decode(got.json()), false, of); len(found) > 0 {
			return about("the result differs", found)
		}
	}
	for i, item := range got.values() { // as many as expected, because the JSON is equal
		if item.Binary == a.values()[i].Binary {
			continue
		}
		text := "the result is text, expected bytes"
		if item.Binary {
			text = "the result is bytes, expected text"
		}
		if got.Streamed {
			text += fmt.Sprintf(" at $[%d]", i)
		}
		return []Difference{{Message: text, Wanted: a.json(), Got: got.json()}}
	}
	return nil
}

// check compares the answer of a call with the error that the call should return.
func (w *wantedError) check(got answer) (all []Difference) {
	if got.err == nil {
		return []Difference{{Message: "the call succeeded, expected an error", Got: got.json()}}
	}
	for _, f := range []struct {
		what, wanted, got string
		same              bool
	}{
		{"kind", string(w.Kind), string(got.err.Kind), w.Kind == got.err.Kind},
		{"type", w.Type, typeOf(got.err), isType(got.err, w.Type)},
		{"message", w.Message, got.err.Error(), w.Message == got.err.Error()},
	} {
		if f.wanted != "" && !f.same {
			all = append(all, Difference{Message: "the error has another " + f.what, Wanted: schema.Quote(f.wanted), Got: schema.Quote(f.got)})
		}
	}
	if text := messageOf(got.err); w.match != nil && !w.match.MatchString(text) {
		all = append(all, Difference{Message: fmt.Sprintf("the error does not match %q", w.match), Got: schema.Quote(text)})
	}
	if w.text != "" && !isType(got.err, w.text) && !strings.Contains(messageOf(got.err), w.text) && got.err.Error() != w.text {
		all = append(all, Difference{Message: fmt.Sprintf("the error does not match %q", w.text), Got: schema.Quote(got.err.Error())})
	}
	return all
}

// isType reports whether an error has the type name. The name of a Python exception may lack the
// module.
func isType(e *hook.Error, name string) bool {
	full := typeOf(e)
	return full == name || strings.HasSuffix(full, "."+name)
}

// messageOf returns the message that "match" applies to. The message of an exception has no type
// in front.
func messageOf(e *hook.Error) string {
	if e.Python != nil {
		return e.Python.Message
	}
	return e.Error()
}

// typeOf returns the type of a Python exception, or the name of a gRPC status code.
func typeOf(e *hook.Error) string {
	switch {
	case e.Python != nil:
		return e.Python.Type
	case e.Status != nil:
		return e.Status.Code
	}
	return ""
}
