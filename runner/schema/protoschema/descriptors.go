package protoschema

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// Descriptors describe a plugin's services and messages. A nil one describes the
// well-known types alone. It never changes and is safe for concurrent use.
type Descriptors struct {
	files      *protoregistry.Files
	types      *dynamicpb.Types
	services   []protoreflect.ServiceDescriptor
	methods    []Method          // without infrastructure
	short      map[string]int    // the number of methods with a Service/Method
	sources    map[string]string // the source of each file, for errors
	docs       map[string]string // the documentation of each method, by full name
	incomplete bool              // a type is used that no source describes
}

// index lists the services and methods of a file.
func (d *Descriptors) index(path string) {
	file, err := d.files.FindFileByPath(path)
	if err != nil {
		return
	}
	for i := range file.Services().Len() {
		service := file.Services().Get(i)
		d.services = append(d.services, service)
		if isInfrastructure(service.FullName()) {
			continue
		}
		for i := range service.Methods().Len() {
			m := Method{desc: service.Methods().Get(i), set: d}
			d.methods = append(d.methods, m)
			d.short[m.shortName()]++
		}
	}
}

// isInfrastructure reports whether a service is for the host and not a hook.
func isInfrastructure(service protoreflect.FullName) bool {
	switch service {
	case "plugin.GRPCController", "plugin.GRPCBroker", "plugin.GRPCStdio", "grpc.health.v1.Health":
		return true
	}
	return strings.HasPrefix(string(service), "grpc.reflection.")
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
// Methods that Methods leaves out are found by their full name only. Errors are
// [*schema.NoHookError], one about an ambiguous name, and a [*DescriptorError] if
// no source describes the method's own messages.
func (d *Descriptors) Find(name string) (Method, error) {
	service, method, qualified := strings.Cut(name, "/")
	if !qualified {
		service, method = "", name
	}
	if m, ok := d.exact(service, method); ok {
		return m, m.described()
	}
	var found []Method
	for _, m := range d.Methods() {
		full := "." + string(m.desc.Parent().FullName())
		if string(m.desc.Name()) == method && (!qualified || strings.HasSuffix(full, "."+service)) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return Method{}, &schema.NoHookError{Hook: name, Known: d.namesLike(name)}
	case 1:
		return found[0], found[0].described()
	}
	return Method{}, fmt.Errorf("%d methods have this name, want %s", len(found), schema.OneOf(methodNames(found)))
}

// exact finds a method by the full name of its service.
func (d *Descriptors) exact(service, method string) (Method, bool) {
	if d == nil {
		return Method{}, false
	}
	for _, s := range d.services {
		if m := s.Methods().ByName(protoreflect.Name(method)); m != nil && string(s.FullName()) == service {
			return Method{desc: m, set: d}, true
		}
	}
	return Method{}, false
}

// namesLike names the methods in the form of name, in which Find finds them, too:
// a suggestion compares names of one form.
func (d *Descriptors) namesLike(name string) []string {
	service, _, qualified := strings.Cut(name, "/")
	methods := d.Methods()
	bare := map[string]int{}
	for _, m := range methods {
		bare[string(m.desc.Name())]++
	}
	names := methodNames(methods)
	for i, m := range methods {
		switch method := string(m.desc.Name()); {
		case strings.Contains(service, ".") && qualified:
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

// missing reports a symbol that user, a field or a method, refers to and that no
// source describes.
func (d *Descriptors) missing(symbol protoreflect.FullName, user protoreflect.Descriptor) error {
	file := user.ParentFile()
	var imports []string
	for i := range file.Imports().Len() {
		if imported := file.Imports().Get(i); imported.IsPlaceholder() {
			imports = append(imports, imported.Path())
		}
	}
	slices.Sort(imports)
	problem := "does not import it"
	if len(imports) > 0 {
		problem = "imports " + strings.Join(imports, ", ") + ", want one source that has it"
	}
	return &DescriptorError{
		Code: MissingImport, Err: fmt.Errorf("%s is not described: %s %s", typeName(symbol), place(file.Path(), d.sources[file.Path()]), problem),
		Advice: []string{"name a file that declares it with --proto, and the directory of its imports with --proto-path"},
	}
}

// typeName is a full name without the mark of one that no source describes.
func typeName(name protoreflect.FullName) string { return strings.TrimPrefix(string(name), "*.") }

// resolver finds message and extension types by name for JSON.
func (d *Descriptors) resolver() interface {
	protoregistry.MessageTypeResolver
	protoregistry.ExtensionTypeResolver
} {
	if d == nil {
		return protoregistry.GlobalTypes
	}
	return d.types
}
