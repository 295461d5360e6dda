package protoschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// explainRequest finds what is wrong with the JSON of a request; err is what
// the library said of it.
func (m Method) explainRequest(content []byte, err error) error {
	x := explainer{method: m}
	input := m.desc.Input()
	if isSpecial(input) {
		return x.badValue("the request", content, wantedMessage(input))
	}
	if _, object := members(content); !object {
		return x.badValue("the request", content, "an object of "+string(input.FullName()))
	}
	if found := x.message(input, content, "", 0); found != nil {
		return found
	}
	return m.fault(cleanProto(err), "", "")
}

// explain does the same for the JSON of one field, which is at.
func (m Method) explain(field protoreflect.FieldDescriptor, content []byte, at, typed string, err error) error {
	x := explainer{method: m, typed: typed}
	if found := x.field(field, content, at, 0); found != nil {
		return found
	}
	return m.fault(cleanProto(err), at, typed)
}

// explainer looks for the first field that the library refuses. It reads every
// part again on its own, so it is for what was refused already.
type explainer struct {
	method Method
	typed  string
}

// member is one name and value of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members lists an object's, in order.
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
		text, _ := name.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		list = append(list, member{text, value})
	}
	return list, true
}

// message explains an object; nil when nothing is wrong with its members, or
// it is none.
func (x explainer) message(message protoreflect.MessageDescriptor, content []byte, at string, depth int) error {
	const deepest = 50
	if isSpecial(message) || depth > deepest {
		return nil
	}
	list, _ := members(content)
	oneofs := map[protoreflect.Name]bool{}
	for _, each := range list {
		if strings.HasPrefix(each.name, "[") {
			continue // an extension
		}
		path := join(at, each.name)
		field := findField(message, each.name)
		if field == nil {
			return x.method.noField(message, path, at, x.typed)
		}
		if oneof := field.ContainingOneof(); oneof != nil && string(each.value) != "null" {
			if oneofs[oneof.Name()] {
				e := x.method.fault(schema.TwoOfOneof, path, x.typed)
				e.Type = string(oneof.Name())
				return e
			}
			oneofs[oneof.Name()] = true
		}
		if !x.refused(message, field, each.value) {
			continue
		}
		if err := x.field(field, each.value, path, depth); err != nil {
			return err
		}
	}
	return nil
}

// refused tells whether the library refuses a field of a message.
func (x explainer) refused(message protoreflect.MessageDescriptor, field protoreflect.FieldDescriptor, content []byte) bool {
	return x.method.readField(dynamicpb.NewMessage(message), field, content) != nil
}

// field explains the value of a field that the library refuses.
func (x explainer) field(field protoreflect.FieldDescriptor, content []byte, at string, depth int) error {
	switch {
	case field.IsMap():
		return x.entries(field, content, at, depth)
	case field.IsList():
		var list []json.RawMessage
		if json.Unmarshal(content, &list) != nil {
			return x.badValue(at, content, fieldType(field))
		}
		for i, element := range list {
			one := fmt.Sprintf("[%s]", element)
			if x.refused(field.ContainingMessage(), field, []byte(one)) {
				return x.value(field, element, fmt.Sprintf("%s[%d]", at, i), depth)
			}
		}
		return nil
	}
	return x.value(field, content, at, depth)
}

func (x explainer) entries(field protoreflect.FieldDescriptor, content []byte, at string, depth int) error {
	list, object := members(content)
	if !object {
		return x.badValue(at, content, fieldType(field))
	}
	for _, each := range list {
		if _, ok := mapKey(field.MapKey(), each.name); !ok {
			return x.badValue(at, schema.Quote(each.name), wanted(field.MapKey())+" as key")
		}
		one := fmt.Sprintf("{%s:%s}", schema.Quote(each.name), each.value)
		if x.refused(field.ContainingMessage(), field, []byte(one)) {
			return x.value(field.MapValue(), each.value, join(at, each.name), depth)
		}
	}
	return nil
}

// value explains one value that the library refuses.
func (x explainer) value(field protoreflect.FieldDescriptor, content []byte, at string, depth int) error {
	if inner := field.Message(); inner != nil {
		if inner.IsPlaceholder() {
			return x.method.set.missing(inner.FullName(), field)
		}
		if isWrapper(inner) {
			return x.badValue(at, content, wantedMessage(inner))
		}
		if err := x.message(inner, content, at, depth+1); err != nil {
			return err
		}
		if _, object := members(content); object && !isSpecial(inner) {
			return nil // the library's own words say more
		}
	}
	want := wanted(field)
	if field.Kind() == protoreflect.BytesKind {
		want += " in base64"
	}
	return x.badValue(at, content, want)
}

func (x explainer) badValue(at string, content []byte, want string) error {
	e := x.method.fault(schema.BadValue, at, x.typed)
	e.Type, e.Value = want, string(content)
	var text string
	if json.Unmarshal(content, &text) == nil && string(content) != "null" {
		e.Value = text
	}
	return e
}
