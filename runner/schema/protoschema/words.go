package protoschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// takesNoValue reports, for [schema.Decide], whether a name is a field, and whether it is a bool.
func (b *messageBinder) takesNoValue(name string) (known, is bool) {
	message := b.method.desc.Input()
	for path := strings.Split(name, "."); ; path = path[1:] {
		field := findDashed(message, path[0])
		if isStruct(message) || message.FullName() == "google.protobuf.Value" {
			return true, false
		}
		if field == nil {
			return false, false
		}
		if field.IsMap() && len(path) > 1 {
			field = field.MapValue()
			if field.Message() == nil { // a key may have dots
				return true, field.Kind() == protoreflect.BoolKind
			}
			path = path[1:]
		}
		inner := field.Message()
		switch {
		case len(path) == 1:
			isBool := field.Kind() == protoreflect.BoolKind || inner != nil && inner.FullName() == "google.protobuf.BoolValue"
			return true, isBool && !field.IsList()
		case inner == nil || inner.IsPlaceholder():
			return true, false
		}
		message = inner
	}
}

// findDashed finds a field by its name, or by its name with dashes for underscores.
func findDashed(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if found := findField(message, name); found != nil {
		return found
	}
	return findField(message, strings.ReplaceAll(name, "-", "_"))
}

// find finds the field that a name of the word means.
func (b *messageBinder) find(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if b.word.IsDashed() {
		return findDashed(message, name)
	}
	return findField(message, name)
}

// isWhole reports whether a word is a JSON array, and so all of a repeated field if it is the only
// word for it.
func isWhole(w schema.Word) bool {
	return w.Form == schema.Plain && strings.HasPrefix(string(schema.Value(w.Value)), "[")
}

// element sets an element of a repeated field to the word's value, or the whole field. If
// another word gave the whole field, that is an element, too.
func (b *messageBinder) element(message protoreflect.Message, field protoreflect.FieldDescriptor, at string) error {
	first, again := b.given[at]
	if !again {
		b.given[at] = given{word: b.word}
		return b.set(message, field, at, isWhole(b.word))
	}
	if isWhole(first.word) {
		word := b.word
		message.Clear(field)
		b.word, b.given[at] = first.word, given{word: word}
		err := b.oneOfSeveral(message, field, at)
		if b.word = word; err != nil {
			return err
		}
	}
	return b.oneOfSeveral(message, field, at)
}

// oneOfSeveral sets an element of a repeated field that other words give elements of.
func (b *messageBinder) oneOfSeveral(message protoreflect.Message, field protoreflect.FieldDescriptor, at string) error {
	err := b.set(message, field, at, false)
	if bad := (*schema.ArgumentError)(nil); errors.As(err, &bad) && isWhole(b.word) {
		bad.Problem += ": a list as JSON must be the only word for it"
	}
	return err
}

// own returns the fields that the request's JSON gives, which was decoded. Their words are not used.
func (b *messageBinder) own(content json.RawMessage) (map[protoreflect.FieldDescriptor]bool, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(content, &members); err != nil {
		return nil, err
	}
	fields := map[protoreflect.FieldDescriptor]bool{}
	for name := range members {
		field := findField(b.method.desc.Input(), name)
		fields[field] = true
		if field == nil { // an extension
			continue
		}
		if oneof := field.ContainingOneof(); oneof != nil { // one of its fields is all of it
			for i := range oneof.Fields().Len() {
				fields[oneof.Fields().Get(i)] = true
			}
		}
	}
	return fields, nil
}

// withJSON adds to an error of a field that wants an object or a list the word that gives it as
// JSON.
func (b *messageBinder) withJSON(err error) error {
	bad := (*schema.ArgumentError)(nil)
	field := b.find(b.method.desc.Input(), b.word.Name)
	if !errors.As(err, &bad) || b.word.Form != schema.Plain || field == nil || !field.IsList() && (field.Message() == nil || hasOwnJSON(field.Message())) {
		return err
	}
	if key, text, ok := strings.Cut(b.word.Value, "="); ok && key != "" && field.IsMap() {
		bad.Advice = append(bad.Advice, schema.Hintf("name the key: %s", schema.QuoteLine([]string{schema.OptionOf(field.TextName()) + "." + key, text})))
		return err
	}
	var values map[string]json.RawMessage
	var value bytes.Buffer
	if json.Unmarshal(b.method.Template(), &values) != nil || json.Compact(&value, values[field.TextName()]) != nil {
		return err
	}
	bad.Advice = append(bad.Advice, schema.Hintf("as JSON: %s", schema.QuoteLine([]string{field.TextName() + ":=" + value.String()})))
	return err
}
