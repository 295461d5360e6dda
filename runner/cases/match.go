package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// Failure says why a case failed.
type Failure struct {
	// Message is one line, such as "the result differs at $.total".
	Message string
	// Place is where two values differ, such as "$.total"; empty if Wanted and Got are the whole
	// values, or not values of the call.
	Place string
	// Wanted and Got are JSON; nil for nothing.
	Wanted, Got json.RawMessage
	// Err is the error of the call, nil if it succeeded.
	Err *hook.Error

	got answer // of the call
}

// check compares what a call returned, and how long it took, with what it should return. It returns
// nil if the case has passed.
func (c *Case) check(got answer, took time.Duration) *Failure {
	f := c.compare(got)
	if f == nil && c.under > 0 && took >= c.under {
		f = &Failure{Message: fmt.Sprintf("took %s, want less than %s", schema.Span(took), c.under)}
	}
	if f != nil {
		f.Err, f.got = got.err, got
	}
	return f
}

func (c *Case) compare(got answer) *Failure {
	switch {
	case c.fails != nil:
		return c.fails.check(got)
	case got.err != nil:
		return &Failure{Message: c.Hook() + ": " + got.err.Error()}
	}
	if c.hasAnswer {
		if f := c.wants.compare(got); f != nil {
			return f
		}
	}
	if c.contains != nil {
		if d := differ("$", decode(c.contains), decode(got.json()), true); d != nil {
			return d.about("the result does not contain what it should")
		}
	}
	if c.match != nil {
		if raw := got.raw(); !c.match.Match(raw) {
			return &Failure{Message: fmt.Sprintf("the result does not match %q", c.match), Got: schema.Quote(string(raw))}
		}
	}
	return nil
}

// values returns the items, or the result as the only one.
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

// raw returns what --raw prints.
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

// compare compares two answers without an error.
func (a answer) compare(got answer) *Failure {
	kind := map[bool]string{true: "a stream", false: "a result"}
	if a.Streamed != got.Streamed {
		return &Failure{Message: fmt.Sprintf("the call returned %s, want %s", kind[got.Streamed], kind[a.Streamed]), Wanted: a.json(), Got: got.json()}
	}
	if !bytes.Equal(a.json(), got.json()) {
		if d := differ("$", decode(a.json()), decode(got.json()), false); d != nil {
			return d.about("the result differs")
		}
	}
	for i, item := range got.values() { // as many as are wanted
		if item.Binary == a.values()[i].Binary {
			continue
		}
		text := "the result is text, want bytes"
		if item.Binary {
			text = "the result is bytes, want text"
		}
		if got.Streamed {
			text += fmt.Sprintf(" at $[%d]", i)
		}
		return &Failure{Message: text, Wanted: a.json(), Got: got.json()}
	}
	return nil
}

// check compares the error that a call should return with what it returned.
func (w *wantedError) check(got answer) *Failure {
	if got.err == nil {
		return &Failure{Message: "the call succeeded, want an error", Got: got.json()}
	}
	for _, f := range []struct{ what, wanted, got string }{
		{"kind", string(w.Kind), string(got.err.Kind)},
		{"type", w.Type, typeOf(got.err)},
		{"message", w.Message, got.err.Error()},
	} {
		if f.wanted != "" && f.wanted != f.got {
			return &Failure{Message: "the error has another " + f.what, Wanted: schema.Quote(f.wanted), Got: schema.Quote(f.got)}
		}
	}
	if text := messageOf(got.err); w.match != nil && !w.match.MatchString(text) {
		return &Failure{Message: fmt.Sprintf("the error does not match %q", w.match), Got: schema.Quote(text)}
	}
	return nil
}

// messageOf returns the message that "match" is about: that of an exception without its type.
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

// about completes the failure of [differ] with a message.
func (f *Failure) about(message string) *Failure {
	if f.Message = message; f.Place == "$" {
		f.Place = ""
	} else {
		f.Message += " at " + f.Place
	}
	return f
}

// encode returns the JSON of a decoded value.
func encode(value any) json.RawMessage {
	text, _ := hook.Marshal(value) // it was decoded
	return text
}

// surrogates matches an escape in JSON: of a pair of surrogates, of a lone one, or another.
var surrogates = regexp.MustCompile(`\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)

// decode decodes a JSON value. It keeps numbers as text, and lone surrogates, which encoding/json
// replaces. With --nan literal a result may be no JSON, and is text then.
func decode(value json.RawMessage) any {
	if bytes.Contains(value, []byte(`\ud`)) || bytes.Contains(value, []byte(`\uD`)) {
		value = surrogates.ReplaceAllFunc(value, func(escape []byte) []byte {
			if len(escape) == len(`\ud800`) {
				return append([]byte(`\`), bytes.ToLower(escape)...)
			}
			return escape
		})
	}
	var decoded any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if err := d.Decode(&decoded); err != nil && err != io.EOF {
		return string(value)
	}
	return decoded
}

// differ returns the first place where two decoded values differ, nil if they are equal. If some is set, objects
// and lists may have more than is wanted; a list must have the wanted elements in their order. The failure has
// no message, see about.
func differ(place string, wanted, got any, some bool) *Failure {
	switch w := wanted.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return differObjects(place, w, g, some)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return differLists(place, w, g, some)
		}
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(string(w), string(g)) {
			return nil
		}
	default:
		if wanted == got {
			return nil
		}
	}
	return &Failure{Place: place, Wanted: encode(wanted), Got: encode(got)}
}

// differObjects compares the members of objects, in the order of their names.
func differObjects(place string, wanted, got map[string]any, some bool) *Failure {
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		value, ok := got[key]
		if !ok {
			return &Failure{Place: member(place, key), Wanted: encode(wanted[key])}
		}
		if d := differ(member(place, key), wanted[key], value, some); d != nil {
			return d
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := wanted[key]; !ok && !some {
			return &Failure{Place: member(place, key), Got: encode(got[key])}
		}
	}
	return nil
}

// differLists compares the elements of lists.
func differLists(place string, wanted, got []any, some bool) *Failure {
	next := 0 // in got
	for i, value := range wanted {
		for some && next < len(got) && differ("", value, got[next], some) != nil {
			next++
		}
		at := fmt.Sprintf("%s[%d]", place, i)
		if next == len(got) {
			return &Failure{Place: at, Wanted: encode(value)}
		}
		if d := differ(at, value, got[next], some); d != nil {
			return d
		}
		next++
	}
	if next < len(got) && !some {
		return &Failure{Place: fmt.Sprintf("%s[%d]", place, next), Got: encode(got[next])}
	}
	return nil
}

var plainKey = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// member returns the place of a member of an object.
func member(place, key string) string {
	if plainKey.MatchString(key) {
		return place + "." + key
	}
	return place + "[" + string(schema.Quote(key)) + "]"
}

// How much two floats may differ, relative to the larger one, and absolutely.
const (
	relative = 1e-9
	absolute = 1e-12
)

// sameNumber compares JSON numbers. Integers must be the same, whatever their size.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX != nil || errY != nil: // out of range
		return false
	case !strings.ContainsAny(a+b, ".eE"):
		return x == 0 && y == 0 // 0 and -0
	}
	return math.Abs(x-y) <= max(absolute, relative*max(math.Abs(x), math.Abs(y)))
}
