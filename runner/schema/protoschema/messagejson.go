package protoschema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/pyplug/pyplug/runner/schema"
)

// DecodeMessage reads the JSON of one request of m: an object whose names are
// proto names or JSON names, or of a well-known type what JSON has for it, see
// [Method.OwnJSON]. Errors are [*schema.ArgumentError], whose Param is the path of
// the field, or [*MissingImportError].
func DecodeMessage(m Method, content []byte) (proto.Message, error) {
	if offset, err := schema.CheckJSON(string(content)); err != nil {
		return nil, m.fault(fmt.Sprintf("the request is not JSON at byte %d: %v", offset+1, err), "", "")
	}
	request := m.NewRequest()
	if err := m.unmarshal(content, request); err != nil {
		return nil, m.explainRequest(content, err)
	}
	if err := required(m, request); err != nil {
		return nil, err
	}
	return request, nil
}

// unmarshal reads JSON into a message, which may lack what is required.
func (m Method) unmarshal(content []byte, into proto.Message) error {
	return protojson.UnmarshalOptions{AllowPartial: true, Resolver: resolver{set: m.set}}.Unmarshal(content, into)
}

// EncodeOptions say how a message is written. The zero value writes what is
// set, and knows the messages inside an Any that are built in.
type EncodeOptions struct {
	// EmitDefaults writes scalars, lists and maps that are not set too.
	EmitDefaults bool
	// Descriptors know the messages inside an Any.
	Descriptors *Descriptors
}

// MessageError says that a message cannot be read, or has no JSON.
type MessageError struct {
	// Message is its type.
	Message string
	// Read tells that its bytes could not be read.
	Read bool
	Err  error
}

// Error names the message.
func (e *MessageError) Error() string {
	if e.Read {
		return fmt.Sprintf("message %s cannot be read: %s", e.Message, cleanProto(e.Err))
	}
	return fmt.Sprintf("message %s has no JSON: %s", e.Message, cleanProto(e.Err))
}

// Unwrap returns the cause.
func (e *MessageError) Unwrap() error { return e.Err }

// Unmarshal reads bytes that a plugin sent; it is for all messages of
// [Method.NewResponse]. It knows the plugin's own extensions; one that nobody
// declares is dropped from what EncodeMessage writes. [proto.Unmarshal] panics on
// some bytes when a message has no generated code: on an entry of a map that has
// its key twice, the second time as another type. Here that is an error too, a
// [*MessageError].
func (d *Descriptors) Unmarshal(content []byte, into proto.Message) error {
	return unmarshalMessage(content, into, resolver{set: d})
}

func unmarshalMessage(content []byte, into proto.Message, r resolver) (err error) {
	name := string(into.ProtoReflect().Descriptor().FullName())
	defer func() {
		if p := recover(); p != nil {
			err = &MessageError{Message: name, Read: true, Err: fmt.Errorf("malformed: %v", p)}
		}
	}()
	if err := (proto.UnmarshalOptions{AllowPartial: true, Resolver: r}).Unmarshal(content, into); err != nil {
		return &MessageError{Message: name, Read: true, Err: err}
	}
	return nil
}

// opaqueType is what stands in an Any for a message nobody can read: JSON then
// has its bytes as "value".
var opaqueType = (&wrapperspb.BytesValue{}).ProtoReflect().Type()

// EncodeMessage writes a message as one line of JSON with proto names, the same
// for the same message. An Any whose message is not known, or not well formed,
// is {"@type": URL, "value": "its bytes in base64"}, as are then all of that
// URL in the message. A well-known type that holds what its JSON has no form for
// is written by its fields, such as {"paths": ["b_1"]} or {"seconds": "1", "nanos":
// -1}; a Value that is not set is null. Errors are [*MessageError] and
// [*MissingImportError]. The message is not changed.
func EncodeMessage(message proto.Message, o EncodeOptions) (json.RawMessage, error) {
	s := anyScan{resolver: resolver{set: o.Descriptors, opaque: map[string]bool{}}}
	s.message(message.ProtoReflect(), 0)
	if s.err != nil {
		return nil, s.err
	}
	name := string(message.ProtoReflect().Descriptor().FullName())
	if len(s.opaque) > 0 {
		message = proto.Clone(message)
		if err := s.wrap(message.ProtoReflect()); err != nil {
			return nil, &MessageError{Message: name, Err: err}
		}
	}
	written, err := irregularWriter{protojson.MarshalOptions{
		AllowPartial: true, UseProtoNames: true, EmitDefaultValues: o.EmitDefaults, Resolver: s.resolver,
	}, &s}.message(message.ProtoReflect(), 0)
	if err != nil {
		return nil, &MessageError{Message: name, Err: err}
	}
	// The library adds spaces by chance.
	var line bytes.Buffer
	line.Grow(len(written))
	if err := json.Compact(&line, written); err != nil {
		return nil, &MessageError{Message: name, Err: err}
	}
	return line.Bytes(), nil
}

// anyScan finds what stops a message from being written.
type anyScan struct {
	resolver
	err error
}

// message finds the Any that nobody can read, and messages that no source
// describes.
func (s *anyScan) message(message protoreflect.Message, depth int) {
	if url, content, ok := openAny(message); ok {
		const deepest = 32 // each one inside is read again with those around it
		inner, known := s.open(url, content)
		if !known || depth > deepest {
			s.opaque[url] = true
			return
		}
		s.message(inner, depth+1)
		return
	}
	eachMessage(message, func(field protoreflect.FieldDescriptor, inner protoreflect.Message) {
		if inner.Descriptor().IsPlaceholder() && s.err == nil {
			s.err = s.set.missing(inner.Descriptor().FullName(), field)
		}
		s.message(inner, depth)
	})
}

// open reads what is in an Any.
func (s *anyScan) open(url string, content []byte) (protoreflect.Message, bool) {
	found, err := resolver{set: s.set}.FindMessageByURL(url)
	if err != nil {
		return nil, false
	}
	inner := found.New()
	return inner, unmarshalMessage(content, inner.Interface(), s.resolver) == nil
}

// wrap puts the bytes of each opaque Any where opaqueType has them.
func (s *anyScan) wrap(message protoreflect.Message) (err error) {
	if url, content, ok := openAny(message); ok {
		var inner proto.Message
		if s.opaque[url] {
			inner = wrapperspb.Bytes(content)
		} else {
			opened, known := s.open(url, content)
			if !known {
				return fmt.Errorf("%s cannot be read twice", url)
			}
			if err := s.wrap(opened); err != nil {
				return err
			}
			inner = opened.Interface()
		}
		content, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(inner)
		if err != nil {
			return err
		}
		message.Set(message.Descriptor().Fields().ByName("value"), protoreflect.ValueOfBytes(content))
		return nil
	}
	eachMessage(message, func(_ protoreflect.FieldDescriptor, inner protoreflect.Message) {
		if err == nil {
			err = s.wrap(inner)
		}
	})
	return err
}

// openAny tells what is in an Any; ok is false for an empty one and for any
// other message.
func openAny(message protoreflect.Message) (url string, content []byte, ok bool) {
	d := message.Descriptor()
	if d.FullName() != "google.protobuf.Any" {
		return "", nil, false
	}
	field, value := d.Fields().ByName("type_url"), d.Fields().ByName("value")
	if field == nil || value == nil || !message.Has(field) {
		return "", nil, false
	}
	return message.Get(field).String(), message.Get(value).Bytes(), true
}

// SoleText returns the one field of a message that is a string or bytes. It is
// not ok when there is none, when there are several, and when it is repeated;
// fields of other types, and what is inside them, do not count.
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
