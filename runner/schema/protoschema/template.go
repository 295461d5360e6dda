package protoschema

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Template is an empty request as indented JSON, to be filled in: every field with
// its default, the first field of a oneof, and null where a message would contain
// itself or the template would grow too large. [DecodeMessage] reads it.
func (m Method) Template() []byte {
	request := dynamicpb.NewMessage(m.desc.Input())
	t := templater{open: map[protoreflect.FullName]bool{}}
	t.fill(request)
	text, err := protojson.MarshalOptions{AllowPartial: true, UseProtoNames: true, EmitUnpopulated: true}.Marshal(request)
	if err != nil {
		return []byte("null") // a Value
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return text
	}
	return indented.Bytes()
}

// templater sets the fields that protojson leaves out of an empty message.
type templater struct {
	open  map[protoreflect.FullName]bool // the messages around
	count int
}

func (t *templater) fill(message protoreflect.Message) {
	const mostMessages, deepest = 500, 16
	name, fields := message.Descriptor().FullName(), message.Descriptor().Fields()
	if t.count++; hasOwnJSON(message.Descriptor()) {
		return
	}
	t.open[name] = true
	defer delete(t.open, name)
	for i := range fields.Len() {
		field, inner := fields.Get(i), fields.Get(i).Message()
		oneof := field.ContainingOneof()
		switch {
		case !field.HasPresence() || oneof != nil && oneof.Fields().Get(0) != field:
		case inner == nil:
			message.Set(field, field.Default())
		case inner.FullName() == "google.protobuf.Value", inner.IsPlaceholder(), t.open[inner.FullName()]:
		case t.count < mostMessages && len(t.open) < deepest:
			t.fill(message.Mutable(field).Message())
		}
	}
}
