package protoschema

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Descriptors describe a plugin's services and messages. A nil value describes none: it only reads
// and writes messages of well-known types. Descriptors never change and are safe for concurrent
// use.
type Descriptors struct {
	files      *protoregistry.Files
	types      *dynamicpb.Types
	methods    []Method          // in the order of their declaration
	short      map[string]int    // the number of methods with the same Service/Method
	sources    map[string]string // the source of each file, for errors
	docs       map[string]string // the documentation of each method, by full name
	incomplete bool              // no source describes one of the used types
}

// index adds the methods of a file.
func (d *Descriptors) index(file protoreflect.FileDescriptor) {
	for service := range each(file.Services()) {
		for method := range each(service.Methods()) {
			d.add(method)
		}
	}
}

// each yields the descriptors in one of protoreflect's lists.
func each[D any](list interface {
	Len() int
	Get(int) D
}) iter.Seq[D] {
	return func(yield func(D) bool) {
		for i := range list.Len() {
			if !yield(list.Get(i)) {
				return
			}
		}
	}
}

// names lists the names of descriptors.
func names[D protoreflect.Descriptor](list iter.Seq[D]) []string {
	names := []string{}
	for d := range list {
		names = append(names, string(d.Name()))
	}
	return names
}

func (d *Descriptors) add(desc protoreflect.MethodDescriptor) {
	m := Method{desc: desc, set: d}
	d.methods = append(d.methods, m)
	if !m.isHidden() {
		d.short[m.shortName()]++
	}
}

// Methods lists the methods in the order of their declaration. It omits the services that every
// gRPC plugin has for its host: health, reflection and go-plugin's.
func (d *Descriptors) Methods() []Method {
	return slices.DeleteFunc(slices.Clone(d.methods), Method.isHidden)
}

// Schema describes the methods that Methods returns.
func (d *Descriptors) Schema(q schema.Query) schema.Schema {
	s := schema.Schema{Hooks: []schema.Hook{}}
	for _, m := range d.Methods() {
		s.Hooks = append(s.Hooks, m.Describe(q))
	}
	return s
}

// Find finds a method by "Method", "Service/Method" or "pkg.Service/Method". It finds hidden
// methods only by their full name. The error is a [*schema.NoHookError], says that the name is
// ambiguous, or is a [*hook.Error] if no source describes the method's own messages.
func (d *Descriptors) Find(name string) (Method, error) {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && !strings.Contains(name, "/") { // a dot before the method, as in the name of a function
		name = name[:dot] + "/" + name[dot+1:]
	}
	service, method, qualified := strings.Cut(name, "/")
	if !qualified {
		service, method = "", name
	}
	var found []Method
	var known, full []string
	for _, m := range d.methods {
		switch {
		case m.FullName() == name:
			return m, m.described()
		case m.isHidden():
			continue
		case qualified: // suggestions compare names of the same form
			known = append(known, m.Name())
		default:
			known = append(known, string(m.desc.Name()))
		}
		if string(m.desc.Name()) == method && (!qualified || strings.HasSuffix("."+m.Service(), "."+service)) {
			found, full = append(found, m), append(full, m.Name())
		}
	}
	switch len(found) {
	case 0:
		return Method{}, &schema.NoHookError{Hook: name, Known: known}
	case 1:
		return found[0], found[0].described()
	}
	return Method{}, fmt.Errorf("%d methods have this name, expected %s", len(found), schema.OneOf(full))
}

// missing returns the error for a symbol that no source describes. user is the field or method that
// refers to it.
func (d *Descriptors) missing(symbol protoreflect.FullName, user protoreflect.Descriptor) error {
	path := user.ParentFile().Path()
	e := faulty(fmt.Errorf("%s is not described, but %s uses it", typeName(symbol), place(path, d.sources[path])))
	e.Reason, e.Hints = MissingImport, []schema.Hint{missingHint}
	return e
}

var missingHint = schema.Hintf("name a file with the missing declarations, using %s or %s; for a protoset, give protoc its option include_imports",
	schema.Setting("proto"), schema.Setting("protoset"))

// typeName removes the mark of an undescribed type from a full name.
func typeName(name protoreflect.FullName) string { return strings.TrimPrefix(string(name), "*.") }

// resolver finds the types of messages and extensions.
func (d *Descriptors) resolver() *dynamicpb.Types {
	if d == nil {
		return dynamicpb.NewTypes(protoregistry.GlobalFiles)
	}
	return d.types
}

// Source contains file descriptors from one place. The zero value is empty.
type Source struct {
	// Name is the place, such as "server reflection" or a file's path, for
	// errors.
	Name  string
	Files []*descriptorpb.FileDescriptorProto
}

// ReadFiles reads serialized FileDescriptorProtos, in the form of server reflection and of
// generated Python code. The error is a [*hook.Error].
func ReadFiles(name string, serialized ...[]byte) (Source, error) {
	s := Source{Name: name}
	for _, content := range serialized {
		file := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(content, file); err != nil {
			return Source{}, unreadable(name, err)
		}
		s.Files = append(s.Files, file)
	}
	return s, nil
}

// ReadProtoset reads a serialized FileDescriptorSet, the output of protoc -o. The error is a
// [*hook.Error].
func ReadProtoset(name string, content []byte) (Source, error) {
	set := new(descriptorpb.FileDescriptorSet)
	if err := proto.Unmarshal(content, set); err != nil {
		return Source{}, unreadable(name, err)
	}
	return Source{Name: name, Files: set.GetFile()}, nil
}

func unreadable(source string, err error) error {
	return faulty(fmt.Errorf("descriptor in %s: %s", source, cleanProto(err)))
}

// The reasons of errors that callers distinguish.
const (
	// Disagree means that two sources describe one symbol differently.
	Disagree = "descriptors-disagree"
	// MissingImport means that no source describes a required symbol.
	MissingImport = "missing-import"
)

// faulty returns the error for descriptors that cannot be read, merged or used. Callers that do not
// make a call change its kind.
func faulty(err error) *hook.Error {
	return &hook.Error{Kind: hook.Request, Err: errors.New(cleanProto(err))}
}

// cleanProto returns the text of a protobuf error without its prefix, after which the library
// writes one of two spaces at random.
func cleanProto(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(text, "proto: ")
}
