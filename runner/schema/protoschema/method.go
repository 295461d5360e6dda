package protoschema

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// Method is one gRPC method of a plugin. The zero value is none, and has no
// use; methods come from [Descriptors]. It is safe for concurrent use.
type Method struct {
	desc protoreflect.MethodDescriptor
	set  *Descriptors
}

// AmbiguousError says that a name stands for several methods.
type AmbiguousError struct {
	Hook string
	// Candidates are names that stand for one method each.
	Candidates []string
}

// Error names the candidates, the first of very many. The hook is named by who
// tells the error.
func (e *AmbiguousError) Error() string {
	const most = 20
	named := strings.Join(e.Candidates[:min(len(e.Candidates), most)], ", ")
	if len(e.Candidates) > most {
		named += ", …"
	}
	return fmt.Sprintf("%d methods have this name, want one of %s", len(e.Candidates), named)
}

// Methods lists the methods as they are declared, without those of the services
// that every gRPC plugin has for its host: health, reflection and go-plugin's.
func (d *Descriptors) Methods() []Method {
	if d == nil {
		return nil
	}
	return slices.Clone(d.methods)
}

// Services lists the full names of all services as they are declared.
func (d *Descriptors) Services() []string {
	if d == nil {
		return nil
	}
	names := make([]string, 0, len(d.services))
	for _, service := range d.services {
		names = append(names, string(service.FullName()))
	}
	return names
}

// Schema describes all of Methods.
func (d *Descriptors) Schema() schema.Schema {
	s := schema.Schema{Hooks: []schema.Hook{}}
	for _, m := range d.Methods() {
		s.Hooks = append(s.Hooks, m.Hook())
	}
	return s
}

// Find finds a method by "Method", "Service/Method" or "pkg.Service/Method".
// Methods that Methods leaves out are found by their full name alone. Errors
// are [*schema.NoHookError], [*AmbiguousError], and [*MissingImportError] when no
// source describes the method's own messages.
func (d *Descriptors) Find(name string) (Method, error) {
	var found []Method
	service, method, qualified := strings.Cut(name, "/")
	if !qualified {
		service, method = "", name
	}
	if d != nil && qualified {
		if m, ok := d.exact(service, method); ok {
			return m, m.described()
		}
	}
	for _, m := range d.Methods() {
		full := string(m.desc.Parent().FullName())
		fits := !qualified || full == service || strings.HasSuffix(full, "."+service)
		if fits && string(m.desc.Name()) == method {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return Method{}, &schema.NoHookError{Hook: name, Known: d.namesLike(name)}
	case 1:
		return found[0], found[0].described()
	}
	return Method{}, &AmbiguousError{Hook: name, Candidates: methodNames(found)}
}

// exact finds a method by the full name of its service.
func (d *Descriptors) exact(service, method string) (Method, bool) {
	for _, s := range d.services {
		if string(s.FullName()) != service {
			continue
		}
		if m := s.Methods().ByName(protoreflect.Name(method)); m != nil {
			return Method{desc: m, set: d}, true
		}
	}
	return Method{}, false
}

// namesLike names the methods in the form that name has, by which Find finds
// them too: so it can be seen which of them is meant.
func (d *Descriptors) namesLike(name string) []string {
	service, _, qualified := strings.Cut(name, "/")
	names := methodNames(d.Methods())
	bare := map[string]int{}
	for _, m := range d.Methods() {
		bare[string(m.desc.Name())]++
	}
	for i, m := range d.Methods() {
		switch method := string(m.desc.Name()); {
		case qualified && strings.Contains(service, "."):
			names[i] = m.FullName()
		case !qualified && bare[method] == 1:
			names[i] = method
		}
	}
	return names
}

func methodNames(methods []Method) []string {
	var names []string
	for _, m := range methods {
		names = append(names, m.Name())
	}
	return names
}

// isInfrastructure tells whether a service is for the host and no hook.
func isInfrastructure(service protoreflect.FullName) bool {
	switch service {
	case "plugin.GRPCController", "plugin.GRPCBroker", "plugin.GRPCStdio", "grpc.health.v1.Health":
		return true
	}
	return strings.HasPrefix(string(service), "grpc.reflection.")
}

// described returns an error when the method's own messages are not known.
func (m Method) described() error {
	for _, message := range []protoreflect.MessageDescriptor{m.desc.Input(), m.desc.Output()} {
		if message.IsPlaceholder() {
			return m.set.missing(message.FullName(), m.desc)
		}
	}
	return nil
}

// Name is "Service/Method", with the package before it where another service
// has the same; Find finds the method by it.
func (m Method) Name() string {
	service := m.desc.Parent().FullName()
	if m.set.Short[m.shortName()] > 1 || isInfrastructure(service) {
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
	return string(m.desc.Parent().FullName()) + "/" + string(m.desc.Name())
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

// NewResponse returns an empty response, to be read into.
func (m Method) NewResponse() proto.Message { return dynamicpb.NewMessage(m.desc.Output()) }

// Hook describes the method as a hook, its fields as parameters by name. A
// type is that of the proto source; a message is "message pkg.M" and an enum
// "enum pkg.E (A, B)". A default is the JSON of what an absent field means,
// and null for a field that can be absent. A request that is a Struct takes any
// name.
func (m Method) Hook() schema.Hook {
	h := schema.Hook{
		Name: m.Name(), Doc: comment(m.desc), Streams: m.Streams(), Params: []schema.Param{},
		Returns: shape(m.desc.Output()),
	}
	fields := m.desc.Input().Fields()
	if isStruct(m.desc.Input()) && fields.Len() == 1 {
		h.Params = append(h.Params, schema.Param{
			Name: fields.Get(0).TextName(), Type: kindName(fields.Get(0).MapValue()), Kind: schema.VarNames,
		})
		return h
	}
	for i := range fields.Len() {
		field := fields.Get(i)
		h.Params = append(h.Params, schema.Param{
			Name: field.TextName(), Type: fieldType(field), Default: fieldDefault(field), Kind: schema.NameOnly,
			Required: field.Cardinality() == protoreflect.Required,
		})
	}
	return h
}

// OwnJSON tells whether the JSON of a request is in a way of its own, which may
// be no object: 3 for a Value, "1.5s" for a Duration. [DecodeMessage] reads it.
func (m Method) OwnJSON() bool { return isSpecial(m.desc.Input()) }

// comment is the first line of what the source says of a declaration.
func comment(d protoreflect.Descriptor) string {
	text := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// shape is a message with its fields, such as "pkg.Pair{key: string, n: int32}".
func shape(message protoreflect.MessageDescriptor) string {
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(string(message.FullName()), "*."))
	if isSpecial(message) {
		return b.String()
	}
	b.WriteByte('{')
	fields := message.Fields()
	for i := range fields.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(fields.Get(i).TextName() + ": " + fieldType(fields.Get(i)))
	}
	b.WriteByte('}')
	return b.String()
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
	case field.Enum() != nil && !field.Enum().IsPlaceholder():
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
	case field.Enum() != nil:
		return "enum " + strings.TrimPrefix(string(field.Enum().FullName()), "*.")
	case field.Message() != nil:
		return "message " + strings.TrimPrefix(string(field.Message().FullName()), "*.")
	}
	return field.Kind().String()
}

// fieldDefault is the JSON of what an absent field means.
func fieldDefault(field protoreflect.FieldDescriptor) string {
	switch {
	case field.Cardinality() == protoreflect.Required:
		return ""
	case field.IsMap():
		return "{}"
	case field.IsList():
		return "[]"
	case field.HasPresence() && !field.HasDefault():
		return "null"
	}
	return string(scalarDefault(field))
}
