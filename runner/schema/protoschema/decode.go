package protoschema

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// DecodeMessage reads the JSON of one request of m: an object whose names are proto
// names or JSON names, or the form that JSON has for a well-known type, see
// [Method.OwnJSON]. Errors are [*schema.ArgumentError].
func DecodeMessage(m Method, content []byte) (proto.Message, error) {
	request, input := m.NewRequest(), m.desc.Input()
	err := m.unmarshal(content, request)
	if err == nil {
		return request, initialized(request)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(content, &fields) == nil && !m.OwnJSON() {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if findField(input, name) == nil && !strings.HasPrefix(name, "[") { // an extension
				return nil, noField(input, "", name)
			}
		}
	}
	return nil, m.unfit("", wantedMessage(input), cleanProto(err))
}

// unmarshal reads JSON into a message, which may lack what is required.
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
	e.Advice = []string{"the hook is " + m.signature()}
	if m.set.incomplete {
		e.Advice = append(e.Advice, missingAdvice)
	}
	return e
}
