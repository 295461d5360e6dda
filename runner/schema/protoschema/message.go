package protoschema

import (
	"cmp"
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
// name or its JSON name; dots go into messages, and into maps by their keys,
// which can have dots themselves where the values are no messages:
//
//   - repeated fields by repeating the word, maps by labels.key=VALUE
//   - bool, int and float as in [schema.Bind], within the type's range
//   - string, bytes: verbatim
//   - an enum by the name or the number of its value
//   - a wrapper: as what it wraps; Timestamp and Duration: the text that JSON
//     has for them
//   - a FieldMask: its paths by proto names, or as JSON has them: userName is
//     user_name
//   - Struct, Value and ListValue: by the rule of [schema.Value]
//   - any other message, and a map without a key: a JSON object
//   - name:=JSON for any field, as [DecodeMessage] reads it; for a repeated
//     field one element, or an array of several
//
// The names in a Struct are its keys, and so they are in a Value that is a
// field: meta.fields.a=x gives meta a key "fields". That holds for a request
// that is a Struct too. Every other request, a well-known type or not, is typed
// by its fields: seconds=5 for a Timestamp, number_value=3 for a Value.
//
// A name that is no Python identifier is found too, such as labels.my-key=VALUE.
// Errors are [*schema.ArgumentError], whose Param is the path of the field,
// [*schema.WordError] and [*MissingImportError].
func BindMessage(m Method, words []schema.Word) (proto.Message, error) {
	b := messageBinder{method: m, given: map[string]string{}, below: map[string]string{}}
	request := dynamicpb.NewMessage(m.desc.Input())
	for _, w := range words {
		if err := b.bind(request, w); err != nil {
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

// bind puts one word into the request.
func (b *messageBinder) bind(request protoreflect.Message, w schema.Word) (err error) {
	const deepest = 100
	if w.Name == "" {
		if w, err = w.Respell(b.begins); err != nil {
			return err
		}
	}
	b.word = w
	path := strings.Split(w.Name, ".")
	switch {
	case w.Name == "":
		return b.noName()
	case len(path) > deepest:
		return b.badValue(w.Name, w.Name, "a path of at most 100 names")
	case w.Form == schema.JSON:
		if offset, err := schema.CheckJSON(w.Value); err != nil {
			return &schema.WordError{Word: w.Typed, Offset: offset, Err: err}
		}
	}
	if isStruct(request.Descriptor()) {
		return b.structEntry(request, path, "")
	}
	return b.set(request, path, "")
}

// begins tells whether a name that is no identifier is the path of a field, or
// begins with one, as that of a map's key does.
func (b *messageBinder) begins(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	return isStruct(b.method.desc.Input()) || findField(b.method.desc.Input(), first) != nil
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
	field := findField(message.Descriptor(), path[0])
	if field == nil {
		return b.noField(message.Descriptor(), join(at, path[0]), at)
	}
	if err := b.oneof(message, field, at); err != nil {
		return err
	}
	at = join(at, field.TextName())
	rest, inner := path[1:], field.Message()
	switch {
	case field.IsMap():
		return b.mapEntry(message, field, rest, at)
	case len(rest) == 0:
		return b.leaf(message, field, at)
	case field.IsList() || inner == nil || inner.FullName() == "google.protobuf.ListValue":
		return b.notNested(at, fieldType(field))
	case inner.IsPlaceholder():
		return b.method.set.missing(inner.FullName(), field)
	}
	return b.inside(message.Mutable(field).Message(), rest, at)
}

// inside puts the word at path below a message that is in another.
func (b *messageBinder) inside(message protoreflect.Message, path []string, at string) error {
	if err := b.pass(at); err != nil {
		return err
	}
	switch message.Descriptor().FullName() {
	case "google.protobuf.Struct", "google.protobuf.Value":
		return b.structEntry(message, path, at)
	}
	return b.set(message, path, at)
}

// structEntry puts the word at path below a Struct, or a Value that is one.
func (b *messageBinder) structEntry(message protoreflect.Message, path []string, at string) error {
	for i, key := range path {
		if !utf8.ValidString(key) {
			return b.badValue(cmp.Or(at, "the request"), key, "a key of UTF-8")
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
	deeper := len(path) > 1 && inner != nil
	text := strings.Join(path, ".")
	if deeper {
		text = path[0]
	}
	key, ok := mapKey(field.MapKey(), text)
	if !ok {
		return b.badValue(at, text, wanted(field.MapKey())+" as key")
	}
	below := join(at, key.String()) // of a number, however it was typed
	switch {
	case deeper && inner.FullName() == "google.protobuf.ListValue":
		return b.notNested(below, kindName(value))
	case deeper:
		return b.inside(message.Mutable(field).Map().Mutable(key).Message(), path[1:], below)
	}
	if err := b.once(below); err != nil {
		return err
	}
	return b.mapValue(message, field, key, at)
}

// mapValue makes the word the value of a key in a map, which is at.
func (b *messageBinder) mapValue(message protoreflect.Message, field protoreflect.FieldDescriptor, key protoreflect.MapKey, at string) error {
	value := field.MapValue()
	inner := value.Message()
	switch {
	case b.word.Form == schema.JSON || inner != nil && !isVerbatim(inner):
		content := b.json()
		if b.word.Form != schema.JSON {
			content = messageText(inner, b.word.Value)
		}
		entry := slices.Concat([]byte("{"), schema.Quote(key.String()), []byte(":"), content, []byte("}"))
		return b.merge(message, field, entry, at)
	case inner != nil:
		return b.verbatim(message.Mutable(field).Map().Mutable(key).Message(), join(at, key.String()))
	}
	v, ok := scalar(value, b.word.Value)
	if !ok {
		return b.badValue(join(at, key.String()), b.word.Value, wanted(value))
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
	case inner != nil && isVerbatim(inner) && field.IsList():
		return b.verbatim(message.Mutable(field).List().AppendMutable().Message(), at)
	case inner != nil && isVerbatim(inner):
		return b.verbatim(message.Mutable(field).Message(), at)
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

// verbatim puts the word into a wrapper or a FieldMask.
func (b *messageBinder) verbatim(message protoreflect.Message, at string) error {
	if !setVerbatim(message, b.word.Value) {
		return b.badValue(at, b.word.Value, wantedMessage(message.Descriptor()))
	}
	return nil
}

// json is the word's value as JSON, by the rule of Value when it is not.
func (b *messageBinder) json() json.RawMessage {
	if b.word.Form == schema.JSON {
		return json.RawMessage(b.word.Value)
	}
	return schema.Value(b.word.Value)
}

// elements makes the JSON of one element that of a list of it. A null is one
// only in a list of Value, else it stands for no list.
func elements(field protoreflect.FieldDescriptor, content json.RawMessage) json.RawMessage {
	trimmed := strings.TrimSpace(string(content))
	null := trimmed == "null" && (field.Message() == nil || field.Message().FullName() != "google.protobuf.Value")
	if !field.IsList() || null || strings.HasPrefix(trimmed, "[") {
		return content
	}
	return slices.Concat([]byte("["), content, []byte("]"))
}

// merge adds what JSON says of a field, which is at, to what is there already.
func (b *messageBinder) merge(message protoreflect.Message, field protoreflect.FieldDescriptor, content json.RawMessage, at string) error {
	read := message.New()
	if err := b.method.readField(read, field, content); err != nil {
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
