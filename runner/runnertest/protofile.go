package runnertest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/anypb" // the text may import these files
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
)

// ProtoFile returns the descriptor of a .proto file with the given text, so that a test can contain
// the definition. It supports only the syntax that the tests use: messages, enums, services, the
// comments before methods, and the options json_name and default. imports are the files that the
// text imports, in addition to those that are part of protobuf.
func ProtoFile(name, text string, imports ...*descriptorpb.FileDescriptorProto) (file *descriptorpb.FileDescriptorProto, err error) {
	p := &protoParser{words: protoWords.FindAllString(text, -1), types: map[string]protoreflect.Kind{}, file: &descriptorpb.FileDescriptorProto{Name: &name}}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", name, r)
		}
	}()
	for p.peek() != "" {
		p.statement()
	}
	for _, imported := range append(imports, p.file) {
		p.declare(imported.GetPackage(), imported.MessageType, imported.EnumType)
	}
	for _, resolve := range p.later {
		resolve()
	}
	return p.file, nil
}

// protoWords matches a comment, a text, a word, or a sign.
var protoWords = regexp.MustCompile(`//[^\n]*|"(?:[^"\\]|\\.)*"|[\w.]+|[^\s\w]`)

type protoParser struct {
	words   []string
	comment []string // the comment before the next word
	file    *descriptorpb.FileDescriptorProto
	types   map[string]protoreflect.Kind // full names of types
	later   []func()                     // set the types of fields when all names are known
}

func (p *protoParser) peek() string {
	for len(p.words) > 0 && strings.HasPrefix(p.words[0], "//") {
		p.comment = append(p.comment, p.words[0][2:]+"\n")
		p.words = p.words[1:]
	}
	return append(p.words, "")[0]
}

func (p *protoParser) next() string {
	word := p.peek()
	p.words, p.comment = p.words[min(1, len(p.words)):], nil
	return word
}

// accept consumes the next word if it equals word, and reports whether it did.
func (p *protoParser) accept(word string) bool {
	if p.peek() != word {
		return false
	}
	p.next()
	return true
}

func (p *protoParser) want(words ...string) {
	for _, word := range words {
		if got := p.next(); got != word {
			panic(fmt.Sprintf("%q before %q, expected %q", got, strings.Join(p.words[:min(5, len(p.words))], " "), word))
		}
	}
}

func (p *protoParser) text() string {
	text, err := strconv.Unquote(p.next())
	if err != nil {
		panic(err)
	}
	return text
}

func (p *protoParser) number() int32 {
	n, err := strconv.ParseInt(p.next(), 0, 32)
	if err != nil {
		panic(err)
	}
	return int32(n)
}

func (p *protoParser) statement() {
	switch word := p.next(); word {
	case "syntax":
		p.want("=")
		if syntax := p.text(); syntax != "proto2" {
			p.file.Syntax = &syntax
		}
		p.want(";")
	case "package":
		p.file.Package = proto.String(p.next())
		p.want(";")
	case "import":
		imported := p.text()
		p.file.Dependency = append(p.file.Dependency, imported)
		p.want(";")
		if known, err := protoregistry.GlobalFiles.FindFileByPath(imported); err == nil {
			for i := range known.Messages().Len() {
				p.types[string(known.Messages().Get(i).FullName())] = protoreflect.MessageKind
			}
			for i := range known.Enums().Len() {
				p.types[string(known.Enums().Get(i).FullName())] = protoreflect.EnumKind
			}
		}
	case "message":
		p.file.MessageType = append(p.file.MessageType, p.message(p.next(), p.file.GetPackage()))
	case "option":
		for p.next() != ";" {
		}
	case "enum":
		p.file.EnumType = append(p.file.EnumType, p.enum())
	case "extend":
		extendee := p.next()
		p.want("{")
		for !p.accept("}") {
			f := p.field(p.next(), p.file.GetPackage(), nil)
			p.later = append(p.later, func() { f.Extendee, _ = p.resolve(extendee, p.file.GetPackage()) })
			p.file.Extension = append(p.file.Extension, f)
		}
	case "service":
		p.service()
	default:
		panic(fmt.Sprintf("%q begins no statement", word))
	}
}

func (p *protoParser) enum() *descriptorpb.EnumDescriptorProto {
	e := &descriptorpb.EnumDescriptorProto{Name: proto.String(p.next())}
	p.want("{")
	for !p.accept("}") {
		value := &descriptorpb.EnumValueDescriptorProto{Name: proto.String(p.next())}
		p.want("=")
		value.Number = proto.Int32(p.number())
		p.want(";")
		e.Value = append(e.Value, value)
	}
	return e
}

func (p *protoParser) service() {
	s, n := &descriptorpb.ServiceDescriptorProto{Name: proto.String(p.next())}, int32(len(p.file.Service))
	p.file.Service = append(p.file.Service, s)
	p.want("{")
	for p.peek() != "}" {
		if comment := strings.Join(p.comment, ""); comment != "" {
			if p.file.SourceCodeInfo == nil {
				p.file.SourceCodeInfo = new(descriptorpb.SourceCodeInfo)
			}
			p.file.SourceCodeInfo.Location = append(p.file.SourceCodeInfo.Location, &descriptorpb.SourceCodeInfo_Location{
				Path: []int32{6, n, 2, int32(len(s.Method))}, Span: []int32{0, 0, 0}, LeadingComments: &comment,
			})
		}
		p.want("rpc")
		m := &descriptorpb.MethodDescriptorProto{Name: proto.String(p.next())}
		p.want("(")
		if p.accept("stream") {
			m.ClientStreaming = proto.Bool(true)
		}
		in := p.next()
		p.want(")", "returns", "(")
		if p.accept("stream") {
			m.ServerStreaming = proto.Bool(true)
		}
		out := p.next()
		p.want(")", ";")
		p.later = append(p.later, func() {
			m.InputType, _ = p.resolve(in, p.file.GetPackage())
			m.OutputType, _ = p.resolve(out, p.file.GetPackage())
		})
		s.Method = append(s.Method, m)
	}
	p.want("}")
}

// message reads the body of a message in a scope.
func (p *protoParser) message(name, scope string) *descriptorpb.DescriptorProto {
	m, full := &descriptorpb.DescriptorProto{Name: &name}, joined(scope, name)
	p.want("{")
	for !p.accept("}") {
		switch word := p.next(); word {
		case "message":
			m.NestedType = append(m.NestedType, p.message(p.next(), full))
		case "enum":
			m.EnumType = append(m.EnumType, p.enum())
		case "extensions":
			first := p.number()
			p.want("to", "max", ";")
			m.ExtensionRange = append(m.ExtensionRange, &descriptorpb.DescriptorProto_ExtensionRange{Start: &first, End: proto.Int32(1 << 29)})
		case "oneof":
			index := int32(len(m.OneofDecl))
			m.OneofDecl = append(m.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String(p.next())})
			p.want("{")
			for !p.accept("}") {
				f := p.field(p.next(), full, m)
				f.OneofIndex = &index
				m.Field = append(m.Field, f)
			}
		default:
			m.Field = append(m.Field, p.field(word, full, m))
		}
	}
	for _, f := range m.Field { // the oneofs of optional fields come last
		if f.GetProto3Optional() {
			f.OneofIndex = proto.Int32(int32(len(m.OneofDecl)))
			m.OneofDecl = append(m.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String("_" + f.GetName())})
		}
	}
	return m
}

// field reads a field. word is its first word, which is already read.
func (p *protoParser) field(word, scope string, of *descriptorpb.DescriptorProto) *descriptorpb.FieldDescriptorProto {
	f := &descriptorpb.FieldDescriptorProto{Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	if label, ok := descriptorpb.FieldDescriptorProto_Label_value["LABEL_"+strings.ToUpper(word)]; ok {
		f.Label = descriptorpb.FieldDescriptorProto_Label(label).Enum()
		if word == "optional" && p.file.GetSyntax() == "proto3" {
			f.Proto3Optional = proto.Bool(true)
		}
		word = p.next()
	}
	var key, value string
	if word == "map" {
		p.want("<")
		key = p.next()
		p.want(",")
		value = p.next()
		p.want(">")
	}
	f.Name = proto.String(p.next())
	f.JsonName = proto.String(jsonName(f.GetName()))
	p.want("=")
	f.Number = proto.Int32(p.number())
	if p.accept("[") {
		switch option := p.next(); option {
		case "json_name":
			p.want("=")
			f.JsonName = proto.String(p.text())
		case "default":
			p.want("=")
			f.DefaultValue = proto.String(p.text())
		default:
			panic("no option " + option)
		}
		p.want("]")
	}
	switch {
	case word == "group":
		message := f.GetName()
		of.NestedType = append(of.NestedType, p.message(message, scope))
		f.Name, f.JsonName = proto.String(strings.ToLower(message)), proto.String(strings.ToLower(message))
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_GROUP.Enum(), proto.String("."+joined(scope, message))
		return f
	case key != "":
		word = strings.ToUpper(f.GetJsonName()[:1]) + f.GetJsonName()[1:] + "Entry"
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		entry := &descriptorpb.DescriptorProto{Name: proto.String(word), Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}}
		for n, typed := range []string{key, value} {
			part := &descriptorpb.FieldDescriptorProto{
				Name: proto.String([]string{"key", "value"}[n]), Number: proto.Int32(int32(n + 1)), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			}
			part.JsonName = part.Name
			entry.Field = append(entry.Field, part)
			p.later = append(p.later, func() { p.typed(part, typed, scope) })
		}
		of.NestedType = append(of.NestedType, entry)
	}
	p.want(";")
	p.later = append(p.later, func() { p.typed(f, word, scope) })
	return f
}

// typed sets the type of a field.
func (p *protoParser) typed(f *descriptorpb.FieldDescriptorProto, word, scope string) {
	if scalar, ok := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(word)]; ok {
		f.Type = descriptorpb.FieldDescriptorProto_Type(scalar).Enum()
		return
	}
	name, kind := p.resolve(word, scope)
	f.TypeName, f.Type = name, descriptorpb.FieldDescriptorProto_Type(kind).Enum()
}

// declare records the names of types.
func (p *protoParser) declare(scope string, messages []*descriptorpb.DescriptorProto, enums []*descriptorpb.EnumDescriptorProto) {
	for _, m := range messages {
		full := joined(scope, m.GetName())
		p.types[full] = protoreflect.MessageKind
		p.declare(full, m.NestedType, m.EnumType)
	}
	for _, e := range enums {
		p.types[joined(scope, e.GetName())] = protoreflect.EnumKind
	}
}

// resolve finds a type by a name that is used in a scope.
func (p *protoParser) resolve(name, scope string) (*string, protoreflect.Kind) {
	parts := strings.Split(scope, ".")
	for n := len(parts); n >= 0; n-- {
		full := joined(strings.Join(parts[:n], "."), name)
		if kind, ok := p.types[full]; ok {
			return proto.String("." + full), kind
		}
	}
	panic(fmt.Sprintf("no type %s in %q", name, scope))
}

func joined(scope, name string) string {
	return strings.Join(slices.DeleteFunc([]string{scope, name}, func(s string) bool { return s == "" }), ".")
}

// jsonName returns the JSON name that protoc gives to a field.
func jsonName(name string) string {
	words := strings.Split(name, "_")
	for n, word := range words {
		if n > 0 && word != "" {
			words[n] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
