package protoschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// DecodeMessage reads the JSON of one request of m: an object with proto names or JSON
// names, or the JSON of a well-known type, see [Method.OwnJSON]. An error is a
// [*schema.ArgumentError].
func DecodeMessage(m Method, content []byte) (proto.Message, error) {
	request := m.NewRequest()
	err := m.unmarshal(content, request)
	if err == nil {
		return request, initialized(request)
	}
	line, column, why := 0, 0, strings.TrimPrefix(cleanProto(err), "syntax error ")
	if _, err := fmt.Sscanf(why, "(line %d:%d)", &line, &column); err != nil {
		return nil, m.unfit("", why)
	}
	_, why, _ = strings.Cut(why, "): ")
	return nil, m.unfit(placeAt(content, line, column), why)
}

// placeAt returns the path of the value at a line and column of JSON, such as address.zip or
// tags[1].
func placeAt(content []byte, line, column int) string {
	offset := column
	for range line - 1 {
		offset += bytes.IndexByte(content[offset-column:], '\n') + 1
	}
	d := json.NewDecoder(bytes.NewReader(content))
	var err error
	next := func() (token json.Token, isLast bool) {
		token, err = d.Token()
		return token, err != nil || d.InputOffset() >= int64(offset)
	}
	var walk func() (inner string, found bool) // reads a value, and finds the place in it
	walk = func() (string, bool) {
		token, found := next()
		delim, _ := token.(json.Delim)
		for n := 0; !found && delim != 0 && d.More(); n++ {
			inner := ""
			if delim == '{' {
				token, found = next()
			}
			if !found {
				inner, found = walk()
			}
			switch { // makes the path only on the way back, because making a path for each value takes long
			case found && delim == '[':
				return fmt.Sprintf("[%d]%s", n, inner), true
			case found:
				return fmt.Sprintf(".%v%s", token, inner), true
			}
		}
		if !found && delim != 0 {
			_, found = next()
		}
		return "", found
	}
	place, _ := walk()
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(place, ".")
}

// unmarshal reads JSON into a message. Required fields may be missing.
func (m Method) unmarshal(content []byte, into proto.Message) error {
	return protojson.UnmarshalOptions{AllowPartial: true, Resolver: m.set.resolver()}.Unmarshal(content, into)
}

// initialized rejects a request that lacks a field that proto2 requires.
func initialized(request proto.Message) error {
	if err := proto.CheckInitialized(request); err != nil {
		return schema.ArgumentErrorf("", "%s", cleanProto(err))
	}
	return nil
}

// unfit returns the error for JSON that protojson rejects. at is its place, or empty for the
// request.
func (m Method) unfit(at, why string) error {
	e := schema.ArgumentErrorf(at, "%s does not fit: %s", schema.Short(at), why)
	if at == "" {
		e.Problem = fmt.Sprintf("the request does not fit %s: %s", wantedMessage(m.desc.Input()), why)
	}
	e.Hints = []schema.Hint{m.hint()}
	if m.set.incomplete {
		e.Hints = append(e.Hints, missingHint)
	}
	return e
}

// Unmarshal reads a plugin's bytes into a message, such as [Method.NewResponse]. It knows the
// plugin's own extensions. EncodeMessage drops undeclared ones. [proto.Unmarshal] panics on some
// bytes, such as a map entry whose key is given twice with different types. Unmarshal returns an
// error instead.
func (d *Descriptors) Unmarshal(content []byte, into proto.Message) error {
	err := noPanic(func() error {
		return proto.UnmarshalOptions{AllowPartial: true, Resolver: d.resolver()}.Unmarshal(content, into)
	})
	if err != nil {
		return fmt.Errorf("message %s cannot be read: %s", into.ProtoReflect().Descriptor().FullName(), cleanProto(err))
	}
	return nil
}

// noPanic converts a panic about malformed bytes to an error.
func noPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed: %v", p)
		}
	}()
	return f()
}

// EncodeMessage writes a message as one line of JSON with proto names. Equal messages have
// equal lines. A value without JSON, such as a Timestamp out of range, is an error. The error is
// a [*hook.Error] if no source describes a message inside.
func (d *Descriptors) EncodeMessage(message proto.Message) (json.RawMessage, error) {
	if d != nil && d.incomplete {
		if err := d.undescribed(message.ProtoReflect()); err != nil {
			return nil, err
		}
	}
	options := protojson.MarshalOptions{
		AllowPartial: true, UseProtoNames: true, Resolver: d.resolver(),
	}
	var line bytes.Buffer
	err := noPanic(func() error {
		written, err := options.Marshal(message)
		if err != nil {
			return err
		}
		return json.Compact(&line, written) // the library adds spaces at random
	})
	if err == nil {
		return line.Bytes(), nil
	}
	e := faulty(fmt.Errorf("message %s has no JSON: %s", message.ProtoReflect().Descriptor().FullName(), cleanProto(err)))
	if strings.Contains(e.Error(), "unable to resolve") { // the error is about the type of an Any
		e.Reason, e.Hints = MissingImport, []schema.Hint{missingHint}
	}
	return nil, e
}

// undescribed returns an error if a message has a field whose type no source describes.
func (d *Descriptors) undescribed(message protoreflect.Message) error {
	return protorange.Options{Resolver: d.resolver()}.Range(message, func(at protopath.Values) error {
		step := at.Index(-1).Step
		if step.Kind() != protopath.FieldAccessStep {
			return nil
		}
		field := step.FieldDescriptor()
		if field.IsMap() {
			field = field.MapValue()
		}
		if inner := field.Message(); inner != nil && inner.IsPlaceholder() {
			return d.missing(inner.FullName(), field)
		}
		return nil
	}, nil)
}

// SoleField returns the name of the only string or bytes field of the response. isText reports
// whether it is a string. The name is empty if there is no such field, if there are several, or if
// it is repeated. Fields inside other messages do not count.
func (m Method) SoleField() (name string, isText bool) {
	var found []protoreflect.FieldDescriptor
	for field := range each(m.desc.Output().Fields()) {
		if kind := field.Kind(); kind == protoreflect.StringKind || kind == protoreflect.BytesKind {
			found = append(found, field)
		}
	}
	if len(found) != 1 || found[0].IsList() {
		return "", false
	}
	return string(found[0].Name()), found[0].Kind() == protoreflect.StringKind
}

// ownJSON describes a message with its own JSON, such as a Timestamp. form follows the message's
// name in errors.
type ownJSON struct {
	form   string
	schema map[string]any
}

// ownJSONs contains the messages with their own JSON, except wrappers.
var ownJSONs = map[protoreflect.FullName]ownJSON{
	"google.protobuf.Any":       {` as an object whose "@type" is described`, map[string]any{"type": "object"}},
	"google.protobuf.Timestamp": {" such as 2006-01-02T15:04:05Z", map[string]any{"type": "string", "format": "date-time"}},
	"google.protobuf.Duration":  {durationText, map[string]any{"type": "string", "description": "google.protobuf.Duration" + durationText}},
	"google.protobuf.FieldMask": {fieldMaskText, map[string]any{"type": "string", "description": "google.protobuf.FieldMask" + fieldMaskText}},
	"google.protobuf.Struct":    {"", map[string]any{"type": "object"}},
	"google.protobuf.ListValue": {"", map[string]any{"type": "array", "items": anything()}},
	"google.protobuf.Value":     {"", anything()},
}

const durationText, fieldMaskText = " such as 1.5s", " such as user.name,age"

func hasOwnJSON(message protoreflect.MessageDescriptor) bool {
	_, own := ownJSONs[message.FullName()]
	return own || isWrapper(message)
}

// isStruct reports whether words name the keys of a message rather than its fields.
func isStruct(message protoreflect.MessageDescriptor) bool {
	return message.FullName() == "google.protobuf.Struct"
}

// isWrapper reports whether a message wraps a scalar.
func isWrapper(message protoreflect.MessageDescriptor) bool {
	fields := message.Fields()
	return message.FullName().Parent() == "google.protobuf" && fields.Len() == 1 && fields.ByName("value") != nil
}

func fieldNames(message protoreflect.MessageDescriptor) []string {
	names := []string{}
	for field := range each(message.Fields()) {
		names = append(names, field.TextName())
	}
	return names
}
