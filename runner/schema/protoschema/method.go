package protoschema

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// Method is one gRPC method of a plugin, from [Descriptors]. It is safe for concurrent use. Its
// zero value is not usable.
type Method struct {
	desc protoreflect.MethodDescriptor
	set  *Descriptors
}

// described returns an error if the method's own messages are not described.
func (m Method) described() error {
	for _, message := range []protoreflect.MessageDescriptor{m.desc.Input(), m.desc.Output()} {
		if message.IsPlaceholder() {
			return m.set.missing(message.FullName(), m.desc)
		}
	}
	return nil
}

// IsHostService reports whether a service is for hosts and tools: health, reflection and
// go-plugin's own. Its methods are not hooks.
func IsHostService(service string) bool {
	switch service {
	case "plugin.GRPCController", "plugin.GRPCBroker", "plugin.GRPCStdio", "grpc.health.v1.Health":
		return true
	}
	return strings.HasPrefix(service, "grpc.reflection.")
}

// Service returns the full name of the method's service.
func (m Method) Service() string { return string(m.desc.Parent().FullName()) }

func (m Method) isHidden() bool { return IsHostService(m.Service()) }

// Name returns "Service/Method", or the full name if another service has the same short name. Find
// accepts it.
func (m Method) Name() string {
	if m.set.short[m.shortName()] > 1 || m.isHidden() {
		return m.FullName()
	}
	return m.shortName()
}

func (m Method) shortName() string {
	return string(m.desc.Parent().Name()) + "/" + string(m.desc.Name())
}

// FullName returns "pkg.Service/Method". gRPC's path is the same with a leading slash.
func (m Method) FullName() string {
	return m.Service() + "/" + string(m.desc.Name())
}

// Set returns the descriptors that contain the method.
func (m Method) Set() *Descriptors { return m.set }

// Streams reports whether the client and the server of the method stream.
func (m Method) Streams() (in, out bool) {
	return m.desc.IsStreamingClient(), m.desc.IsStreamingServer()
}

// streams contains the values of Streams in [schema.Hook].
var streams = map[[2]bool]string{{true, false}: "in", {false, true}: "out", {true, true}: "both"}

// NewRequest returns an empty request.
func (m Method) NewRequest() proto.Message { return dynamicpb.NewMessage(m.desc.Input()) }

// NewResponse returns an empty response, for [Descriptors.Unmarshal].
func (m Method) NewResponse() proto.Message { return dynamicpb.NewMessage(m.desc.Output()) }

// OwnJSON reports whether the request is a well-known type with its own JSON, which may not be an
// object: 3 for a Value, "1.5s" for a Duration. [DecodeMessage] reads it.
func (m Method) OwnJSON() bool { return hasOwnJSON(m.desc.Input()) }

// Describe describes the method as a hook. The fields of its request are the parameters. A type has
// the form of the proto source, a message the form "message pkg.M", an enum the form "enum pkg.E
// (A, B)". The template contains the defaults. A request that is a Struct accepts any name.
func (m Method) Describe(q schema.Query) schema.Hook {
	comment := m.set.docs[m.FullName()]
	doc, _, _ := strings.Cut(comment, "\n")
	isDetailed := q.Hook != ""
	in, out := m.Streams()
	h := schema.Hook{
		Name: m.Name(), Doc: strings.TrimSpace(doc), Streams: streams[[2]bool{in, out}],
		Params: params(m.desc.Input(), isDetailed), Returns: outline(m.desc.Output()),
	}
	if isDetailed || q.Input {
		h.Documentation = comment
	}
	if isDetailed {
		h.Template, h.Messages = m.Template(), m.messages()
	}
	if q.Input {
		h.Input = inputOf(m.desc.Input())
	}
	return h
}

// params describes the fields of a message as parameters. If isDetailed is set, it includes the
// values of enums.
func params(message protoreflect.MessageDescriptor, isDetailed bool) []schema.Param {
	list := []schema.Param{}
	if isStruct(message) {
		fields := message.Fields().Get(0)
		return append(list, schema.Param{Name: fields.TextName(), Type: kindName(fields.MapValue()), Kind: schema.VarNames})
	}
	for field := range each(message.Fields()) {
		p := schema.Param{
			Name: field.TextName(), Type: fieldType(field), Kind: schema.NameOnly, Required: field.Cardinality() == protoreflect.Required,
			Flag: isFlag(field),
		}
		if isDetailed && field.Enum() != nil {
			for _, name := range names(each(field.Enum().Values())) {
				p.Choices = append(p.Choices, schema.Quote(name))
			}
		}
		list = append(list, p)
	}
	return list
}

// hint returns a hint with the signature of the method, which is cut if it is long.
func (m Method) hint() schema.Hint {
	return schema.Hintf("match the signature %s", m.Describe(schema.Query{}).ShortSignature())
}

// outline returns a message with its fields, such as "pkg.Pair{key: string, n: int32}".
func outline(message protoreflect.MessageDescriptor) string {
	if hasOwnJSON(message) {
		return typeName(message.FullName())
	}
	var fields []string
	for field := range each(message.Fields()) {
		fields = append(fields, field.TextName()+": "+fieldType(field))
	}
	return typeName(message.FullName()) + "{" + strings.Join(fields, ", ") + "}"
}

// fieldType returns the name of a field's type, such as "repeated string".
func fieldType(field protoreflect.FieldDescriptor) string {
	switch {
	case field.IsMap():
		return "map<" + kindName(field.MapKey()) + ", " + kindName(field.MapValue()) + ">"
	case field.IsList():
		return "repeated " + kindName(field)
	}
	return kindName(field)
}

// kindName returns the name of the type of one value of a field.
func kindName(field protoreflect.FieldDescriptor) string {
	switch {
	case field.Message() != nil:
		return "message " + typeName(field.Message().FullName())
	case field.Enum() == nil:
		return field.Kind().String()
	case field.Enum().IsPlaceholder():
		return "enum " + typeName(field.Enum().FullName())
	}
	const most = 20
	var values []string
	for value := range each(field.Enum().Values()) { // stop early, because many fields may have a large enum
		if len(values) == most {
			values = append(values, "…")
			break
		}
		values = append(values, string(value.Name()))
	}
	return fmt.Sprintf("enum %s (%s)", field.Enum().FullName(), strings.Join(values, ", "))
}

// wanted describes the values that a field accepts.
func wanted(field protoreflect.FieldDescriptor) string {
	switch {
	case field.Message() != nil:
		return wantedMessage(field.Message())
	case field.Kind() == protoreflect.StringKind:
		return "string of UTF-8"
	}
	return kindName(field)
}

// wantedMessage describes the JSON or text that a message accepts.
func wantedMessage(message protoreflect.MessageDescriptor) string {
	if isWrapper(message) {
		return wanted(message.Fields().Get(0))
	}
	return "message " + typeName(message.FullName()) + ownJSONs[message.FullName()].form
}

// messages describes the messages in the request and the answer.
func (m Method) messages() (found []schema.Message) {
	const most = 100
	seen := map[protoreflect.FullName]bool{m.desc.Input().FullName(): true}
	var visit func(protoreflect.MessageDescriptor)
	visit = func(message protoreflect.MessageDescriptor) {
		for field := range each(message.Fields()) {
			inner := field.Message()
			if inner == nil || hasOwnJSON(inner) || inner.IsPlaceholder() || seen[inner.FullName()] || len(seen) > most {
				continue
			}
			seen[inner.FullName()] = true
			if !inner.IsMapEntry() {
				found = append(found, schema.Message{Name: string(inner.FullName()), Fields: params(inner, true)})
			}
			visit(inner)
		}
	}
	visit(m.desc.Input())
	visit(m.desc.Output())
	return found
}

// Template returns an example request as JSON. It has every field with its default, and the first
// field of each oneof. A message inside itself is null, as is each message beyond a size limit.
// [DecodeMessage] reads it.
func (m Method) Template() []byte {
	request := dynamicpb.NewMessage(m.desc.Input())
	t := templater{open: map[protoreflect.FullName]bool{}}
	t.fill(request)
	text, err := protojson.MarshalOptions{AllowPartial: true, UseProtoNames: true, EmitUnpopulated: true}.Marshal(request)
	if err != nil {
		return []byte("null") // an empty Value has no JSON
	}
	return text
}

// templater sets the fields that protojson omits from an empty message.
type templater struct {
	open  map[protoreflect.FullName]bool // the messages that contain the current one
	count int
}

func (t *templater) fill(message protoreflect.Message) {
	const maxMessages, deepest = 500, 16
	name := message.Descriptor().FullName()
	if t.count++; hasOwnJSON(message.Descriptor()) {
		return
	}
	t.open[name] = true
	defer delete(t.open, name)
	for field := range each(message.Descriptor().Fields()) {
		inner, oneof := field.Message(), field.ContainingOneof()
		switch {
		case !field.HasPresence() || oneof != nil && oneof.Fields().Get(0) != field:
		case inner == nil:
			message.Set(field, field.Default())
		case inner.FullName() == "google.protobuf.Value", inner.IsPlaceholder(), t.open[inner.FullName()]:
		case t.count < maxMessages && len(t.open) < deepest:
			t.fill(message.Mutable(field).Message())
		}
	}
}
