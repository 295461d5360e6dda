package protoschema

import (
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

// Method is one gRPC method of a plugin. Methods come from [Descriptors]; the
// zero value is none. It is safe for concurrent use.
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

// IsHostService reports whether a service, by its full name, is one for hosts and tools,
// whose methods are no hooks: health, reflection and go-plugin's own.
func IsHostService(service string) bool {
	switch service {
	case "plugin.GRPCController", "plugin.GRPCBroker", "plugin.GRPCStdio", "grpc.health.v1.Health":
		return true
	}
	return strings.HasPrefix(service, "grpc.reflection.")
}

// Service is the full name of the method's service.
func (m Method) Service() string { return string(m.desc.Parent().FullName()) }

func (m Method) isHidden() bool {
	return IsHostService(m.Service()) || slices.Contains(m.set.without, m.Service())
}

// Name is "Service/Method", with the package before it if another service has
// the same; Find finds the method by it.
func (m Method) Name() string {
	if m.set.short[m.shortName()] > 1 || m.isHidden() {
		return m.FullName()
	}
	return m.shortName()
}

func (m Method) shortName() string {
	return string(m.desc.Parent().Name()) + "/" + string(m.desc.Name())
}

// FullName is "pkg.Service/Method". With a slash before it, it is the path that
// gRPC calls.
func (m Method) FullName() string {
	return m.Service() + "/" + string(m.desc.Name())
}

// Streams is "", "in", "out" or "both", as in [schema.Hook].
func (m Method) Streams() string {
	switch in, out := m.desc.IsStreamingClient(), m.desc.IsStreamingServer(); {
	case in && out:
		return "both"
	case in:
		return "in"
	case out:
		return "out"
	}
	return ""
}

// NewRequest returns an empty request.
func (m Method) NewRequest() proto.Message { return dynamicpb.NewMessage(m.desc.Input()) }

// NewResponse returns an empty response, for [Descriptors.Unmarshal].
func (m Method) NewResponse() proto.Message { return dynamicpb.NewMessage(m.desc.Output()) }

// OwnJSON reports whether JSON writes the request in a form of its own, which may
// not be an object: 3 for a Value, "1.5s" for a Duration. [DecodeMessage] reads it.
func (m Method) OwnJSON() bool { return hasOwnJSON(m.desc.Input()) }

// Hook describes the method as a hook, its fields as parameters by name. A type
// is that of the proto source; a message is "message pkg.M" and an enum
// "enum pkg.E (A, B)". A default is the JSON of the value that an absent field
// has, and null for a field that can be absent. A request that is a Struct takes
// any name.
func (m Method) Hook() schema.Hook {
	doc, _, _ := strings.Cut(m.set.docs[m.FullName()], "\n")
	return schema.Hook{
		Name: m.Name(), Doc: strings.TrimSpace(doc), Streams: m.Streams(),
		Params: params(m.desc.Input()), Returns: outline(m.desc.Output()),
	}
}

// params describes the fields of a message as parameters.
func params(message protoreflect.MessageDescriptor) []schema.Param {
	list := []schema.Param{}
	if isStruct(message) {
		fields := message.Fields().Get(0)
		return append(list, schema.Param{Name: fields.TextName(), Type: kindName(fields.MapValue()), Kind: schema.VarNames})
	}
	defaults := defaults(message)
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		p := schema.Param{
			Name: field.TextName(), Type: fieldType(field), Kind: schema.NameOnly,
			Required: field.Cardinality() == protoreflect.Required,
		}
		if !p.Required {
			p.Default = defaults[p.Name]
		}
		list = append(list, p)
	}
	return list
}

// signature is that of the method, cut if it is long.
func (m Method) signature() string { return m.Hook().ShortSignature() }

// defaults is the JSON of each field's value in an empty message.
func defaults(input protoreflect.MessageDescriptor) map[string]string {
	empty := dynamicpb.NewMessage(input)
	texts := map[string]string{}
	fields := empty.Descriptor().Fields()
	for i := range fields.Len() {
		if fields.Get(i).HasDefault() {
			empty.Set(fields.Get(i), fields.Get(i).Default())
		}
		texts[fields.Get(i).TextName()] = "null"
	}
	written, err := protojson.MarshalOptions{AllowPartial: true, UseProtoNames: true, EmitUnpopulated: true}.Marshal(empty)
	var values map[string]json.RawMessage
	if err != nil || json.Unmarshal(written, &values) != nil {
		return texts
	}
	for name, value := range values {
		texts[name] = string(value)
		if field := fields.ByTextName(name); isInteger(field.Kind()) {
			texts[name] = strings.Trim(texts[name], `"`) // JSON has 64-bit integers as text
		}
	}
	return texts
}

// outline is a message with its fields, such as "pkg.Pair{key: string, n: int32}".
func outline(message protoreflect.MessageDescriptor) string {
	if hasOwnJSON(message) {
		return typeName(message.FullName())
	}
	fields := make([]string, message.Fields().Len())
	for i := range fields {
		field := message.Fields().Get(i)
		fields[i] = field.TextName() + ": " + fieldType(field)
	}
	return typeName(message.FullName()) + "{" + strings.Join(fields, ", ") + "}"
}

// fieldType names a field's type, such as "repeated string".
func fieldType(field protoreflect.FieldDescriptor) string {
	switch {
	case field.IsMap():
		return "map<" + kindName(field.MapKey()) + ", " + kindName(field.MapValue()) + ">"
	case field.IsList():
		return "repeated " + kindName(field)
	}
	return kindName(field)
}

// kindName names the type of one value of a field.
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
	values := field.Enum().Values()
	var names []string
	for i := range min(values.Len(), most) {
		names = append(names, string(values.Get(i).Name()))
	}
	if values.Len() > most {
		names = append(names, "…")
	}
	return fmt.Sprintf("enum %s (%s)", field.Enum().FullName(), strings.Join(names, ", "))
}

// Integer ranges, for errors.
const (
	int32Range  = " from -2147483648 to 2147483647"
	int64Range  = " from -9223372036854775808 to 9223372036854775807"
	uint32Range = " from 0 to 4294967295"
	uint64Range = " from 0 to 18446744073709551615"
)

var integerRanges = map[protoreflect.Kind]string{
	protoreflect.Int32Kind: int32Range, protoreflect.Sint32Kind: int32Range, protoreflect.Sfixed32Kind: int32Range,
	protoreflect.Int64Kind: int64Range, protoreflect.Sint64Kind: int64Range, protoreflect.Sfixed64Kind: int64Range,
	protoreflect.Uint32Kind: uint32Range, protoreflect.Fixed32Kind: uint32Range,
	protoreflect.Uint64Kind: uint64Range, protoreflect.Fixed64Kind: uint64Range,
}

func isInteger(kind protoreflect.Kind) bool { return integerRanges[kind] != "" }

// wanted says what one value of a field must be.
func wanted(field protoreflect.FieldDescriptor) string {
	switch {
	case field.Message() != nil:
		return wantedMessage(field.Message())
	case field.Kind() == protoreflect.StringKind:
		return "string of UTF-8"
	}
	return kindName(field) + integerRanges[field.Kind()]
}

// wantedMessage says what the JSON, or the text, of a message must be.
func wantedMessage(message protoreflect.MessageDescriptor) string {
	if isWrapper(message) {
		return wanted(message.Fields().Get(0))
	}
	return "message " + typeName(message.FullName()) + ownJSON[message.FullName()]
}
