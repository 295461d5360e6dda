package protoschema

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// textJSON returns the JSON for a VALUE, and whether the text may fit the field. protojson
// checks the rest.
func textJSON(field protoreflect.FieldDescriptor, text string) (json.RawMessage, bool) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return schema.Quote(text), utf8.ValidString(text)
	case protoreflect.BytesKind:
		return schema.Quote(base64.StdEncoding.EncodeToString([]byte(text))), true
	case protoreflect.BoolKind:
		return schema.ParseBool(text)
	case protoreflect.EnumKind:
		return enumJSON(field.Enum(), strings.TrimSpace(text))
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return messageJSON(field.Message(), text)
	}
	return schema.Quote(strings.TrimSpace(text)), utf8.ValidString(text) // protojson reads a number as text, too
}

// enumJSON reads a value by name or number. A closed enum, such as an enum of proto2, takes
// only declared numbers.
func enumJSON(enum protoreflect.EnumDescriptor, text string) (json.RawMessage, bool) {
	if enum.FullName() == "google.protobuf.NullValue" && text == "null" {
		return json.RawMessage(text), true
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return schema.Quote(text), enum.Values().ByName(protoreflect.Name(text)) != nil || enum.IsPlaceholder() && utf8.ValidString(text)
	}
	known := enum.Values().ByNumber(protoreflect.EnumNumber(number)) != nil
	return json.RawMessage(strconv.FormatInt(number, 10)), known || !enum.IsClosed() || enum.IsPlaceholder()
}

// messageJSON reads a message. The text for a wrapper is the value that it wraps.
func messageJSON(message protoreflect.MessageDescriptor, text string) (json.RawMessage, bool) {
	switch message.FullName() {
	case "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask":
		return schema.Quote(strings.TrimSpace(text)), true
	}
	if isWrapper(message) {
		return textJSON(message.Fields().Get(0), text)
	}
	return schema.Value(text), true
}
