package protoschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/pyplug/pyplug/runner/schema"
)

// readField reads the JSON of one field into an empty message. JSON has no
// object of fields for a well-known type, so its fields are read on their own.
// A Struct's are not read here: its names are its keys.
func (m Method) readField(message protoreflect.Message, field protoreflect.FieldDescriptor, content []byte) error {
	switch null := string(content) == "null"; {
	case !isSpecial(message.Descriptor()):
		object := slices.Concat([]byte("{"), schema.Quote(field.TextName()), []byte(":"), content, []byte("}"))
		return m.unmarshal(object, message.Interface())
	case field.Enum() != nil && null: // a NullValue
		message.Set(field, protoreflect.ValueOfEnum(0))
		return nil
	case null:
		return nil
	case field.IsList() && field.Message() != nil: // of a ListValue, whose JSON is just that
		return m.unmarshal(content, message.Interface())
	case field.IsList():
		return m.readPaths(message.Mutable(field).List(), field, content)
	case field.Message() != nil:
		return m.unmarshal(content, message.Mutable(field).Message().Interface())
	}
	v, err := m.readScalar(field, content)
	if err == nil {
		message.Set(field, v)
	}
	return err
}

// readPaths reads the array of a FieldMask's paths.
func (m Method) readPaths(list protoreflect.List, field protoreflect.FieldDescriptor, content []byte) error {
	var elements []json.RawMessage
	if err := json.Unmarshal(content, &elements); err != nil {
		return err
	}
	for _, element := range elements {
		v, err := m.readScalar(field, element)
		if err != nil {
			return err
		}
		list.Append(v)
	}
	return nil
}

// wrappers hold the kinds of scalar that well-known types have. The JSON of a
// wrapper is that of its value.
var wrappers = map[protoreflect.Kind]proto.Message{
	protoreflect.BoolKind:   (*wrapperspb.BoolValue)(nil),
	protoreflect.StringKind: (*wrapperspb.StringValue)(nil),
	protoreflect.BytesKind:  (*wrapperspb.BytesValue)(nil),
	protoreflect.Int32Kind:  (*wrapperspb.Int32Value)(nil),
	protoreflect.Int64Kind:  (*wrapperspb.Int64Value)(nil),
	protoreflect.Uint32Kind: (*wrapperspb.UInt32Value)(nil),
	protoreflect.Uint64Kind: (*wrapperspb.UInt64Value)(nil),
	protoreflect.FloatKind:  (*wrapperspb.FloatValue)(nil),
	protoreflect.DoubleKind: (*wrapperspb.DoubleValue)(nil),
}

// readScalar reads the JSON of one value of a field of a well-known type.
func (m Method) readScalar(field protoreflect.FieldDescriptor, content []byte) (protoreflect.Value, error) {
	known, ok := wrappers[field.Kind()]
	if !ok { // a NullValue
		text := string(content)
		_ = json.Unmarshal(content, &text) // which is a number when it fails
		v, ok := scalar(field, text)
		if !ok {
			return v, fmt.Errorf("%s is %s, want null", field.TextName(), content)
		}
		return v, nil
	}
	wrapper := known.ProtoReflect().New()
	if err := m.unmarshal(content, wrapper.Interface()); err != nil {
		return protoreflect.Value{}, err
	}
	return wrapper.Get(wrapper.Descriptor().Fields().ByName("value")), nil
}

// isStruct tells whether the names of a message are its keys.
func isStruct(message protoreflect.MessageDescriptor) bool {
	return message.FullName() == "google.protobuf.Struct"
}

// isWrapper tells whether a message is one of those that wrap a scalar.
func isWrapper(message protoreflect.MessageDescriptor) bool {
	name := message.FullName()
	return isSpecial(message) && name.Parent() == "google.protobuf" && message.Fields().Len() == 1 &&
		message.Fields().ByName("value") != nil
}

// isVerbatim tells whether text is put into a message as it is, not by way of
// its JSON.
func isVerbatim(message protoreflect.MessageDescriptor) bool {
	return isWrapper(message) || message.FullName() == "google.protobuf.FieldMask"
}

// setVerbatim puts text into a message that isVerbatim. A false result is text
// that does not fit.
func setVerbatim(message protoreflect.Message, text string) bool {
	fields := message.Descriptor().Fields()
	if field := fields.ByName("value"); field != nil {
		v, ok := scalar(field, text)
		if ok {
			message.Set(field, v)
		}
		return ok
	}
	paths, ok := maskPaths(text)
	field := fields.ByName("paths")
	if !ok || field == nil {
		return false
	}
	for _, path := range paths {
		message.Mutable(field).List().Append(protoreflect.ValueOfString(path))
	}
	return true
}

// maskPaths reads the paths of a FieldMask. One of proto names stays as it is;
// JSON has userName for user_name, so that is what capitals without an
// underscore mean.
func maskPaths(text string) (paths []string, ok bool) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, true
	}
	for path := range strings.SplitSeq(text, ",") {
		if !strings.Contains(path, "_") {
			path = snakeCase(path)
		}
		if !protoreflect.FullName(path).IsValid() {
			return nil, false
		}
		paths = append(paths, path)
	}
	return paths, true
}

func snakeCase(text string) string {
	var b strings.Builder
	for _, r := range text {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// wantedMessage says what the JSON, or the text, of a message must be.
func wantedMessage(message protoreflect.MessageDescriptor) string {
	name := "message " + strings.TrimPrefix(string(message.FullName()), "*.")
	switch message.FullName() {
	case "google.protobuf.Timestamp":
		return name + " such as 2006-01-02T15:04:05Z"
	case "google.protobuf.Duration":
		return name + " such as 1.5s"
	case "google.protobuf.FieldMask":
		return name + " such as user.name,age"
	case "google.protobuf.Any":
		return name + ` as an object whose "@type" is described`
	}
	if isWrapper(message) {
		return wanted(message.Fields().ByName("value"))
	}
	return name
}
