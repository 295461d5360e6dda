package protoschema

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// BindMessage gives each word to a field of m's request. A field has its proto
// name or its JSON name; dots go into messages, and into maps by their keys:
//
//   - repeated fields by repeating the word, maps by labels.key=VALUE
//   - bool, int and float as in [schema.Bind], within the type's range
//   - string, bytes: verbatim
//   - an enum by the name or the number of its value
//   - a wrapper: as what it wraps; Timestamp, Duration and FieldMask: the text
//     that JSON has for them, a FieldMask also of proto names
//   - Struct, Value and ListValue: by the rule of [schema.Value]; a dot goes into them
//   - any other message, and a map without a key: a JSON object
//   - name:=JSON for any field, as [DecodeMessage] reads it; for a repeated
//     field one element, or an array of several
//
// A key that is no Python identifier is found too, such as labels.my-key=VALUE.
// Errors are [*schema.ArgumentError], whose Param is the path of the field,
// [*schema.WordError] and [*MissingImportError].
func BindMessage(m Method, words []schema.Word) (proto.Message, error) {
	b := messageBinder{method: m, given: map[string]string{}, below: map[string]string{}}
	request := dynamicpb.NewMessage(m.desc.Input())
	for _, w := range words {
		if w.Name == "" {
			named, err := b.respell(w)
			if err != nil {
				return nil, err
			}
			w = named
		}
		if w.Form == schema.JSON {
			if offset, err := schema.CheckJSON(w.Value); err != nil {
				return nil, &schema.WordError{Word: w.Typed, Offset: offset, Err: err}
			}
		}
		b.word = w
		if err := b.set(request, strings.Split(w.Name, "."), ""); err != nil {
			return nil, err
		}
	}
	if err := required(m, request); err != nil {
		return nil, err
	}
	return request, nil
}

// messageBinder fills one request, a word at a time.
type messageBinder struct {
	method Method
	word   schema.Word       // the one at hand
	given  map[string]string // paths that cannot be given again, by which word
	below  map[string]string // paths below which something was given, by which
}

// respell reads the name of a word that ParseWords found none in, because a
// key of a map is no identifier.
func (b *messageBinder) respell(w schema.Word) (schema.Word, error) {
	name, value, found := strings.Cut(w.Value, "=")
	first, _, dotted := strings.Cut(name, ".")
	if w.Form != schema.Plain || !found || !dotted || strings.HasSuffix(name, "@") ||
		findField(b.method.desc.Input(), first) == nil {
		e := b.method.fault(schema.ByNameOnly, "", w.Typed)
		e.Known = fieldNames(b.method.desc.Input())
		return schema.Word{}, e
	}
	form := schema.Plain
	if trimmed, ok := strings.CutSuffix(name, ":"); ok {
		name, form = trimmed, schema.JSON
	}
	return schema.Word{Name: name, Form: form, Value: value, Typed: w.Typed}, nil
}

// findField finds a field by its proto name or its JSON name.
func findField(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	fields := message.Fields()
	if field := fields.ByTextName(name); field != nil {
		return field
	}
	if field := fields.ByName(protoreflect.Name(name)); field != nil {
		return field
	}
	return fields.ByJSONName(name)
}

// set puts the word at path below message, which itself is at.
func (b *messageBinder) set(message protoreflect.Message, path []string, at string) error {
	const deepest = 100
	if len(path) > deepest {
		return b.badValue(b.word.Name, b.word.Name, "a path of at most 100 names")
	}
	for i, name := range path {
		field := findField(message.Descriptor(), name)
		if field == nil {
			return b.noField(message.Descriptor(), join(at, name), at)
		}
		if err := b.oneof(message, field, at); err != nil {
			return err
		}
		at = join(at, field.TextName())
		rest := path[i+1:]
		switch {
		case field.IsMap():
			return b.mapEntry(message, field, rest, at)
		case len(rest) == 0:
			return b.leaf(message, field, at)
		case field.IsList() || field.Message() == nil:
			return b.notNested(at, fieldType(field))
		case field.Message().IsPlaceholder():
			return b.method.set.missing(field.Message().FullName(), field)
		}
		if err := b.pass(at); err != nil {
			return err
		}
		message = message.Mutable(field).Message()
		switch name := field.Message().FullName(); name {
		case "google.protobuf.Struct", "google.protobuf.Value":
			return b.structEntry(message, rest, at)
		case "google.protobuf.ListValue":
			return b.notNested(at, fieldType(field))
		}
	}
	return nil
}

// structEntry puts the word at path below a Struct, or a Value that is one.
func (b *messageBinder) structEntry(message protoreflect.Message, path []string, at string) error {
	for i, key := range path {
		if !utf8.ValidString(key) {
			return b.badValue(at, key, "a key of UTF-8")
		}
		if inner := message.Descriptor().Fields().ByName("struct_value"); inner != nil {
			message = message.Mutable(inner).Message()
		}
		fields := message.Mutable(message.Descriptor().Fields().ByName("fields")).Map()
		at = join(at, key)
		value := fields.Mutable(protoreflect.ValueOfString(key).MapKey()).Message()
		if i < len(path)-1 {
			if err := b.pass(at); err != nil {
				return err
			}
			message = value
			continue
		}
		if err := b.once(at); err != nil {
			return err
		}
		if err := b.method.unmarshal(b.json(), value.Interface()); err != nil {
			return b.badValue(at, b.word.Value, "message google.protobuf.Value")
		}
	}
	return nil
}

// mapEntry puts the word into a map, under the key that path begins with.
func (b *messageBinder) mapEntry(message protoreflect.Message, field protoreflect.FieldDescriptor, path []string, at string) error {
	if len(path) == 0 {
		if err := b.once(at); err != nil {
			return err
		}
		return b.merge(message, field, b.json(), at)
	}
	if err := b.pass(at); err != nil {
		return err
	}
	value := field.MapValue()
	inner := value.Message()
	if inner != nil && inner.IsPlaceholder() {
		return b.method.set.missing(inner.FullName(), value)
	}
	deeper := len(path) > 1 && inner != nil && !isSpecial(inner)
	text := strings.Join(path, ".")
	if deeper {
		text = path[0]
	}
	key, ok := mapKey(field.MapKey(), text)
	if !ok {
		return b.badValue(at, text, wanted(field.MapKey())+" as key")
	}
	whole := at
	at = join(at, key.String()) // of a number, however it was typed
	if deeper {
		if err := b.pass(at); err != nil {
			return err
		}
		return b.set(message.Mutable(field).Map().Mutable(key).Message(), path[1:], at)
	}
	if err := b.once(at); err != nil {
		return err
	}
	switch {
	case b.word.Form == schema.JSON || inner != nil && !isWrapper(inner):
		content := b.json()
		if b.word.Form != schema.JSON {
			content = messageText(inner, b.word.Value)
		}
		entry := slices.Concat([]byte("{"), schema.Quote(key.String()), []byte(":"), content, []byte("}"))
		return b.merge(message, field, entry, whole)
	case inner != nil:
		return b.wrapped(message.Mutable(field).Map().Mutable(key).Message(), at)
	}
	v, ok := scalar(value, b.word.Value)
	if !ok {
		return b.badValue(at, b.word.Value, wanted(value))
	}
	message.Mutable(field).Map().Set(key, v)
	return nil
}

// leaf puts the word into a field that is no map.
func (b *messageBinder) leaf(message protoreflect.Message, field protoreflect.FieldDescriptor, at string) error {
	if !field.IsList() {
		if err := b.once(at); err != nil {
			return err
		}
	}
	inner := field.Message()
	switch {
	case inner != nil && inner.IsPlaceholder():
		return b.method.set.missing(inner.FullName(), field)
	case b.word.Form == schema.JSON:
		return b.merge(message, field, elements(field, b.json()), at)
	case inner != nil && isWrapper(inner) && field.IsList():
		return b.wrapped(message.Mutable(field).List().AppendMutable().Message(), at)
	case inner != nil && isWrapper(inner):
		return b.wrapped(message.Mutable(field).Message(), at)
	case inner != nil:
		return b.merge(message, field, elements(field, messageText(inner, b.word.Value)), at)
	}
	v, ok := scalar(field, b.word.Value)
	switch {
	case !ok:
		return b.badValue(at, b.word.Value, wanted(field))
	case field.IsList():
		message.Mutable(field).List().Append(v)
	default:
		message.Set(field, v)
	}
	return nil
}

// wrapped puts the word into a wrapper.
func (b *messageBinder) wrapped(wrapper protoreflect.Message, at string) error {
	field := wrapper.Descriptor().Fields().ByName("value")
	v, ok := scalar(field, b.word.Value)
	if !ok {
		return b.badValue(at, b.word.Value, wanted(field))
	}
	wrapper.Set(field, v)
	return nil
}

// json is the word's value as JSON, by the rule of Value when it is not.
func (b *messageBinder) json() json.RawMessage {
	if b.word.Form == schema.JSON {
		return json.RawMessage(b.word.Value)
	}
	return schema.Value(b.word.Value)
}

// elements makes the JSON of one element that of a list of it.
func elements(field protoreflect.FieldDescriptor, content json.RawMessage) json.RawMessage {
	trimmed := strings.TrimSpace(string(content))
	if !field.IsList() || trimmed == "null" || strings.HasPrefix(trimmed, "[") {
		return content
	}
	return slices.Concat([]byte("["), content, []byte("]"))
}

// merge adds what JSON says of a field, which is at, to what is there already.
func (b *messageBinder) merge(message protoreflect.Message, field protoreflect.FieldDescriptor, content json.RawMessage, at string) error {
	read := message.New()
	object := slices.Concat([]byte("{"), schema.Quote(field.TextName()), []byte(":"), content, []byte("}"))
	if err := b.method.unmarshal(object, read.Interface()); err != nil {
		return b.method.explain(field, content, at, b.word.Typed, err)
	}
	proto.Merge(message.Interface(), read.Interface())
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
