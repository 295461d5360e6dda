package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// AppendValue appends members of a JSON object for a result or an item: key with the value, and
// "binary": true if the value is bytes.
func AppendValue(dst []byte, key string, item hook.Item) []byte {
	dst = append(append(append(append(dst, '"'), key...), `":`...), item.JSON()...)
	if item.Binary {
		dst = append(dst, binaryMember...)
	}
	return dst
}

// binaryMember follows a value that is bytes. No JSON value ends with this text.
const binaryMember = `,"binary":true`

// AppendRaw appends a result or an item as --raw prints it: the text of a string, bytes, nothing
// for null, the only string or bytes field of a message, or the JSON of any other value, which the
// function shown formats. newline is false for bytes and null.
func AppendRaw(dst []byte, item hook.Item, shown func([]byte) []byte) (text []byte, newline bool, err error) {
	if field, binary := strings.CutSuffix(item.Sole, hook.SoleBytes); field != "" {
		var fields map[string]json.RawMessage
		if json.Unmarshal(item.Value, &fields) == nil { // the JSON of a well-known type may not be an object
			item.Value = fields[field]
			if item.Value == nil {
				item.Value = []byte(`""`)
			}
		}
		if item.Binary = binary; binary {
			if item.Value, err = decoded(item.Value); err != nil {
				return dst, false, fmt.Errorf("bytes of the result: %w", err)
			}
		}
	}
	value := item.Value
	switch {
	case item.Binary:
		return append(dst, value...), false, nil
	case string(value) == "null":
		return dst, false, nil
	case value[0] == '"':
		return append(dst, schema.Unquote(value)...), true, nil
	}
	return append(dst, shown(value)...), true, nil
}

// decoded returns the bytes of a JSON string with base64 text.
func decoded(quoted []byte) (content []byte, err error) {
	err = json.Unmarshal(quoted, &content)
	return content, err
}

// Line is a line of a streamed result: an item or, after the last item, Done or Error. A stream
// without such an end is incomplete. The answers to several calls have two more kinds of lines: a
// result (Done with a Value) and HandedBack.
type Line struct {
	hook.Item
	Done  bool        `json:"done,omitempty"`
	Notes []string    `json:"notes,omitempty"`
	Error *hook.Error `json:"error,omitempty"`
	// HandedBack is the number of calls at the end that are handed back, see [hook.Series].
	HandedBack int `json:"handed_back,omitempty"`
}

// AppendResult appends the [Line] of a result that is not a stream.
func AppendResult(dst []byte, item hook.Item) []byte {
	return append(AppendValue(append(dst, '{'), "result", item), "}\n"...)
}

// AppendItem appends the [Line] of an item. With --nan literal an item may be or contain NaN, which
// is not JSON.
func AppendItem(dst []byte, item hook.Item) []byte {
	dst = AppendValue(append(dst, '{'), "item", item)
	if item.Sole != "" {
		dst = schema.AppendQuote(append(dst, `,"sole":`...), item.Sole)
	}
	return append(dst, "}\n"...)
}

// ReadLine reads one line.
func ReadLine(from *bufio.Reader) (line Line, err error) {
	text, err := from.ReadBytes('\n')
	if err != nil { // without a line end, it may be only a part of a line
		return line, err
	}
	if value, ok := cut(text, `{"result":`, "}\n"); ok { // not parsed, to save time: it is the most frequent line
		line.Done, line.Value = true, value
		if value, ok := bytes.CutSuffix(value, []byte(binaryMember)); ok {
			line.Binary = true
			line.Value, err = decoded(value)
		}
		return line, err
	}
	if err = schema.Decode(text, &line); err == nil {
		if line.Binary {
			line.Value, err = decoded(line.Value)
		}
		return line, err
	}
	if value, ok := cut(text, `{"item":`, "}\n"); ok { // not JSON, because it contains NaN
		return Line{Item: hook.Item{Value: value}}, nil
	}
	return line, err
}

// cut returns the text between a prefix and a suffix.
func cut(text []byte, prefix, suffix string) ([]byte, bool) {
	rest, begins := bytes.CutPrefix(text, []byte(prefix))
	rest, ends := bytes.CutSuffix(rest, []byte(suffix))
	return rest, begins && ends
}

// Failure is the envelope of an error, as --json prints it.
type Failure struct {
	Schema int         `json:"schema"`
	Error  *hook.Error `json:"error"`
}

// Failed returns the envelope of an error.
func Failed(e *hook.Error) Failure { return Failure{1, e} }

// Time is the format of a time in JSON: RFC 3339 with milliseconds.
const Time = "2006-01-02T15:04:05.000Z07:00"

// Event returns the JSON of an event of the plugin with that name: {"schema", "time", "name"}, then
// the other fields of the event.
func Event(name string, e hook.Event) []byte {
	fields, _ := hook.Marshal(e)                 // this type can always be encoded
	_, rest, _ := bytes.Cut(fields, []byte(",")) // the first field is the time in nanoseconds
	start := schema.AppendQuote([]byte(`{"schema":1,"time":"`+e.Time.Format(Time)+`","name":`), name)
	return append(append(start, ','), rest...)
}
