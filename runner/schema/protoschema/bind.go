package protoschema

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// BindMessage makes m's request from words: they become JSON, which [DecodeMessage] reads. A word
// names a field by its proto name or its JSON name. A dot leads to a field of a message or to the
// key of a map, which may itself contain dots if the values are not messages. Words give
//
//   - repeated fields by repeating the word, or as a JSON array in the only word; maps as
//     labels.key=VALUE
//   - int and float as in protojson; a bool also as yes, no, 1 or 0
//   - string and bytes verbatim
//   - an enum by the name or the number of its value
//   - a wrapper as the value that it wraps; Timestamp, Duration and FieldMask as their
//     text in JSON
//   - Struct, Value and ListValue by the rule of [schema.Value]
//   - any other message, and a map without a key, as a JSON object
//   - name:=JSON for any field; for a repeated field one element, or an array of several
//
// Names in a Struct or a Value are keys: meta.fields.a=x sets a key "fields" of meta. The same
// applies to a request that is a Struct or a Value. The word value=VALUE sets a request that wraps
// a value. Requests of other well-known types accept no words.
//
// A name that is not a Python identifier has the form --labels.my-key VALUE. A bool needs no value,
// as --NAME and --no-NAME. If content is not nil, it is the request as JSON, and the words set the
// fields that it does not contain. An error is a [*schema.ArgumentError], whose Place is the path
// of the field, or a [*hook.Error].
func BindMessage(m Method, words []schema.Word, content json.RawMessage) (proto.Message, error) {
	b := binder{method: m, own: map[string]bool{}}
	if content != nil {
		if err := b.start(content); err != nil {
			return nil, err
		}
	}
	words, err := schema.Decide(words, b.takesNoValue)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		if err := b.put(w); err != nil {
			return nil, err
		}
	}
	if content == nil && len(words) == 0 { // an empty well-known type may have no JSON
		return m.NewRequest(), initialized(m.NewRequest())
	}
	request, err := b.json(&b.root, "")
	if err != nil {
		return nil, b.withForm(err)
	}
	message, err := DecodeMessage(m, request)
	return message, b.withForm(err)
}

// binder builds the JSON of one request word by word.
type binder struct {
	method Method
	root   part
	own    map[string]bool // the fields that the request's own JSON sets
}

// part is a part of the request: the words that set it, or its members.
type part struct {
	words   []schema.Word // several for a repeated field
	field   protoreflect.FieldDescriptor
	members map[string]*part
	text    json.RawMessage // a member of the request's own JSON
}

// start begins with the request's own JSON. One field of a oneof sets the whole oneof.
func (b *binder) start(content json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(content, &members); err != nil {
		return b.method.unfit("", err.Error())
	}
	b.root.members = map[string]*part{}
	for name, text := range members {
		b.root.members[name] = &part{text: text}
		b.own[name] = true
		field := findField(b.method.desc.Input(), name, false)
		if field == nil { // an extension, or the key of a Struct
			continue
		}
		b.own[field.TextName()] = true
		if oneof := field.ContainingOneof(); oneof != nil {
			for other := range each(oneof.Fields()) {
				b.own[other.TextName()] = true
			}
		}
	}
	return nil
}

// put adds a word to the part that it names.
func (b *binder) put(w schema.Word) error {
	const deepest = 100
	switch {
	case w.Name == "":
		return b.noName(w)
	case strings.Count(w.Name, ".") >= deepest:
		return schema.BadValue(w.Name, w.Name, "a path of at most 100 names")
	case !utf8.ValidString(w.Name):
		return schema.BadValue(w.Name, w.Name, "a name of UTF-8")
	}
	path, field, err := b.resolve(w)
	if err != nil || len(path) > 0 && b.own[path[0]] {
		return err
	}
	at := &b.root
	for _, key := range path {
		if at.members == nil {
			at.members = map[string]*part{}
		}
		if at.members[key] == nil {
			at.members[key] = new(part)
		}
		if at = at.members[key]; len(at.words) > 0 && (at.field == nil || !at.field.IsList()) {
			break
		}
	}
	isList := field != nil && field.IsList()
	if at.members != nil || len(at.words) > 0 && !isList {
		e := schema.ArgumentErrorf(strings.Join(path, "."), "%s is given twice, last by %q", schema.Short(strings.Join(path, ".")), schema.Short(w.Typed))
		e.Hints = []schema.Hint{b.method.hint()}
		return e
	}
	at.field, at.words = field, append(at.words, w)
	return nil
}

// resolve returns the path of the part that a word names, in proto names, and its field. The field
// is nil inside a Struct.
func (b *binder) resolve(w schema.Word) (path []string, _ protoreflect.FieldDescriptor, _ error) {
	message, names := b.method.desc.Input(), strings.Split(w.Name, ".")
	for {
		at := strings.Join(path, ".")
		switch {
		case isStruct(message), message.FullName() == "google.protobuf.Value":
			return append(path, names...), nil, nil
		case hasOwnJSON(message) && !isWrapper(message):
			return nil, nil, notNested(w, at, "message "+string(message.FullName()))
		}
		field := findField(message, names[0], w.IsDashed())
		switch {
		case field == nil:
			return nil, nil, noField(message, at, names[0], w)
		case isWrapper(message) && len(names) == 1: // the JSON of a wrapper is the JSON of its field
			return path, field, nil
		}
		path, names = append(path, field.TextName()), names[1:]
		if field.IsMap() && len(names) > 0 {
			key, rest := strings.Join(names, "."), []string(nil)
			if field.MapValue().Message() != nil {
				key, rest = names[0], names[1:]
			}
			text, ok := textJSON(field.MapKey(), key)
			if !ok {
				return nil, nil, schema.BadValue(strings.Join(path, "."), key, wanted(field.MapKey())+" as key", b.method.hint())
			}
			path, names, field = append(path, strings.Trim(string(text), `"`)), rest, field.MapValue()
		}
		inner := field.Message()
		switch {
		case inner != nil && inner.IsPlaceholder():
			return nil, nil, b.method.set.missing(inner.FullName(), field)
		case len(names) == 0:
			return path, field, nil
		case inner == nil, field.IsList():
			return nil, nil, notNested(w, strings.Join(path, "."), fieldType(field))
		}
		message = inner
	}
}

// findField finds a field by its proto name or its JSON name. In --NAME, dashes may stand for
// underscores.
func findField(message protoreflect.MessageDescriptor, name string, isDashed bool) protoreflect.FieldDescriptor {
	fields := message.Fields()
	found := cmp.Or(fields.ByTextName(name), fields.ByName(protoreflect.Name(name)), fields.ByJSONName(name))
	if found == nil && isDashed {
		return findField(message, strings.ReplaceAll(name, "-", "_"), false)
	}
	return found
}

// takesNoValue reports whether a name is a field, and whether the field is a bool, for
// [schema.Decide].
func (b *binder) takesNoValue(name string) (known, is bool) {
	_, field, err := b.resolve(schema.Word{Name: name, Typed: "--" + name})
	if err != nil || field == nil {
		return err == nil, false
	}
	return true, isFlag(field)
}

// isFlag reports whether the option of a field takes no value.
func isFlag(field protoreflect.FieldDescriptor) bool {
	inner := field.Message()
	isBool := field.Kind() == protoreflect.BoolKind || inner != nil && inner.FullName() == "google.protobuf.BoolValue"
	return isBool && !field.IsList()
}

// json returns the JSON of a part. at is the path of the part.
func (b *binder) json(p *part, at string) (json.RawMessage, error) {
	switch {
	case p.text != nil:
		return p.text, nil
	case len(p.words) == 0:
		object := map[string]json.RawMessage{}
		for _, name := range slices.Sorted(maps.Keys(p.members)) {
			text, err := b.json(p.members[name], join(at, name))
			if err != nil {
				return nil, err
			}
			object[name] = text
		}
		return json.Marshal(object)
	case p.field == nil || !p.field.IsList():
		return b.value(p.field, p.words[0], at)
	}
	elements := []json.RawMessage{}
	for _, w := range p.words {
		var several []json.RawMessage
		isWhole := w.Form == schema.JSON || len(p.words) == 1 && strings.HasPrefix(w.Value, "[")
		if isWhole && json.Unmarshal([]byte(w.Value), &several) == nil {
			elements = append(elements, several...)
			continue
		}
		element, err := b.value(p.field, w, at)
		if err != nil {
			return nil, err
		}
		elements = append(elements, element)
	}
	return json.Marshal(elements)
}

// value returns the JSON of a word for a field, or for one element of it. A nil field means a value
// inside a Struct.
func (b *binder) value(field protoreflect.FieldDescriptor, w schema.Word, at string) (json.RawMessage, error) {
	if w.Form == schema.JSON {
		if offset, err := schema.CheckJSON([]byte(w.Value)); err != nil {
			return nil, schema.ArgumentErrorf(w.Name, "argument %q: not JSON at byte %d: %v", schema.Short(w.Typed), offset+1, err)
		}
		return json.RawMessage(w.Value), nil
	}
	if field == nil {
		return schema.Value(w.Value), nil
	}
	text, ok := textJSON(field, w.Value)
	if !ok {
		return nil, schema.BadValue(at, w.Value, wanted(field), b.method.hint())
	}
	return text, nil
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
	case protoreflect.EnumKind:
		return enumJSON(field.Enum(), strings.TrimSpace(text))
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return messageJSON(field.Message(), text)
	}
	return schema.Quote(strings.TrimSpace(text)), utf8.ValidString(text) // protojson also accepts a number as a string
}

// enumJSON reads a value by name or number. A closed enum, such as an enum of proto2, accepts only
// declared numbers.
func enumJSON(enum protoreflect.EnumDescriptor, text string) (json.RawMessage, bool) {
	if enum.FullName() == "google.protobuf.NullValue" && text == "null" {
		return json.RawMessage(text), true
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return schema.Quote(text), enum.Values().ByName(protoreflect.Name(text)) != nil || enum.IsPlaceholder() && utf8.ValidString(text)
	}
	known := enum.Values().ByNumber(protoreflect.EnumNumber(number)) != nil
	return json.RawMessage(strconv.FormatInt(number, 10)), known || !enum.IsClosed() || enum.IsPlaceholder()
}

// messageJSON reads a message. For a wrapper the text is the wrapped value.
func messageJSON(message protoreflect.MessageDescriptor, text string) (json.RawMessage, bool) {
	switch {
	case ownJSONs[message.FullName()].schema["type"] == "string":
		return schema.Quote(strings.TrimSpace(text)), true
	case isWrapper(message):
		return textJSON(message.Fields().Get(0), text)
	}
	return schema.Value(text), true
}

// noName rejects a value without a name, because fields have no positions.
func (b *binder) noName(w schema.Word) error {
	names := fieldNames(b.method.desc.Input())
	e := schema.ArgumentErrorf("", "%q has no name, expected --NAME VALUE", schema.Short(w.Typed))
	if w.Form == schema.Plain {
		e.Word = w.Number
	}
	if len(names) > 0 && !isStruct(b.method.desc.Input()) {
		e.Problem += " with " + schema.OneOf(names)
		words := []string{schema.OptionOf(names[0]), w.Value}
		if w.Form == schema.Plain && strings.Contains(w.Typed, "=") { // the word's name is not an identifier
			words = []string{"--" + w.Typed}
		}
		e.Hints = schema.Hints("name the field: %s", schema.QuoteLine(words))
	}
	return e
}

func notNested(w schema.Word, at, kind string) error {
	return schema.ArgumentErrorf(at, "%s is %s, expected one value for all of it, not %q", cmp.Or(schema.Short(at), "the request"), kind, schema.Short(w.Typed))
}

// noField returns the error for a name that a message does not have. at is the path of the message.
func noField(message protoreflect.MessageDescriptor, at, name string, w schema.Word) error {
	names, path := fieldNames(message), join(at, name)
	e := schema.ArgumentErrorf(path, "no field %q in %s, expected %s", schema.Short(path), message.FullName(), schema.OneOf(names))
	e.Unknown, e.Word = w.Name, w.Number
	meant := schema.Suggest(strings.ReplaceAll(name, "-", "_"), names)
	switch {
	case meant != "" && w.IsDashed():
		e.Hints = schema.DidYouMean(schema.OptionOf(join(at, meant)))
	case meant != "":
		e.Hints = schema.DidYouMean(join(at, meant))
	}
	return e
}

// withForm adds the right form of the word to an error of a field that expects an object or a list.
func (b *binder) withForm(err error) error {
	bad := (*schema.ArgumentError)(nil)
	if !errors.As(err, &bad) {
		return err
	}
	name := bad.Place[:strings.IndexAny(bad.Place+".", ".[")]
	given := b.root.members[name]
	if given == nil || given.field == nil || len(given.words) == 0 || given.words[0].Form != schema.Plain {
		return err
	}
	var values map[string]json.RawMessage
	var value bytes.Buffer
	switch field := given.field; {
	case field.IsMap():
		bad.Hints = append(bad.Hints, schema.Hintf("name the key: %s.KEY VALUE", schema.OptionOf(name)))
	case !field.IsList() && (field.Message() == nil || hasOwnJSON(field.Message())):
	case json.Unmarshal(b.method.Template(), &values) == nil && json.Compact(&value, values[name]) == nil:
		bad.Hints = append(bad.Hints, schema.Hintf("write it as JSON: %s", schema.QuoteLine([]string{name + ":=" + value.String()})))
	}
	return err
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
