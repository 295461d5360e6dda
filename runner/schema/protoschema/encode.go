package protoschema

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
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

// EncodeOptions say how a message is written. The zero value writes what is set,
// and knows only the built-in messages inside an Any.
type EncodeOptions struct {
	// EmitDefaults writes scalars, lists and maps that are not set, too.
	EmitDefaults bool
	// Descriptors describe the messages inside an Any.
	Descriptors *Descriptors
}

// Unmarshal reads bytes that a plugin sent into a message, such as
// [Method.NewResponse]. It knows the plugin's own extensions; EncodeMessage drops
// one that nobody declares. [proto.Unmarshal] panics on some bytes if a message has
// no generated code: on a map entry that has its key twice, the second time as
// another type. Here that is an error, too.
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

// EncodeMessage writes a message as one line of JSON with proto names, the same
// for the same message. An Any whose message is not known, or malformed, is
// {"@type": URL, "value": "its bytes in base64"}. A well-known type whose value has
// no form in JSON is written by its fields, such as {"paths": ["b_1"]} or
// {"seconds": "1", "nanos": -1}; a Value that is not set is null. The error is a
// [*DescriptorError] if no source describes a message inside. The message is not
// changed.
func EncodeMessage(message proto.Message, o EncodeOptions) (json.RawMessage, error) {
	if err := o.Descriptors.describes(message); err != nil {
		return nil, err
	}
	w := writer{o.Descriptors, protojson.MarshalOptions{
		AllowPartial: true, UseProtoNames: true, EmitDefaultValues: o.EmitDefaults, Resolver: o.Descriptors.resolver(),
	}}
	written, err := w.message(message.ProtoReflect(), 0)
	var line bytes.Buffer
	if err == nil {
		err = json.Compact(&line, written) // the library adds spaces at random
	}
	if err != nil {
		return nil, fmt.Errorf("message %s has no JSON: %s", message.ProtoReflect().Descriptor().FullName(), cleanProto(err))
	}
	return line.Bytes(), nil
}

// describes returns an error if no source describes a message inside another.
func (d *Descriptors) describes(message proto.Message) error {
	if d == nil || !d.incomplete {
		return nil
	}
	var missing error
	var user protoreflect.Descriptor = message.ProtoReflect().Descriptor()
	look := func(p protopath.Values) error {
		step := p.Index(-1)
		if step.Step.Kind() == protopath.FieldAccessStep {
			user = step.Step.FieldDescriptor()
		}
		inner, ok := step.Value.Interface().(protoreflect.Message)
		if ok && inner.Descriptor().IsPlaceholder() {
			missing = d.missing(inner.Descriptor().FullName(), user)
			return missing
		}
		return nil
	}
	_ = noPanic(func() error { // ignores malformed bytes inside an Any
		return protorange.Options{Resolver: d.resolver()}.Range(message.ProtoReflect(), look, nil)
	})
	return missing
}

// writer writes messages as JSON. protojson writes what it can; the writer takes
// the rest apart until it finds the part that has no JSON, such as a Timestamp out
// of its range.
type writer struct {
	set *Descriptors
	protojson.MarshalOptions
}

const deepest = 100 // each level is written again with those around it

func (w writer) marshal(message protoreflect.Message) (written []byte, err error) {
	err = noPanic(func() error {
		written, err = w.Marshal(message.Interface())
		return err
	})
	return written, err
}

// message writes one message.
func (w writer) message(message protoreflect.Message, depth int) (json.RawMessage, error) {
	written, err := w.marshal(message)
	fields := message.Descriptor().Fields()
	switch name := message.Descriptor().FullName(); {
	case err == nil:
		return written, nil
	case name == "google.protobuf.Any":
		return w.any(message, depth)
	case depth > deepest:
		return nil, err
	case name == "google.protobuf.Timestamp", name == "google.protobuf.Duration", name == "google.protobuf.FieldMask":
		return w.byFields(message)
	case name == "google.protobuf.Struct", name == "google.protobuf.ListValue":
		return w.field(fields.Get(0), message.Get(fields.Get(0)), depth)
	case name == "google.protobuf.Value":
		return w.value(message, depth)
	case hasOwnJSON(message.Descriptor()):
		return nil, err
	}
	return w.object(message, depth)
}

// byFields writes a well-known type by its fields.
func (w writer) byFields(message protoreflect.Message) (json.RawMessage, error) {
	twin := dynamicpb.NewMessage(plain(message.Descriptor()))
	if err := transfer(message.Interface(), twin); err != nil {
		return nil, err
	}
	return w.marshal(twin)
}

// value writes a Value.
func (w writer) value(message protoreflect.Message, depth int) (json.RawMessage, error) {
	field := message.WhichOneof(message.Descriptor().Oneofs().ByName("kind"))
	switch {
	case field == nil:
		return json.RawMessage("null"), nil
	case field.Message() != nil:
		return w.message(message.Get(field).Message(), depth+1)
	}
	return w.byFields(message) // a number that is none
}

// any writes an Any with the message inside it, or with its bytes if that message
// is not known or malformed.
func (w writer) any(message protoreflect.Message, depth int) (json.RawMessage, error) {
	fields := message.Descriptor().Fields()
	url, content := message.Get(fields.ByName("type_url")).String(), message.Get(fields.ByName("value")).Bytes()
	if url == "" {
		return w.byFields(message)
	}
	list := []member{{"@type", schema.Quote(url)}}
	found, err := w.set.resolver().FindMessageByURL(url)
	if err != nil || depth > deepest || w.set.Unmarshal(content, found.New().Interface()) != nil {
		text := schema.Quote(base64.StdEncoding.EncodeToString(content))
		return object(append(list, member{"value", text})), nil
	}
	inner := found.New()
	if err := w.set.Unmarshal(content, inner.Interface()); err != nil {
		return nil, err
	}
	written, err := w.message(inner, depth+1)
	if err != nil {
		return nil, err
	}
	if hasOwnJSON(inner.Descriptor()) {
		return object(append(list, member{"value", written})), nil
	}
	more, _ := members(written)
	return object(append(list, more...)), nil
}

// object writes a message that JSON has as an object of its fields. Those that
// protojson cannot write follow the others.
func (w writer) object(message protoreflect.Message, depth int) (json.RawMessage, error) {
	fit, unfit := message.New(), []protoreflect.FieldDescriptor(nil)
	message.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		alone := message.New()
		alone.Set(field, v)
		if _, err := w.marshal(alone); err == nil {
			fit.Set(field, v)
		} else {
			unfit = append(unfit, field)
		}
		return true
	})
	slices.SortFunc(unfit, func(a, b protoreflect.FieldDescriptor) int { return a.Index() - b.Index() })
	written, err := w.marshal(fit)
	if err != nil {
		return nil, err
	}
	list, _ := members(written)
	for _, field := range unfit {
		content, err := w.field(field, message.Get(field), depth)
		if err != nil {
			return nil, err
		}
		name := field.TextName()
		list = slices.DeleteFunc(list, func(m member) bool { return m.name == name }) // the default that stands for it
		list = append(list, member{name, content})
	}
	return object(list), nil
}

// field writes a field that protojson cannot write: a message, a list or a map of
// them.
func (w writer) field(field protoreflect.FieldDescriptor, v protoreflect.Value, depth int) (json.RawMessage, error) {
	switch {
	case field.IsMap() && field.MapValue().Message() != nil:
		return w.entries(v.Map(), depth)
	case field.Message() == nil || field.IsMap():
		return nil, fmt.Errorf("field %s contains invalid UTF-8", field.FullName())
	case !field.IsList():
		return w.message(v.Message(), depth+1)
	}
	elements := make([]json.RawMessage, v.List().Len())
	var err error
	for i := range elements {
		if elements[i], err = w.message(v.List().Get(i).Message(), depth+1); err != nil {
			return nil, err
		}
	}
	return json.Marshal(elements)
}

// entries writes a map of messages.
func (w writer) entries(values protoreflect.Map, depth int) (json.RawMessage, error) {
	var list []member
	var err error
	values.Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
		entry := member{name: key.String()}
		entry.value, err = w.message(v.Message(), depth+1)
		list = append(list, entry)
		return err == nil
	})
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return object(list), err
}

// object makes a JSON object of members.
func object(list []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, each := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(schema.Quote(each.name))
		b.WriteByte(':')
		b.Write(each.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// SoleText returns the one field of a message that is a string or bytes, and
// whether it is a string. It is not ok if there is no such field, if there are
// several, or if it is repeated; fields of other types, and what is inside them, do
// not count.
func SoleText(message proto.Message) (value []byte, isText bool, ok bool) {
	m := message.ProtoReflect()
	fields := m.Descriptor().Fields()
	var sole protoreflect.FieldDescriptor
	for i := range fields.Len() {
		field := fields.Get(i)
		if kind := field.Kind(); kind != protoreflect.StringKind && kind != protoreflect.BytesKind {
			continue
		}
		if sole != nil {
			return nil, false, false
		}
		sole = field
	}
	switch {
	case sole == nil || sole.IsList():
		return nil, false, false
	case sole.Kind() == protoreflect.StringKind:
		return []byte(m.Get(sole).String()), true, true
	}
	return m.Get(sole).Bytes(), false, true
}
