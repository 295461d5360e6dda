package protoschema

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// BindMessage assigns each word to a field of m's request. A word names the field by its
// proto name or its JSON name. A dot leads to a field of a message or to the key of a map,
// which may itself contain dots if the values are not messages:
//
//   - repeated fields by repeating the word, or as a JSON array by the only word; maps by
//     labels.key=VALUE
//   - bool, int and float as Python writes them, within the type's range; a bool also as yes, no, 1 or 0
//   - string, bytes: verbatim
//   - an enum by the name or the number of its value
//   - a wrapper: as the value that it wraps; Timestamp and Duration: the text
//     that JSON has for them
//   - a FieldMask: its paths by proto names, or as JSON has them: userName is
//     user_name
//   - Struct, Value and ListValue: by the rule of [schema.Value]
//   - any other message, and a map without a key: a JSON object
//   - name:=JSON for any field, as [DecodeMessage] reads it; for a repeated
//     field one element, or an array of several
//
// Names in a Struct, or in a Value that is a field, are keys: meta.fields.a=x sets a key
// "fields" of meta. The same applies to a request that is a Struct. The word value=VALUE sets
// a request that wraps a value. Requests of other well-known types take no words.
//
// A name need not be a Python identifier: labels.my-key=VALUE. A bool needs no value as --NAME
// and --no-NAME. If content is not nil, it is the request as JSON, and the words give the fields
// that it does not have. An error is a [*schema.ArgumentError], whose Place is the path of the
// field, or a [*DescriptorError].
func BindMessage(m Method, words []schema.Word, content json.RawMessage) (proto.Message, error) {
	b := messageBinder{method: m, given: map[string]given{}}
	request := dynamicpb.NewMessage(m.desc.Input()).ProtoReflect()
	if content != nil {
		whole, err := DecodeMessage(m, content)
		if err != nil {
			return nil, err
		}
		if b.skip, err = b.own(content); err != nil {
			return nil, err
		}
		request = whole.ProtoReflect()
	}
	words, err := schema.Decide(words, b.takesNoValue)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		if err := b.bind(request, w); err != nil {
			return nil, b.withJSON(err)
		}
	}
	return request.Interface(), initialized(request.Interface())
}

// messageBinder fills one request word by word.
type messageBinder struct {
	method Method
	word   schema.Word      // the current one
	given  map[string]given // by path
	skip   map[protoreflect.FieldDescriptor]bool
}

// given is the first word that set a path, or something below it.
type given struct {
	word  schema.Word
	below bool
}

// bind puts one word into the request.
func (b *messageBinder) bind(request protoreflect.Message, w schema.Word) (err error) {
	const deepest = 100
	if w.Name == "" {
		if w, err = w.Respell(b.isPath); err != nil {
			return err
		}
	}
	b.word = w
	path := strings.Split(w.Name, ".")
	switch {
	case w.Name == "":
		return b.noName()
	case len(path) > deepest:
		return schema.BadValue(w.Name, w.Name, "a path of at most 100 names")
	case w.Form == schema.JSON:
		if offset, err := schema.CheckJSON([]byte(w.Value)); err != nil {
			return schema.ArgumentErrorf(w.Name, "argument %q: not JSON at byte %d: %v", schema.Short(w.Typed), offset+1, err)
		}
	}
	switch input := request.Descriptor(); {
	case isStruct(input):
		return b.structEntry(request, path, "")
	case hasOwnJSON(input) && !isWrapper(input):
		return schema.ArgumentErrorf("", "the request is a %s, want its JSON by --input", input.FullName())
	}
	return b.field(request, path, "")
}

// isPath reports whether a name that is not an identifier may be the path of a map's key:
// it begins with a field.
func (b *messageBinder) isPath(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	return isStruct(b.method.desc.Input()) || findField(b.method.desc.Input(), first) != nil
}

// findField finds a field by its proto name or its JSON name.
func findField(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	fields := message.Fields()
	return cmp.Or(fields.ByTextName(name), fields.ByName(protoreflect.Name(name)), fields.ByJSONName(name))
}

// field puts the word at path below message, whose own path is at.
func (b *messageBinder) field(message protoreflect.Message, path []string, at string) error {
	field := b.find(message.Descriptor(), path[0])
	switch {
	case field == nil:
		return b.noField(message.Descriptor(), at, path[0])
	case at == "" && b.skip[field]:
		return nil
	}
	if err := b.oneof(message, field, at); err != nil {
		return err
	}
	at = join(at, field.TextName())
	rest, inner := path[1:], field.Message()
	switch {
	case field.IsMap() && len(rest) > 0:
		return b.mapEntry(message.Mutable(field).Map(), field, rest, at)
	case len(rest) == 0:
		return b.leaf(message, field, at)
	case field.IsList() || inner == nil:
		return b.notNested(at, fieldType(field))
	case inner.IsPlaceholder():
		return b.method.set.missing(inner.FullName(), field)
	}
	return b.inside(message.Mutable(field).Message(), rest, at)
}

// inside puts the word at path below a message that is in another.
func (b *messageBinder) inside(message protoreflect.Message, path []string, at string) error {
	if err := b.giveBelow(at); err != nil {
		return err
	}
	inner := message.Descriptor()
	switch {
	case isStruct(inner), inner.FullName() == "google.protobuf.Value":
		return b.structEntry(message, path, at)
	case hasOwnJSON(inner) && !isWrapper(inner):
		return b.notNested(at, "message "+string(inner.FullName()))
	}
	return b.field(message, path, at)
}

// structEntry puts the word at path below a Struct, or a Value that is one.
func (b *messageBinder) structEntry(message protoreflect.Message, path []string, at string) error {
	key := path[0]
	if !utf8.ValidString(key) {
		return schema.BadValue(cmp.Or(at, "the request"), key, "a key of UTF-8")
	}
	if inner := message.Descriptor().Fields().ByName("struct_value"); inner != nil {
		message = message.Mutable(inner).Message()
	}
	entries := message.Descriptor().Fields().ByName("fields")
	value := message.Mutable(entries).Map().Mutable(protoreflect.ValueOfString(key).MapKey()).Message()
	at = join(at, key)
	if len(path) > 1 {
		if err := b.giveBelow(at); err != nil {
			return err
		}
		return b.structEntry(value, path[1:], at)
	}
	if err := b.give(at); err != nil {
		return err
	}
	content := json.RawMessage(b.word.Value)
	if b.word.Form != schema.JSON {
		content = schema.Value(b.word.Value)
	}
	if err := b.method.unmarshal(content, value.Interface()); err != nil {
		return b.badValue(at, "message google.protobuf.Value")
	}
	return nil
}

// mapEntry puts the word into a map, which is at, under the key that path begins
// with.
func (b *messageBinder) mapEntry(entries protoreflect.Map, field protoreflect.FieldDescriptor, path []string, at string) error {
	if err := b.giveBelow(at); err != nil {
		return err
	}
	value := field.MapValue()
	text, rest := strings.Join(path, "."), []string(nil)
	if value.Message() != nil {
		text, rest = path[0], path[1:]
	}
	entry := dynamicpb.NewMessage(field.Message())
	key, ok := textJSON(field.MapKey(), text)
	if !ok || b.method.merge(entry, field.MapKey(), key) != nil {
		return schema.BadValue(at, text, wanted(field.MapKey())+" as key", b.method.hint())
	}
	mapKey := entry.Get(field.MapKey()).MapKey()
	at = join(at, mapKey.String()) // however a number was typed
	switch {
	case len(rest) > 0 && value.Message().IsPlaceholder():
		return b.method.set.missing(value.Message().FullName(), value)
	case len(rest) > 0:
		return b.inside(entries.Mutable(mapKey).Message(), rest, at)
	case b.word.Value == "null" && (b.word.Form == schema.JSON || value.Message() != nil) && !takesNull(value):
		return b.badValue(at, wanted(value))
	}
	if err := b.leaf(entry, value, at); err != nil {
		return err
	}
	if value.Message() != nil {
		entries.Set(mapKey, entry.Mutable(value))
	} else {
		entries.Set(mapKey, entry.Get(value))
	}
	return nil
}

// leaf sets a field to the word's value.
func (b *messageBinder) leaf(message protoreflect.Message, field protoreflect.FieldDescriptor, at string) error {
	if field.IsList() {
		return b.element(message, field, at)
	}
	if err := b.give(at); err != nil {
		return err
	}
	return b.set(message, field, at, false)
}

// set sets a field, or an element of it, to the word's value. isJSON says that this is JSON,
// whatever the word's form.
func (b *messageBinder) set(message protoreflect.Message, field protoreflect.FieldDescriptor, at string, isJSON bool) error {
	inner := field.Message()
	if inner != nil && inner.IsPlaceholder() {
		return b.method.set.missing(inner.FullName(), field)
	}
	content := json.RawMessage(b.word.Value)
	if isJSON = isJSON || b.word.Form == schema.JSON; !isJSON {
		if inner != nil && inner.FullName() == "google.protobuf.FieldMask" && !field.IsList() && strings.Contains(b.word.Value, "_") {
			return b.fieldMask(message.Mutable(field).Message(), at)
		}
		var ok bool
		if content, ok = textJSON(field, b.word.Value); !ok {
			return b.badValue(at, wanted(field))
		}
	}
	if field.IsList() && !isArray(field, content) {
		content = slices.Concat([]byte("["), content, []byte("]"))
	}
	err := b.method.merge(message, field, content)
	switch {
	case err == nil:
		return nil
	case !isJSON && (inner == nil || hasOwnJSON(inner)):
		return b.badValue(at, wanted(field))
	}
	return b.method.misfit(field, content, at)
}

// fieldMask sets the paths of a FieldMask by proto names. JSON cannot express all of them.
func (b *messageBinder) fieldMask(mask protoreflect.Message, at string) error {
	paths := mask.Mutable(mask.Descriptor().Fields().ByName("paths")).List()
	for path := range strings.SplitSeq(strings.TrimSpace(b.word.Value), ",") {
		if !protoreflect.FullName(path).IsValid() {
			return b.badValue(at, wantedMessage(mask.Descriptor()))
		}
		paths.Append(protoreflect.ValueOfString(path))
	}
	return nil
}

// textJSON returns the JSON for a VALUE, and whether the text may fit the field. protojson
// checks the rest.
func textJSON(field protoreflect.FieldDescriptor, text string) (json.RawMessage, bool) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return schema.Quote(text), utf8.ValidString(text)
	case protoreflect.BytesKind:
		return schema.Quote(base64.StdEncoding.EncodeToString([]byte(text))), true
	case protoreflect.BoolKind:
		return schema.ParseBool(text)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return floatJSON(text)
	case protoreflect.EnumKind:
		return enumJSON(field.Enum(), strings.TrimSpace(text))
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return messageJSON(field.Message(), text)
	default:
		return schema.ParseInt(text)
	}
}

// floatJSON reads a float. It also takes NaN and the infinities by the names of Python and
// JSON.
func floatJSON(text string) (json.RawMessage, bool) {
	switch sign, name := schema.CutSign(strings.ToLower(strings.TrimSpace(text))); name {
	case "nan":
		return json.RawMessage(`"NaN"`), sign == ""
	case "inf", "infinity":
		return schema.Quote(sign + "Infinity"), true
	}
	return schema.ParseFloat(text)
}

// enumJSON reads a value by name or number. A closed enum, such as an enum of proto2, takes
// only declared numbers.
func enumJSON(enum protoreflect.EnumDescriptor, text string) (json.RawMessage, bool) {
	if enum.FullName() == "google.protobuf.NullValue" && text == "null" {
		return json.RawMessage(text), true
	}
	digits, ok := schema.ParseInt(text)
	if !ok {
		return schema.Quote(text), utf8.ValidString(text)
	}
	number, err := strconv.ParseInt(string(digits), 10, 32)
	known := enum.Values().ByNumber(protoreflect.EnumNumber(number)) != nil
	return digits, err == nil && (known || !enum.IsClosed() || enum.IsPlaceholder())
}

// messageJSON reads a message. The text for a wrapper is the value that it wraps.
func messageJSON(message protoreflect.MessageDescriptor, text string) (json.RawMessage, bool) {
	switch message.FullName() {
	case "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask":
		return schema.Quote(strings.TrimSpace(text)), true
	}
	if isWrapper(message) {
		return textJSON(message.Fields().Get(0), text)
	}
	return schema.Value(text), true
}

// isArray reports whether the JSON for a repeated field is the whole field and not one
// element.
func isArray(field protoreflect.FieldDescriptor, content json.RawMessage) bool {
	trimmed := strings.TrimSpace(string(content))
	return strings.HasPrefix(trimmed, "[") || trimmed == "null" && !takesNull(field)
}

// takesNull reports whether null is a value of a field and not its absence.
func takesNull(field protoreflect.FieldDescriptor) bool {
	if field.Message() != nil {
		return field.Message().FullName() == "google.protobuf.Value"
	}
	return field.Enum() != nil && field.Enum().FullName() == "google.protobuf.NullValue"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
