package protoschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// irregularWriter writes a message in which something has no JSON, such as a
// Timestamp out of its range: that by its fields, all else as ever.
type irregularWriter struct {
	protojson.MarshalOptions
	scan *anyScan
}

// message writes one message. What is fit to be written is written by the
// library; the rest is taken apart until what is unfit is found.
func (w irregularWriter) message(message protoreflect.Message, depth int) (json.RawMessage, error) {
	const deepest = 100 // each level is written again with those around it
	written, err := w.Marshal(message.Interface())
	if err == nil || depth > deepest {
		return written, err
	}
	fields := message.Descriptor().Fields()
	switch message.Descriptor().FullName() {
	case "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask":
		return byFields(message), nil
	case "google.protobuf.Any":
		return w.any(message, depth)
	case "google.protobuf.Value":
		return w.kind(message, depth)
	case "google.protobuf.Struct", "google.protobuf.ListValue":
		return w.field(fields.Get(0), message.Get(fields.Get(0)), depth)
	}
	return w.object(message, depth)
}

// kind writes a Value.
func (w irregularWriter) kind(message protoreflect.Message, depth int) (json.RawMessage, error) {
	field := message.WhichOneof(message.Descriptor().Oneofs().ByName("kind"))
	switch {
	case field == nil:
		return json.RawMessage("null"), nil
	case field.Message() != nil:
		return w.message(message.Get(field).Message(), depth+1)
	}
	return byFields(message), nil // a number that is none
}

// any writes an Any as JSON has it, with what is inside by this writer.
func (w irregularWriter) any(message protoreflect.Message, depth int) (json.RawMessage, error) {
	url, content, ok := openAny(message)
	if !ok {
		return byFields(message), nil
	}
	inner, known := w.scan.open(url, content)
	if !known {
		return byFields(message), nil
	}
	written, err := w.message(inner, depth+1)
	if err != nil {
		return nil, err
	}
	list, object := members(written)
	if !object || isSpecial(inner.Descriptor()) {
		list = []member{{"value", written}}
	}
	return joinMembers(slices.Insert(list, 0, member{"@type", schema.Quote(url)})), nil
}

// object writes a message that JSON has as an object of its fields. Those that
// the library cannot write take the places after the others.
func (w irregularWriter) object(message protoreflect.Message, depth int) (json.RawMessage, error) {
	fit := message.New()
	message.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		fit.Set(field, v)
		return true
	})
	var unfit []member
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !message.Has(field) || field.Message() == nil {
			continue
		}
		alone := message.New()
		alone.Set(field, message.Get(field))
		if _, err := w.Marshal(alone.Interface()); err == nil {
			continue
		}
		fit.Clear(field)
		content, err := w.field(field, message.Get(field), depth)
		if err != nil {
			return nil, err
		}
		unfit = append(unfit, member{field.TextName(), content})
	}
	written, err := w.Marshal(fit.Interface())
	if err != nil {
		return nil, err
	}
	list, _ := members(written)
	list = slices.DeleteFunc(list, func(m member) bool { // an empty list that stands for the unfit one
		return slices.ContainsFunc(unfit, func(u member) bool { return u.name == m.name })
	})
	return joinMembers(append(list, unfit...)), nil
}

// field writes a field of messages: one, a list or a map of them.
func (w irregularWriter) field(field protoreflect.FieldDescriptor, v protoreflect.Value, depth int) (json.RawMessage, error) {
	switch {
	case field.IsMap():
		return w.entries(v.Map(), depth)
	case !field.IsList():
		return w.message(v.Message(), depth+1)
	}
	var elements [][]byte
	for i := range v.List().Len() {
		element, err := w.message(v.List().Get(i).Message(), depth+1)
		if err != nil {
			return nil, err
		}
		elements = append(elements, element)
	}
	return slices.Concat([]byte("["), bytes.Join(elements, []byte(",")), []byte("]")), nil
}

// entries writes a map of messages.
func (w irregularWriter) entries(values protoreflect.Map, depth int) (written json.RawMessage, err error) {
	var list []member
	values.Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
		var content json.RawMessage
		content, err = w.message(v.Message(), depth+1)
		list = append(list, member{key.String(), content})
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return joinMembers(list), nil
}

// byFields writes the scalars of a well-known type as those of other messages
// are.
func byFields(message protoreflect.Message) json.RawMessage {
	var list []member
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); message.Has(field) {
			list = append(list, member{field.TextName(), scalarJSON(message.Get(field).Interface())})
		}
	}
	return joinMembers(list)
}

// scalarJSON writes what a field of a well-known type holds.
func scalarJSON(value any) json.RawMessage {
	switch value := value.(type) {
	case int64:
		return schema.Quote(strconv.FormatInt(value, 10))
	case float64:
		return schema.Quote(floatName(value))
	case protoreflect.List: // of a FieldMask's paths
		var paths [][]byte
		for i := range value.Len() {
			paths = append(paths, schema.Quote(value.Get(i).String()))
		}
		return slices.Concat([]byte("["), bytes.Join(paths, []byte(",")), []byte("]"))
	}
	written, _ := json.Marshal(value) // an int32 or bytes, which always marshal
	return written
}

// joinMembers makes an object of members.
func joinMembers(list []member) json.RawMessage {
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
