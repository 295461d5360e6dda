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

	// The well-known types that every plugin may use without sending them.
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
)

// Source is where some file descriptors come from. The zero value has none.
type Source struct {
	// Name says where, such as "server reflection" or a file's path. An error
	// about these files repeats it.
	Name  string
	Files []*descriptorpb.FileDescriptorProto
}

// DescriptorError says which descriptor cannot be read or used.
type DescriptorError struct {
	// Source is where it comes from, empty when that has no name.
	Source string
	// File is the proto file that it describes, empty when it cannot be told.
	File string
	Err  error
}

// Error names source and file.
func (e *DescriptorError) Error() string {
	text := "descriptor"
	if e.File != "" {
		text += " of " + e.File
	}
	if e.Source != "" {
		text += " in " + e.Source
	}
	return text + ": " + cleanProto(e.Err)
}

// Unwrap returns the cause.
func (e *DescriptorError) Unwrap() error { return e.Err }

// ReadFiles reads serialized FileDescriptorProtos, as server reflection sends
// them and generated Python code holds them. The error is a [*DescriptorError].
func ReadFiles(name string, serialized ...[]byte) (Source, error) {
	s := Source{Name: name}
	for _, content := range serialized {
		file := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(content, file); err != nil {
			return Source{}, &DescriptorError{Source: name, Err: err}
		}
		s.Files = append(s.Files, file)
	}
	return s, nil
}

// ReadProtoset reads a serialized FileDescriptorSet, as protoc -o writes it.
// The error is a [*DescriptorError].
func ReadProtoset(name string, content []byte) (Source, error) {
	set := new(descriptorpb.FileDescriptorSet)
	if err := proto.Unmarshal(content, set); err != nil {
		return Source{}, &DescriptorError{Source: name, Err: err}
	}
	return Source{Name: name, Files: set.GetFile()}, nil
}

// Descriptors are what is known of a plugin's services and messages. A nil one
// knows the well-known types alone. It never changes and is safe for
// concurrent use.
type Descriptors struct {
	files    *protoregistry.Files
	types    *dynamicpb.Types
	services []protoreflect.ServiceDescriptor
	methods  []Method          // without infrastructure
	Short    map[string]int    // how many methods have a Service/Method
	from     map[string]string // file to source, for errors
}

// NewDescriptors is [MergeDescriptors] for one source without a name.
func NewDescriptors(files ...*descriptorpb.FileDescriptorProto) (*Descriptors, error) {
	return MergeDescriptors(Source{Files: files})
}

// MergeDescriptors joins what several sources say. The same file or symbol may
// come twice when both say the same of its shape; comments and options do not
// count. The files of package google.protobuf are built in, and those of the
// sources are ignored. An import that no source has is an error only where it
// is needed, see [MissingImportError]. Errors are [*DisagreeError] and
// [*DescriptorError]. The files are not changed, and must not be afterwards.
func MergeDescriptors(sources ...Source) (*Descriptors, error) {
	m := newMerger()
	for _, s := range sources {
		for _, file := range s.Files {
			if err := m.add(s.Name, file); err != nil {
				return nil, err
			}
		}
	}
	m.shareSymbols()
	m.findImports()
	d := &Descriptors{files: new(protoregistry.Files), Short: map[string]int{}, from: m.from}
	build := builder{set: d, merged: m, state: map[string]int{}}
	for _, name := range m.order {
		if err := build.file(name); err != nil {
			return nil, err
		}
	}
	d.types = dynamicpb.NewTypes(d.files)
	d.index(m.order)
	return d, nil
}

// index lists services and methods as they are declared.
func (d *Descriptors) index(order []string) {
	for _, name := range order {
		file, err := d.files.FindFileByPath(name)
		if err != nil {
			continue
		}
		for i := range file.Services().Len() {
			d.services = append(d.services, file.Services().Get(i))
		}
	}
	for _, service := range d.services {
		if isInfrastructure(service.FullName()) {
			continue
		}
		for i := range service.Methods().Len() {
			m := Method{desc: service.Methods().Get(i), set: d}
			d.methods = append(d.methods, m)
			d.Short[m.shortName()]++
		}
	}
}

// builder makes descriptors of merged files, imports before what imports them.
type builder struct {
	set    *Descriptors
	merged *merger
	state  map[string]int
}

const (
	building = iota + 1
	built
)

func (b *builder) file(name string) error {
	file := b.merged.files[name]
	switch {
	case file == nil || b.state[name] == built:
		return nil
	case b.state[name] == building:
		return b.fault(name, fmt.Errorf("it imports itself, directly or through others"))
	}
	b.state[name] = building
	for _, dependency := range file.GetDependency() {
		if err := b.file(dependency); err != nil {
			return err
		}
	}
	made, err := protodesc.FileOptions{AllowUnresolvable: true}.New(file, withBuiltin{b.set.files})
	if err != nil {
		return b.fault(name, err)
	}
	if err := b.set.files.RegisterFile(made); err != nil {
		return b.fault(name, err)
	}
	b.state[name] = built
	return nil
}

func (b *builder) fault(name string, err error) error {
	return &DescriptorError{Source: b.merged.from[name], File: name, Err: err}
}

// withBuiltin finds the well-known types too.
type withBuiltin struct{ files *protoregistry.Files }

func (r withBuiltin) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if isBuiltin(path) {
		return protoregistry.GlobalFiles.FindFileByPath(path)
	}
	return r.files.FindFileByPath(path)
}

func (r withBuiltin) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if found, err := r.files.FindDescriptorByName(name); err == nil {
		return found, nil
	}
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil || !isBuiltin(found.ParentFile().Path()) {
		return nil, protoregistry.NotFound
	}
	return found, nil
}

// isBuiltin tells whether a proto file is one that pyplug brings along.
func isBuiltin(path string) bool {
	if !strings.HasPrefix(path, "google/protobuf/") {
		return false
	}
	_, err := protoregistry.GlobalFiles.FindFileByPath(path)
	return err == nil
}

// resolver finds message and extension types by name for JSON: the plugin's
// own, then those this program is built with.
type resolver struct {
	set *Descriptors
	// opaque are the URLs whose messages are shown as their bytes.
	opaque map[string]bool
}

func (r resolver) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	if r.set != nil {
		if found, err := r.set.types.FindMessageByName(name); err == nil {
			return found, nil
		}
	}
	return protoregistry.GlobalTypes.FindMessageByName(name)
}

func (r resolver) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	if r.opaque[url] {
		return opaqueType, nil
	}
	return r.FindMessageByName(protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:]))
}

func (r resolver) FindExtensionByName(name protoreflect.FullName) (protoreflect.ExtensionType, error) {
	if r.set != nil {
		if found, err := r.set.types.FindExtensionByName(name); err == nil {
			return found, nil
		}
	}
	return protoregistry.GlobalTypes.FindExtensionByName(name)
}

func (r resolver) FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	if r.set != nil {
		if found, err := r.set.types.FindExtensionByNumber(message, field); err == nil {
			return found, nil
		}
	}
	return protoregistry.GlobalTypes.FindExtensionByNumber(message, field)
}

// MissingImportError says that a message is needed of which no source says
// what it looks like.
type MissingImportError struct {
	// Symbol is the message or enum, such as "pkg.Address".
	Symbol string
	// File is the proto file that uses it, and Source where that comes from.
	File, Source string
	// Imports are the imports of File that no source has, one of which
	// declares Symbol.
	Imports []string
}

// Error names the symbol and the imports.
func (e *MissingImportError) Error() string {
	text := fmt.Sprintf("%s is not described: %s", e.Symbol, e.File)
	if e.Source != "" {
		text += " in " + e.Source
	}
	if len(e.Imports) == 0 {
		return text + " does not import it"
	}
	return text + " imports " + strings.Join(e.Imports, ", ") + ", want one source that has it"
}

// missing makes the error about a symbol that user, a field or a method, names.
func (d *Descriptors) missing(symbol protoreflect.FullName, user protoreflect.Descriptor) error {
	file := user.ParentFile()
	e := &MissingImportError{Symbol: strings.TrimPrefix(string(symbol), "*."), File: file.Path()}
	if d != nil {
		e.Source = d.from[file.Path()]
	}
	for i := range file.Imports().Len() {
		if imported := file.Imports().Get(i); imported.IsPlaceholder() {
			e.Imports = append(e.Imports, imported.Path())
		}
	}
	slices.Sort(e.Imports)
	return e
}

// cleanProto is a protobuf error's text without its prefix, after which the
// library writes one of two spaces by chance.
func cleanProto(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(text, "proto: ")
}
