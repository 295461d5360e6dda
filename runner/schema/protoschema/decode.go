package protoschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// DecodeMessage reads the JSON of one request of m: an object whose names are
// proto names or JSON names, or the form that JSON has for a well-known type, see
// [Method.OwnJSON]. Errors are [*schema.ArgumentError], whose Place is the path of
// the field, and [*DescriptorError].
func DecodeMessage(m Method, content []byte) (proto.Message, error) {
	if offset, err := schema.CheckJSON(content); err != nil {
		return nil, schema.ArgumentErrorf("", "the request is not JSON at byte %d: %v", offset+1, err)
	}
	request := m.NewRequest()
	if err := m.unmarshal(content, request); err != nil {
		return nil, m.locateInRequest(content, err)
	}
	return request, initialized(request)
}

// unmarshal reads JSON into a message, which may lack what is required.
func (m Method) unmarshal(content []byte, into proto.Message) error {
	return protojson.UnmarshalOptions{AllowPartial: true, Resolver: m.set.resolver()}.Unmarshal(content, into)
}

// merge reads the JSON of one field and adds it to a message.
func (m Method) merge(message protoreflect.Message, field protoreflect.FieldDescriptor, content []byte) error {
	read := dynamicpb.NewMessage(plain(message.Descriptor()))
	object := slices.Concat([]byte("{"), schema.Quote(field.TextName()), []byte(":"), content, []byte("}"))
	if err := m.unmarshal(object, read); err != nil {
		return err
	}
	return transfer(read, message.Interface())
}

// transfer adds a message to another one by its bytes: they may be twins.
func transfer(from, to proto.Message) error {
	content, err := proto.MarshalOptions{AllowPartial: true}.Marshal(from)
	if err != nil {
		return err
	}
	return proto.UnmarshalOptions{AllowPartial: true, Merge: true}.Unmarshal(content, to)
}

// initialized rejects a request that lacks a field that proto2 requires.
func initialized(request proto.Message) error {
	if err := proto.CheckInitialized(request); err != nil {
		return schema.ArgumentErrorf("", "%s", cleanProto(err))
	}
	return nil
}

// locateInRequest finds the part of a request's JSON that protojson rejects with
// err.
func (m Method) locateInRequest(content []byte, err error) error {
	input := m.desc.Input()
	list, object := members(content)
	switch {
	case hasOwnJSON(input):
		return m.badJSON("the request", content, wantedMessage(input))
	case !object:
		return m.badJSON("the request", content, "an object of "+string(input.FullName()))
	}
	return m.locateMember(input, list, "", err)
}

// locate finds the part that protojson rejects in the JSON of a field, which is
// at. It reads each part again on its own.
func (m Method) locate(field protoreflect.FieldDescriptor, content []byte, at string, err error) error {
	switch {
	case field.IsMap():
		list, object := members(content)
		if !object {
			return m.badJSON(at, content, fieldType(field))
		}
		for _, entry := range list {
			if err := m.tryField(field, fmt.Appendf(nil, "{%s:%s}", schema.Quote(entry.name), entry.value)); err != nil {
				return m.locateEntry(field, entry, at, err)
			}
		}
	case field.IsList():
		var list []json.RawMessage
		if json.Unmarshal(content, &list) != nil {
			return m.badJSON(at, content, fieldType(field))
		}
		for i, element := range list {
			if err := m.tryField(field, fmt.Appendf(nil, "[%s]", element)); err != nil {
				return m.locateValue(field, element, fmt.Sprintf("%s[%d]", at, i), err)
			}
		}
	}
	return m.locateValue(field, content, at, err)
}

// tryField reads the JSON of a field into a message of its own.
func (m Method) tryField(field protoreflect.FieldDescriptor, content []byte) error {
	return m.merge(dynamicpb.NewMessage(field.ContainingMessage()), field, content)
}

// locateEntry does the same in an entry of a map, whose path is at.
func (m Method) locateEntry(field protoreflect.FieldDescriptor, entry member, at string, err error) error {
	key, ok := textJSON(field.MapKey(), entry.name)
	if !ok || m.tryField(field.MapKey(), key) != nil {
		return m.badJSON(at, schema.Quote(entry.name), wanted(field.MapKey())+" as key")
	}
	return m.locateValue(field.MapValue(), entry.value, join(at, entry.name), err)
}

// locateValue does the same in one value of a field.
func (m Method) locateValue(field protoreflect.FieldDescriptor, content []byte, at string, err error) error {
	if inner := field.Message(); inner != nil {
		if inner.IsPlaceholder() {
			return m.set.missing(inner.FullName(), field)
		}
		if list, object := members(content); object && !hasOwnJSON(inner) {
			return m.locateMember(inner, list, at, err)
		}
	}
	want := wanted(field)
	if strings.HasPrefix(want, "bytes") {
		want += " in base64"
	}
	return m.badJSON(at, content, want)
}

// locateMember does the same in an object of a message. If protojson accepts each
// member on its own, its own words say more: a field is there twice, or two of a
// oneof.
func (m Method) locateMember(message protoreflect.MessageDescriptor, list []member, at string, err error) error {
	const longest = 500 // each level is read again with those above it
	if len(at) > longest {
		list = nil
	}
	for _, each := range list {
		if strings.HasPrefix(each.name, "[") {
			continue // an extension
		}
		field := findField(message, each.name)
		if field == nil {
			return noField(message, at, each.name)
		}
		if err := m.tryField(field, each.value); err != nil {
			return m.locate(field, each.value, join(at, each.name), err)
		}
	}
	return schema.ArgumentErrorf(at, "%s", cleanProto(err))
}

// badJSON reports the JSON of a value that does not fit.
func (m Method) badJSON(at string, content []byte, want string) error {
	var text string
	if json.Unmarshal(content, &text) == nil && string(content) != "null" {
		return schema.BadValue(at, text, want, "the hook is "+m.signature())
	}
	var seen bytes.Buffer
	_ = json.Compact(&seen, content) // it is JSON
	e := schema.ArgumentErrorf(at, "%s is %s, want %s", schema.Short(at), schema.Short(seen.String()), want)
	e.Advice = []string{"the hook is " + m.signature()}
	return e
}

// member is one name and value of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members lists the members of a JSON object in order. It reports whether content
// is an object.
func members(content []byte) ([]member, bool) {
	d := json.NewDecoder(bytes.NewReader(content))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var list []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		each := member{name: fmt.Sprint(name)}
		if d.Decode(&each.value) != nil {
			return nil, false
		}
		list = append(list, each)
	}
	return list, true
}
