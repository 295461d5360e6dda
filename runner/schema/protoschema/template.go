package protoschema

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// Template is an empty request as indented JSON, to be filled in: every field
// with the value it has when it is absent, of a oneof the first, and null
// where a message would contain itself or the template grow past all use.
// [DecodeMessage] reads it.
func (m Method) Template() []byte {
	t := templater{open: map[protoreflect.FullName]bool{}}
	t.message(m.desc.Input())
	var indented bytes.Buffer
	if err := json.Indent(&indented, t.Bytes(), "", "  "); err != nil {
		return t.Bytes()
	}
	return indented.Bytes()
}

// templater writes the JSON of empty messages.
type templater struct {
	bytes.Buffer
	open map[protoreflect.FullName]bool
}

func (t *templater) message(message protoreflect.MessageDescriptor) {
	const largest, deepest = 32 << 10, 16
	name := message.FullName()
	if text, special := specialTemplates[name]; special {
		t.WriteString(text)
		return
	}
	if t.open[name] || len(t.open) >= deepest || t.Len() > largest || message.IsPlaceholder() {
		t.WriteString("null")
		return
	}
	t.open[name] = true
	defer delete(t.open, name)
	t.WriteByte('{')
	fields, first := message.Fields(), true
	for i := range fields.Len() {
		field := fields.Get(i)
		oneof := field.ContainingOneof()
		if oneof != nil && oneof.Fields().Get(0).Number() != field.Number() {
			continue
		}
		if !first {
			t.WriteByte(',')
		}
		first = false
		t.Write(schema.Quote(field.TextName()))
		t.WriteByte(':')
		t.field(field)
	}
	t.WriteByte('}')
}

func (t *templater) field(field protoreflect.FieldDescriptor) {
	switch {
	case field.IsMap():
		t.WriteString("{}")
	case field.IsList():
		t.WriteString("[]")
	case field.Message() != nil:
		t.message(field.Message())
	default:
		t.Write(scalarDefault(field))
	}
}

// specialTemplates are the messages that JSON writes in a way of their own.
var specialTemplates = map[protoreflect.FullName]string{
	"google.protobuf.Any":         "{}",
	"google.protobuf.Timestamp":   `"1970-01-01T00:00:00Z"`,
	"google.protobuf.Duration":    `"0s"`,
	"google.protobuf.FieldMask":   `""`,
	"google.protobuf.Struct":      "{}",
	"google.protobuf.ListValue":   "[]",
	"google.protobuf.Value":       "null",
	"google.protobuf.BoolValue":   "false",
	"google.protobuf.StringValue": `""`,
	"google.protobuf.BytesValue":  `""`,
	"google.protobuf.Int32Value":  "0",
	"google.protobuf.Int64Value":  "0",
	"google.protobuf.UInt32Value": "0",
	"google.protobuf.UInt64Value": "0",
	"google.protobuf.FloatValue":  "0",
	"google.protobuf.DoubleValue": "0",
}

// isSpecial tells whether JSON writes a message in a way of its own.
func isSpecial(message protoreflect.MessageDescriptor) bool {
	_, special := specialTemplates[message.FullName()]
	return special
}

// scalarDefault is the JSON of what an absent scalar means.
func scalarDefault(field protoreflect.FieldDescriptor) json.RawMessage {
	value := field.Default()
	switch field.Kind() {
	case protoreflect.StringKind:
		return schema.Quote(value.String())
	case protoreflect.BytesKind:
		return schema.Quote(base64.StdEncoding.EncodeToString(value.Bytes()))
	case protoreflect.EnumKind:
		if field.Enum().FullName() == "google.protobuf.NullValue" {
			return json.RawMessage("null")
		}
		if known := field.Enum().Values().ByNumber(value.Enum()); known != nil {
			return schema.Quote(string(known.Name()))
		}
		return json.RawMessage("0")
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		text := strconv.FormatFloat(value.Float(), 'g', -1, 64)
		if !json.Valid([]byte(text)) {
			return schema.Quote(floatName(value.Float()))
		}
		return json.RawMessage(text)
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return json.RawMessage("null")
	}
	return json.RawMessage(fmt.Sprint(value.Interface()))
}

// floatName is what JSON calls a float that is no number.
func floatName(f float64) string {
	switch {
	case f > 0:
		return "Infinity"
	case f < 0:
		return "-Infinity"
	}
	return "NaN"
}
