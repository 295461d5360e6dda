package protoschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// DecodeMessage reads the JSON of one request of m: an object with proto names or JSON
// names, or the JSON of a well-known type, see [Method.OwnJSON]. An error is a
// [*schema.ArgumentError].
func DecodeMessage(m Method, content []byte) (proto.Message, error) {
	request, input := m.NewRequest(), m.desc.Input()
	err := m.unmarshal(content, request)
	if err == nil {
		return request, initialized(request)
	}
	if !m.OwnJSON() {
		if err := m.misfitIn(input, content, ""); err != nil {
			return nil, err
		}
	}
	return nil, m.unfit("", wantedMessage(input), reason(err))
}

// misfitIn returns the error for the first field in a message's JSON that does not fit, or nil
// if each field fits. at is the path of the message.
func (m Method) misfitIn(message protoreflect.MessageDescriptor, content []byte, at string) error {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(content, &fields) // what is no object has no fields
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := findField(message, name)
		if field == nil && strings.HasPrefix(name, "[") { // an extension
			continue
		}
		if field == nil {
			return noField(message, at, name)
		}
		if err := m.misfit(field, fields[name], join(at, field.TextName())); err != nil {
			return err
		}
	}
	return nil
}

// misfit returns the error for the JSON of the field at a path, or for the part of it that does
// not fit; nil if it fits.
func (m Method) misfit(field protoreflect.FieldDescriptor, content json.RawMessage, at string) error {
	fits := func(content []byte) error {
		return m.merge(dynamicpb.NewMessage(field.ContainingMessage()), field, content)
	}
	err := fits(content)
	var list []json.RawMessage
	var entries map[string]json.RawMessage
	switch {
	case err == nil:
		return nil
	case field.IsList() && json.Unmarshal(content, &list) == nil:
		for i, element := range list {
			if err := fits(slices.Concat([]byte("["), element, []byte("]"))); err != nil {
				return m.wrongValue(field, element, fmt.Sprintf("%s[%d]", at, i), err)
			}
		}
	case field.IsMap() && json.Unmarshal(content, &entries) == nil:
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if err := m.misfit(field.MapValue(), entries[key], join(at, key)); err != nil {
				return err
			}
		}
	}
	if field.IsList() || field.IsMap() {
		return m.unfit(at, fieldType(field), reason(err))
	}
	return m.wrongValue(field, content, at, err)
}

// wrongValue returns the error for one value of a field, which protojson rejects with err.
func (m Method) wrongValue(field protoreflect.FieldDescriptor, content json.RawMessage, at string, err error) error {
	switch inner := field.Message(); {
	case inner == nil:
		e := schema.ArgumentErrorf(at, "%s is %s, want %s", schema.Short(at), schema.Short(string(content)), wanted(field))
		e.Advice = []schema.Hint{m.hint()}
		return e
	case inner.IsPlaceholder():
		return m.set.missing(inner.FullName(), field)
	case !hasOwnJSON(inner):
		if err := m.misfitIn(inner, content, at); err != nil {
			return err
		}
	}
	return m.unfit(at, wanted(field), reason(err))
}

// reason returns what protojson rejects, without the place in the object that merge makes.
func reason(err error) string {
	why := strings.TrimPrefix(cleanProto(err), "syntax error ")
	if _, text, found := strings.Cut(why, "): "); found && strings.HasPrefix(why, "(line ") {
		return text
	}
	return why
}

// unmarshal reads JSON into a message. Required fields may be missing.
func (m Method) unmarshal(content []byte, into proto.Message) error {
	return protojson.UnmarshalOptions{AllowPartial: true, Resolver: m.set.resolver()}.Unmarshal(content, into)
}

// merge reads the JSON of one field and adds it to a message.
func (m Method) merge(message protoreflect.Message, field protoreflect.FieldDescriptor, content []byte) error {
	read := dynamicpb.NewMessage(message.Descriptor())
	if !isWrapper(message.Descriptor()) { // whose JSON is that of its field
		content = slices.Concat([]byte("{"), schema.Quote(field.TextName()), []byte(":"), content, []byte("}"))
	}
	if err := m.unmarshal(content, read); err != nil {
		return err
	}
	proto.Merge(message.Interface(), read)
	return nil
}

// initialized rejects a request that lacks a field that proto2 requires.
func initialized(request proto.Message) error {
	if err := proto.CheckInitialized(request); err != nil {
		return schema.ArgumentErrorf("", "%s", cleanProto(err))
	}
	return nil
}

// unfit reports JSON that protojson rejects; at is its field, or empty for the request.
func (m Method) unfit(at, want, why string) error {
	e := schema.ArgumentErrorf(at, "%s does not fit %s: %s", cmp.Or(schema.Short(at), "the request"), want, why)
	e.Advice = []schema.Hint{m.hint()}
	if m.set.incomplete {
		e.Advice = append(e.Advice, missingAdvice)
	}
	return e
}

// Unmarshal reads a plugin's bytes into a message, such as [Method.NewResponse]. It knows
// the plugin's own extensions; EncodeMessage drops undeclared ones. [proto.Unmarshal] panics
// on some bytes, such as a map entry whose key comes twice with different types. Unmarshal
// returns an error instead.
func (d *Descriptors) Unmarshal(content []byte, into proto.Message) error {
	err := noPanic(func() error {
		return proto.UnmarshalOptions{AllowPartial: true, Resolver: d.resolver()}.Unmarshal(content, into)
	})
	if err != nil {
		return fmt.Errorf("message %s cannot be read: %s", into.ProtoReflect().Descriptor().FullName(), cleanProto(err))
	}
	return nil
}

// noPanic makes an error of a panic about malformed bytes.
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
// a [*DescriptorError] if no source describes a message inside. With emitDefaults it also writes
// scalars, lists and maps that are not set.
func (d *Descriptors) EncodeMessage(message proto.Message, emitDefaults bool) (json.RawMessage, error) {
	if d != nil && d.incomplete {
		if err := d.undescribed(message.ProtoReflect()); err != nil {
			return nil, err
		}
	}
	options := protojson.MarshalOptions{
		AllowPartial: true, UseProtoNames: true, EmitDefaultValues: emitDefaults, Resolver: d.resolver(),
	}
	var written []byte
	err := noPanic(func() (err error) {
		written, err = options.Marshal(message)
		return err
	})
	var line bytes.Buffer
	if err == nil {
		err = json.Compact(&line, written) // the library adds spaces at random
	}
	if err == nil {
		return line.Bytes(), nil
	}
	e := &DescriptorError{Err: fmt.Errorf("message %s has no JSON: %s", message.ProtoReflect().Descriptor().FullName(), cleanProto(err))}
	if strings.Contains(e.Error(), "unable to resolve") { // the type of an Any
		e.Code, e.Advice = MissingImport, []schema.Hint{missingAdvice}
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

// SoleField returns the name of the only string or bytes field of a message, or "=" if that
// field is empty. isText reports whether it is a string. The name is empty if there is no
// such field, if there are several, or if it is repeated. Fields inside other messages do
// not count.
func SoleField(message proto.Message) (name string, isText bool) {
	m := message.ProtoReflect()
	fields := m.Descriptor().Fields()
	var sole protoreflect.FieldDescriptor
	for i := range fields.Len() {
		field := fields.Get(i)
		if kind := field.Kind(); kind != protoreflect.StringKind && kind != protoreflect.BytesKind {
			continue
		}
		if sole != nil {
			return "", false
		}
		sole = field
	}
	if sole == nil || sole.IsList() {
		return "", false
	}
	if name = string(sole.Name()); !m.Has(sole) {
		name = "="
	}
	return name, sole.Kind() == protoreflect.StringKind
}

// ownJSON lists the messages with a JSON of their own, and describes it for errors.
var ownJSON = map[protoreflect.FullName]string{
	"google.protobuf.Any":         ` as an object whose "@type" is described`,
	"google.protobuf.Timestamp":   " such as 2006-01-02T15:04:05Z",
	"google.protobuf.Duration":    " such as 1.5s",
	"google.protobuf.FieldMask":   " such as user.name,age",
	"google.protobuf.Struct":      "",
	"google.protobuf.ListValue":   "",
	"google.protobuf.Value":       "",
	"google.protobuf.BoolValue":   "",
	"google.protobuf.StringValue": "",
	"google.protobuf.BytesValue":  "",
	"google.protobuf.Int32Value":  "",
	"google.protobuf.Int64Value":  "",
	"google.protobuf.UInt32Value": "",
	"google.protobuf.UInt64Value": "",
	"google.protobuf.FloatValue":  "",
	"google.protobuf.DoubleValue": "",
}

func hasOwnJSON(message protoreflect.MessageDescriptor) bool {
	_, own := ownJSON[message.FullName()]
	return own
}

// isStruct reports whether words name the keys of a message, and not its fields.
func isStruct(message protoreflect.MessageDescriptor) bool {
	return message.FullName() == "google.protobuf.Struct"
}

// isWrapper reports whether a message wraps a scalar.
func isWrapper(message protoreflect.MessageDescriptor) bool {
	fields := message.Fields()
	return hasOwnJSON(message) && fields.Len() == 1 && fields.ByName("value") != nil
}

// noField reports a name that a message does not have. at is the path of the message.
func noField(message protoreflect.MessageDescriptor, at, name string) *schema.ArgumentError {
	names, path := fieldNames(message), join(at, name)
	e := schema.ArgumentErrorf(path, "no field %q in %s, want %s", schema.Short(path), message.FullName(), schema.OneOf(names))
	if meant := schema.Suggest(name, names); meant != "" {
		e.Advice = schema.DidYouMean(join(at, meant))
	}
	return e
}

func fieldNames(message protoreflect.MessageDescriptor) []string {
	fields := message.Fields()
	names := []string{}
	for i := range fields.Len() {
		names = append(names, fields.Get(i).TextName())
	}
	return names
}
