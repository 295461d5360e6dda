package protoschema

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	// The files that are part of protoc, see isBuiltin.
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/apipb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/sourcecontextpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/typepb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
	_ "google.golang.org/protobuf/types/pluginpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// MergeDescriptors joins several sources. Two sources may describe the same symbol if the
// descriptions differ only in comments, options, JSON names, and reserved names and numbers. The
// first description counts. The files of package google.protobuf are built in, and copies in the
// sources are ignored. A missing import is an error only if it is needed. An error is a
// [*hook.Error]. MergeDescriptors does not change the files. The caller must not change them later.
func MergeDescriptors(sources ...Source) (*Descriptors, error) {
	m := merger{declared: map[string]declaration{}, built: map[string]bool{}, set: &Descriptors{
		files: new(protoregistry.Files), sources: map[string]string{},
		docs: map[string]string{}, short: map[string]int{},
	}}
	for _, s := range sources {
		for _, file := range s.Files {
			m.add(s.Name, file)
		}
	}
	if m.err != nil {
		return nil, m.err
	}
	registerOwn(m.set.files, isBuiltin)
	for _, file := range m.files {
		if err := m.build(file); err != nil {
			return nil, err
		}
	}
	registerOwn(m.set.files, func(string) bool { return true })
	m.set.types = dynamicpb.NewTypes(m.set.files)
	for _, file := range m.files {
		if made, err := m.set.files.FindFileByPath(file.GetName()); err == nil {
			m.set.index(made)
		}
	}
	return m.set, nil
}

// merger collects the declarations of several files, each symbol once.
type merger struct {
	files    []*descriptorpb.FileDescriptorProto // without symbols that earlier files declare
	declared map[string]declaration              // by full name
	err      error                               // the first disagreement
	built    map[string]bool                     // false while the imports of a file are being built
	set      *Descriptors
}

// declaration is the first description of a symbol.
type declaration struct {
	file, source string
	descriptor   proto.Message
}

// String returns the file and the source.
func (d declaration) String() string { return place(d.file, d.source) }

func place(path, source string) string {
	file, _, _ := strings.Cut(path, "#")
	if source == "" || source == file {
		return file
	}
	return file + " in " + source
}

// add collects the symbols of a file that no earlier file declares.
func (m *merger) add(source string, file *descriptorpb.FileDescriptorProto) {
	path := file.GetName()
	if isBuiltin(path) {
		return
	}
	if _, twice := m.set.sources[path]; twice {
		path = fmt.Sprintf("%s#%d", path, len(m.files)) // the registry needs unique paths
	}
	m.set.sources[path] = source
	m.readDocs(file)
	at := declaration{file: path, source: source}
	pkg := file.GetPackage()
	m.files = append(m.files, &descriptorpb.FileDescriptorProto{
		Name: &path, Package: file.Package, Syntax: file.Syntax, Edition: file.Edition, Options: file.Options,
		Dependency:  file.Dependency,
		MessageType: undeclared(m, at, pkg, file.MessageType),
		EnumType:    undeclared(m, at, pkg, file.EnumType),
		Service:     undeclared(m, at, pkg, file.Service),
		Extension:   undeclared(m, at, pkg, file.Extension),
	})
}

// undeclared returns the descriptors that no earlier file declares.
func undeclared[D interface {
	proto.Message
	GetName() string
}](m *merger, at declaration, pkg string, list []D) []D {
	var kept []D
	for _, d := range list {
		name := join(pkg, d.GetName())
		before, twice := m.declared[name]
		switch {
		case !twice:
			m.declared[name] = declaration{at.file, at.source, d}
			kept = append(kept, d)
		case m.err == nil && !sameShape(before.descriptor, d):
			e := faulty(fmt.Errorf("descriptors disagree about %s: %s and %s", name, before, at))
			e.Reason, e.Hints = Disagree, schema.Hints("regenerate the code from one set of .proto files: one of them is out of date")
			m.err = e
		}
	}
	return kept
}

// sameShape reports whether two descriptors describe the same bytes. It ignores comments, options,
// JSON names, and reserved names and numbers.
func sameShape(a, b proto.Message) bool {
	if proto.Equal(a, b) {
		return true
	}
	a, b = proto.Clone(a), proto.Clone(b)
	keepShape(a.ProtoReflect())
	keepShape(b.ProtoReflect())
	return proto.Equal(a, b)
}

func keepShape(m protoreflect.Message) {
	m.SetUnknown(nil)
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch name := field.Name(); {
		case name == "options", name == "json_name", name == "reserved_range", name == "reserved_name":
			m.Clear(field)
		case field.Kind() == protoreflect.BoolKind && !v.Bool():
			m.Clear(field) // as if it were absent
		case field.IsList() && field.Message() != nil:
			for i := range v.List().Len() {
				keepShape(v.List().Get(i).Message())
			}
		}
		return true
	})
}

// readDocs stores the comment above each method. Not all sources have comments.
func (m *merger) readDocs(file *descriptorpb.FileDescriptorProto) {
	const serviceField, methodField = 6, 2 // field numbers in a file and in a service
	comments := map[[2]int32]string{}      // by the indexes of a service and a method
	for _, location := range file.GetSourceCodeInfo().GetLocation() {
		if path := location.GetPath(); len(path) == 4 && path[0] == serviceField && path[2] == methodField {
			comments[[2]int32{path[1], path[3]}] = location.GetLeadingComments()
		}
	}
	for i, service := range file.GetService() {
		for n, method := range service.GetMethod() {
			name := join(file.GetPackage(), service.GetName()) + "/" + method.GetName()
			if m.set.docs[name] == "" {
				comment := comments[[2]int32{int32(i), int32(n)}]
				m.set.docs[name] = strings.TrimSpace(strings.ReplaceAll("\n"+comment, "\n ", "\n"))
			}
		}
	}
}

// build builds the descriptors of a file after those of the files that it needs.
func (m *merger) build(file *descriptorpb.FileDescriptorProto) error {
	path := file.GetName()
	fault := func(err error) error {
		return faulty(fmt.Errorf("descriptor of %s: %w", place(path, m.set.sources[path]), err))
	}
	if built, begun := m.built[path]; built {
		return nil
	} else if begun {
		return fault(fmt.Errorf("it imports itself, directly or through others"))
	}
	m.built[path] = false
	file.Dependency = m.imports(file)
	for _, other := range m.files {
		if slices.Contains(file.Dependency, other.GetName()) {
			if err := m.build(other); err != nil {
				return err
			}
		}
	}
	made, err := protodesc.FileOptions{AllowUnresolvable: true}.New(file, m.set.files)
	if err != nil {
		return fault(err)
	}
	if err := m.set.files.RegisterFile(made); err != nil {
		return fault(err)
	}
	m.built[path] = true
	return nil
}

// imports returns the new imports of a file: the files that declare the symbols that it uses, even
// if it does not import them, and its own imports that no source has.
func (m *merger) imports(file *descriptorpb.FileDescriptorProto) []string {
	var paths []string
	for _, path := range file.GetDependency() {
		if _, known := m.set.sources[path]; !known {
			paths = append(paths, path)
		}
	}
	use := func(symbol string) {
		path := m.fileOf(strings.TrimPrefix(symbol, "."))
		m.set.incomplete = m.set.incomplete || path == "" && symbol != ""
		if path != "" && path != file.GetName() && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	used(file.MessageType, file.Extension, use)
	for _, service := range file.Service {
		for _, method := range service.Method {
			use(method.GetInputType())
			use(method.GetOutputType())
		}
	}
	return paths
}

// fileOf returns the file that declares a symbol or a scope that contains it, or "".
func (m *merger) fileOf(symbol string) string {
	if found, err := m.set.files.FindDescriptorByName(protoreflect.FullName(symbol)); err == nil {
		return found.ParentFile().Path()
	}
	for ; symbol != ""; symbol = symbol[:max(0, strings.LastIndexByte(symbol, '.'))] {
		if at, known := m.declared[symbol]; known {
			return at.file
		}
	}
	return ""
}

// used yields the full names of the types that fields and messages refer to.
func used(messages []*descriptorpb.DescriptorProto, fields []*descriptorpb.FieldDescriptorProto, yield func(string)) {
	for _, field := range fields {
		yield(field.GetTypeName())
		yield(field.GetExtendee())
	}
	for _, message := range messages {
		used(message.NestedType, slices.Concat(message.Field, message.Extension), yield)
	}
}

// isBuiltin reports whether a proto file is part of protoc. No source needs to describe it.
func isBuiltin(path string) bool {
	_, err := protoregistry.GlobalFiles.FindFileByPath(path)
	return err == nil && strings.HasPrefix(path, "google/protobuf/")
}

// registerOwn adds the files that are built into this program, such as the error details of
// package google.rpc. It skips files that conflict with the plugin's.
func registerOwn(files *protoregistry.Files, only func(path string) bool) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if _, err := files.FindFileByPath(file.Path()); err != nil && only(file.Path()) {
			_ = files.RegisterFile(file) // a conflict changes nothing
		}
		return true
	})
}
