package protoschema

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// DisagreeError says that two sources describe one thing in two ways.
type DisagreeError struct {
	// Symbol is the message, enum, service or extension, such as "pkg.Address";
	// the file's path when the files have no symbol in common.
	Symbol string
	// First and Second say which file of which source.
	First, Second string
}

// Error names the symbol and both sides.
func (e *DisagreeError) Error() string {
	return fmt.Sprintf("descriptors disagree about %s: %s and %s", e.Symbol, e.First, e.Second)
}

// merger collects files, each once, and who declared which symbol first.
type merger struct {
	files   map[string]*descriptorpb.FileDescriptorProto
	order   []string
	from    map[string]string // file to source
	symbols map[string]declared
	shared  map[string]map[string]string // file to symbol to the file that has it already
}

type declared struct {
	file string
	as   proto.Message
}

func newMerger() *merger {
	return &merger{
		files: map[string]*descriptorpb.FileDescriptorProto{}, from: map[string]string{},
		symbols: map[string]declared{}, shared: map[string]map[string]string{},
	}
}

func (m *merger) add(source string, file *descriptorpb.FileDescriptorProto) error {
	name := file.GetName()
	if isBuiltin(name) {
		return nil
	}
	if before, twice := m.files[name]; twice {
		if !sameShape(before, file) {
			return &DisagreeError{
				Symbol: differs(before, file), First: side(name, m.from[name]), Second: side(name, source),
			}
		}
		if before.SourceCodeInfo == nil && file.SourceCodeInfo != nil {
			m.files[name], m.from[name] = file, source // it has the comments
		}
		return nil
	}
	m.files[name], m.from[name] = file, source
	m.order = append(m.order, name)
	for symbol, d := range symbols(file) {
		before, twice := m.symbols[symbol]
		if !twice {
			m.symbols[symbol] = declared{name, d}
			continue
		}
		if !sameShape(before.as, d) {
			return &DisagreeError{
				Symbol: symbol, First: side(before.file, m.from[before.file]), Second: side(name, source),
			}
		}
		if m.shared[name] == nil {
			m.shared[name] = map[string]string{}
		}
		m.shared[name][symbol] = before.file
	}
	return nil
}

func side(file, source string) string {
	if source == "" || source == file {
		return file
	}
	return file + " in " + source
}

// symbols yields what a file declares at its top, with the full names.
func symbols(file *descriptorpb.FileDescriptorProto) func(yield func(string, proto.Message) bool) {
	prefix := ""
	if file.GetPackage() != "" {
		prefix = file.GetPackage() + "."
	}
	return func(yield func(string, proto.Message) bool) {
		for _, d := range file.GetMessageType() {
			if !yield(prefix+d.GetName(), d) {
				return
			}
		}
		for _, d := range file.GetEnumType() {
			if !yield(prefix+d.GetName(), d) {
				return
			}
		}
		for _, d := range file.GetService() {
			if !yield(prefix+d.GetName(), d) {
				return
			}
		}
		for _, d := range file.GetExtension() {
			if !yield(prefix+d.GetName(), d) {
				return
			}
		}
	}
}

// shareSymbols takes out of each file what another one has already, and lets it
// import that one publicly instead, so that all who import it still see it.
func (m *merger) shareSymbols() {
	for name, elsewhere := range m.shared {
		file := proto.Clone(m.files[name]).(*descriptorpb.FileDescriptorProto)
		file.SourceCodeInfo = nil // it counts declarations, which are fewer now
		prefix := ""
		if file.GetPackage() != "" {
			prefix = file.GetPackage() + "."
		}
		file.MessageType = without(file.MessageType, prefix, elsewhere)
		file.EnumType = without(file.EnumType, prefix, elsewhere)
		file.Service = without(file.Service, prefix, elsewhere)
		file.Extension = without(file.Extension, prefix, elsewhere)
		for _, other := range elsewhere {
			importPublicly(file, other)
		}
		m.files[name] = file
	}
}

func without[D interface{ GetName() string }](list []D, prefix string, names map[string]string) []D {
	var kept []D
	for _, d := range list {
		if _, gone := names[prefix+d.GetName()]; !gone {
			kept = append(kept, d)
		}
	}
	return kept
}

// findImports gives each file that imports what no source has the files that
// declare what it uses, if they are there under other paths.
func (m *merger) findImports() {
	for _, name := range m.order {
		file := m.files[name]
		if !slices.ContainsFunc(file.GetDependency(), func(path string) bool {
			return m.files[path] == nil && !isBuiltin(path)
		}) {
			continue
		}
		file = proto.Clone(file).(*descriptorpb.FileDescriptorProto)
		used(file.ProtoReflect(), func(symbol string) {
			for ; symbol != ""; symbol = symbol[:max(0, strings.LastIndexByte(symbol, '.'))] {
				at, known := m.symbols[symbol]
				if known && at.file != name && !slices.Contains(file.GetDependency(), at.file) {
					file.Dependency = append(file.Dependency, at.file)
				}
			}
		})
		m.files[name] = file
	}
}

// used yields the full names of the types that a descriptor refers to.
func used(d protoreflect.Message, yield func(string)) {
	d.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch name := field.Name(); {
		case name == "type_name" || name == "input_type" || name == "output_type" || name == "extendee":
			yield(strings.TrimPrefix(v.String(), "."))
		case field.IsList() && field.Message() != nil:
			for i := range v.List().Len() {
				used(v.List().Get(i).Message(), yield)
			}
		}
		return true
	})
}

func importPublicly(file *descriptorpb.FileDescriptorProto, name string) {
	at := int32(slices.Index(file.GetDependency(), name))
	if at < 0 {
		at = int32(len(file.GetDependency()))
		file.Dependency = append(file.Dependency, name)
	}
	if !slices.Contains(file.GetPublicDependency(), at) {
		file.PublicDependency = append(file.PublicDependency, at)
	}
}

// differs names the first symbol that two files declare in two ways.
func differs(a, b *descriptorpb.FileDescriptorProto) string {
	other := map[string]proto.Message{}
	for symbol, d := range symbols(b) {
		other[symbol] = d
	}
	missing := ""
	for symbol, d := range symbols(a) {
		switch found, ok := other[symbol]; {
		case ok && !sameShape(d, found):
			return symbol
		case !ok && missing == "":
			missing = symbol
		}
		delete(other, symbol)
	}
	if missing == "" {
		for symbol := range symbols(b) {
			if _, ok := other[symbol]; ok {
				missing = symbol
				break
			}
		}
	}
	if missing == "" || a.GetPackage() != b.GetPackage() {
		return a.GetName()
	}
	return missing
}

// sameShape compares two descriptors but for what does not change a message:
// comments, options other than those below, names that JSON has anyway, and
// what is reserved.
func sameShape(a, b proto.Message) bool {
	if proto.Equal(a, b) {
		return true
	}
	a, b = proto.Clone(a), proto.Clone(b)
	normalize(a.ProtoReflect())
	normalize(b.ProtoReflect())
	return proto.Equal(a, b)
}

// shaping are the options that change how a message is written or read.
var shaping = map[protoreflect.Name]bool{
	"map_entry": true, "message_set_wire_format": true, "packed": true, "features": true, "allow_alias": true,
}

// normalize brings a descriptor, and all in it, to the form sameShape compares.
func normalize(m protoreflect.Message) {
	m.SetUnknown(nil)
	switch d := m.Interface().(type) {
	case *descriptorpb.FileDescriptorProto:
		d.SourceCodeInfo = nil
		d.OptionDependency, d.WeakDependency = nil, nil
		if d.GetSyntax() == "proto2" {
			d.Syntax = nil
		}
	case *descriptorpb.FieldDescriptorProto:
		if d.GetJsonName() == defaultJSONName(d.GetName()) {
			d.JsonName = nil
		}
	case *descriptorpb.DescriptorProto:
		d.ReservedRange, d.ReservedName = nil, nil
	case *descriptorpb.EnumDescriptorProto:
		d.ReservedRange, d.ReservedName = nil, nil
	case *descriptorpb.MethodDescriptorProto:
		if !d.GetClientStreaming() {
			d.ClientStreaming = nil
		}
		if !d.GetServerStreaming() {
			d.ServerStreaming = nil
		}
	}
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Name() == "options" && field.Message() != nil:
			if keepShaping(v.Message()) {
				m.Clear(field)
			}
		case field.IsList() && field.Message() != nil:
			for i := range v.List().Len() {
				normalize(v.List().Get(i).Message())
			}
		}
		return true
	})
}

// keepShaping forgets all options but those that shape, and tells whether none
// is left.
func keepShaping(options protoreflect.Message) (empty bool) {
	options.SetUnknown(nil)
	empty = true
	options.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if shaping[field.Name()] && !field.IsExtension() {
			empty = false
		} else {
			options.Clear(field)
		}
		return true
	})
	return empty
}

// defaultJSONName is the name that a field has in JSON when it sets none.
func defaultJSONName(name string) string {
	var b []byte
	upper := false
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_':
			upper = true
			continue
		case upper && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		b, upper = append(b, c), false
	}
	return string(b)
}
