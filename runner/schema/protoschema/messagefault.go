package protoschema

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// pass notes that the word gives something below a path, and refuses it when
// the path was given as a whole.
func (b *messageBinder) pass(at string) error {
	if first, whole := b.given[at]; whole {
		return b.twice(at, first)
	}
	if _, ok := b.below[at]; !ok {
		b.below[at] = b.word.Typed
	}
	return nil
}

// once notes that the word gives a path, and refuses a second word for it or
// for what is below it.
func (b *messageBinder) once(at string) error {
	if first, again := b.given[at]; again {
		return b.twice(at, first)
	}
	if first, inside := b.below[at]; inside {
		return b.twice(at, first)
	}
	b.given[at] = b.word.Typed
	return nil
}

// oneof refuses a second field of one oneof.
func (b *messageBinder) oneof(message protoreflect.Message, field protoreflect.FieldDescriptor, at string) error {
	oneof := field.ContainingOneof()
	if oneof == nil || oneof.IsSynthetic() {
		return nil
	}
	set := message.WhichOneof(oneof)
	if set == nil || set.Number() == field.Number() {
		return nil
	}
	e := b.fault(schema.TwoOfOneof, join(at, field.TextName()))
	e.Type = string(oneof.Name())
	other := join(at, set.TextName())
	if e.First = b.given[other]; e.First == "" {
		e.First = b.below[other]
	}
	return e
}

func (b *messageBinder) fault(problem, at string) *schema.ArgumentError {
	return b.method.fault(problem, at, b.word.Typed)
}

func (b *messageBinder) twice(at, first string) error {
	e := b.fault(schema.Twice, at)
	e.First = first
	return e
}

func (b *messageBinder) badValue(at, seen, want string) error {
	e := b.fault(schema.BadValue, at)
	e.Value, e.Type = seen, want
	return e
}

// noName refuses a value without a name.
func (b *messageBinder) noName() error {
	e := b.fault(schema.ByNameOnly, "")
	if e.Value = b.word.Typed; b.word.Form == schema.Plain {
		e.Value = "=" + e.Value
	}
	if input := b.method.desc.Input(); !isStruct(input) {
		e.Known = fieldNames(input)
	}
	return e
}

func (b *messageBinder) notNested(at, kind string) error {
	e := b.fault(schema.NotNested, at)
	e.Type = kind
	return e
}

func (b *messageBinder) noField(message protoreflect.MessageDescriptor, path, at string) error {
	return b.method.noField(message, path, at, b.word.Typed)
}

func (m Method) fault(problem, at, typed string) *schema.ArgumentError {
	h := m.Hook()
	return &schema.ArgumentError{Hook: h.Name, Signature: h.ShortSignature(), Problem: problem, Param: at, Word: typed}
}

// noField is the fault of a path whose last name a message, itself at, has not.
func (m Method) noField(message protoreflect.MessageDescriptor, path, at, typed string) *schema.ArgumentError {
	e := m.fault(schema.NoField, path, typed)
	e.Type, e.Known = string(message.FullName()), fieldNames(message)
	name := path
	if at != "" {
		name = path[len(at)+1:]
	}
	if s := schema.Suggest(name, e.Known); s != "" {
		e.Suggest = join(at, s)
	}
	return e
}

func fieldNames(message protoreflect.MessageDescriptor) []string {
	fields := message.Fields()
	names := []string{}
	for i := range fields.Len() {
		names = append(names, fields.Get(i).TextName())
	}
	return names
}

// required refuses a request that lacks what proto2 requires.
func required(m Method, request proto.Message) error {
	if proto.CheckInitialized(request) == nil {
		return nil
	}
	names := lacking(request.ProtoReflect(), "", nil)
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	e := m.fault(schema.Missing, names[0], "")
	e.Missing = names
	return e
}

// lacking adds the paths of required fields that are not there.
func lacking(message protoreflect.Message, at string, names []string) []string {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); field.Cardinality() == protoreflect.Required && !message.Has(field) {
			names = append(names, join(at, field.TextName()))
		}
	}
	eachMessage(message, func(field protoreflect.FieldDescriptor, inner protoreflect.Message) {
		names = lacking(inner, join(at, field.TextName()), names)
	})
	return names
}

// eachMessage calls f with every message directly inside another.
func eachMessage(message protoreflect.Message, f func(protoreflect.FieldDescriptor, protoreflect.Message)) {
	message.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap():
			if field.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, entry protoreflect.Value) bool {
					f(field.MapValue(), entry.Message())
					return true
				})
			}
		case field.Message() == nil:
		case field.IsList():
			for i := range v.List().Len() {
				f(field, v.List().Get(i).Message())
			}
		default:
			f(field, v.Message())
		}
		return true
	})
}
