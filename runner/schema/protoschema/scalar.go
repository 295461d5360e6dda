package protoschema

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// scalar reads text as one value of a field that is no message. A false result
// is text that does not fit.
func scalar(field protoreflect.FieldDescriptor, text string) (protoreflect.Value, bool) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), utf8.ValidString(text)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(text)), true
	case protoreflect.BoolKind:
		value, ok := schema.ParseBool(text)
		return protoreflect.ValueOfBool(string(value) == "true"), ok
	case protoreflect.EnumKind:
		return enumValue(field.Enum(), strings.TrimSpace(text))
	case protoreflect.FloatKind:
		f, ok := floatValue(text, 32)
		return protoreflect.ValueOfFloat32(float32(f)), ok
	case protoreflect.DoubleKind:
		f, ok := floatValue(text, 64)
		return protoreflect.ValueOfFloat64(f), ok
	}
	digits, ok := schema.ParseInt(text)
	if !ok {
		return protoreflect.Value{}, false
	}
	return integer(field.Kind(), string(digits))
}

func integer(kind protoreflect.Kind, digits string) (protoreflect.Value, bool) {
	switch bits, signed := integerSize(kind); {
	case signed && bits == 32:
		n, err := strconv.ParseInt(digits, 10, 32)
		return protoreflect.ValueOfInt32(int32(n)), err == nil
	case signed:
		n, err := strconv.ParseInt(digits, 10, 64)
		return protoreflect.ValueOfInt64(n), err == nil
	case bits == 32:
		n, err := strconv.ParseUint(digits, 10, 32)
		return protoreflect.ValueOfUint32(uint32(n)), err == nil
	case bits == 64:
		n, err := strconv.ParseUint(digits, 10, 64)
		return protoreflect.ValueOfUint64(n), err == nil
	}
	return protoreflect.Value{}, false
}

// integerSize is that of a kind of integer, 0 of all else.
func integerSize(kind protoreflect.Kind) (bits int, signed bool) {
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return 32, true
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return 64, true
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return 32, false
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return 64, false
	}
	return 0, false
}

// floatValue reads a float, and the three that are no numbers by any of the
// names that Python and JSON have for them.
func floatValue(text string, bits int) (float64, bool) {
	sign, name := schema.CutSign(strings.ToLower(strings.TrimSpace(text)))
	switch name {
	case "nan":
		return math.NaN(), sign == ""
	case "inf", "infinity":
		if sign == "-" {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	written, ok := schema.ParseFloat(text)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(written), bits)
	return f, err == nil
}

// enumValue finds a value by name or number. An open enum, as those of proto3
// are, takes any number.
func enumValue(enum protoreflect.EnumDescriptor, text string) (protoreflect.Value, bool) {
	if known := enum.Values().ByName(protoreflect.Name(text)); known != nil {
		return protoreflect.ValueOfEnum(known.Number()), true
	}
	if enum.FullName() == "google.protobuf.NullValue" && text == "null" {
		return protoreflect.ValueOfEnum(0), true
	}
	digits, _ := schema.ParseInt(text)
	n, err := strconv.ParseInt(string(digits), 10, 32)
	if err != nil {
		return protoreflect.Value{}, false
	}
	number := protoreflect.EnumNumber(n)
	known := enum.Values().ByNumber(number) != nil
	return protoreflect.ValueOfEnum(number), known || !enum.IsClosed() || enum.IsPlaceholder()
}

// mapKey reads text as a key of a map.
func mapKey(field protoreflect.FieldDescriptor, text string) (protoreflect.MapKey, bool) {
	v, ok := scalar(field, text)
	if !ok {
		return protoreflect.MapKey{}, false
	}
	return v.MapKey(), true
}

// wanted says what one value of a field must be.
func wanted(field protoreflect.FieldDescriptor) string {
	name := kindName(field)
	switch field.Kind() {
	case protoreflect.StringKind:
		return name + " of UTF-8"
	case protoreflect.MessageKind:
		return wantedMessage(field.Message())
	}
	switch bits, signed := integerSize(field.Kind()); {
	case signed:
		most := int64(math.MaxInt64) >> (64 - bits)
		return fmt.Sprintf("%s from %d to %d", name, -most-1, most)
	case bits != 0:
		return fmt.Sprintf("%s from 0 to %d", name, uint64(math.MaxUint64)>>(64-bits))
	}
	return name
}

// messageText is the JSON of a message that was typed as plain text.
func messageText(message protoreflect.MessageDescriptor, text string) json.RawMessage {
	switch message.FullName() {
	case "google.protobuf.Timestamp", "google.protobuf.Duration":
		return schema.Quote(strings.TrimSpace(text))
	}
	return schema.Value(text)
}
