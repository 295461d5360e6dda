package protoschema

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// giveBelow records that the word sets a part of a path. It rejects the word if another one
// set the whole path.
func (b *messageBinder) giveBelow(at string) error {
	first, again := b.given[at]
	if again && !first.below {
		return b.givenTwice(at, first.word.Typed)
	}
	if !again {
		b.given[at] = given{b.word, true}
	}
	return nil
}

// give records that the word sets a whole path. It rejects the word if another one set the
// path or a part of it.
func (b *messageBinder) give(at string) error {
	if first, again := b.given[at]; again {
		return b.givenTwice(at, first.word.Typed)
	}
	b.given[at] = given{word: b.word}
	return nil
}

// oneof rejects a second field of one oneof.
func (b *messageBinder) oneof(message protoreflect.Message, field protoreflect.FieldDescriptor, at string) error {
	oneof := field.ContainingOneof()
	if oneof == nil || oneof.IsSynthetic() {
		return nil
	}
	set := message.WhichOneof(oneof)
	if set == nil || set.Number() == field.Number() {
		return nil
	}
	first := b.given[join(at, set.TextName())].word.Typed
	return schema.ArgumentErrorf(join(at, field.TextName()), "%q and %q are both of oneof %s, want one",
		schema.Short(first), schema.Short(b.word.Typed), oneof.Name())
}

func (b *messageBinder) givenTwice(at, first string) error {
	e := schema.ArgumentErrorf(at, "%s is given twice, by %q and by %q", schema.Short(at), schema.Short(first), schema.Short(b.word.Typed))
	e.Advice = []schema.Hint{b.method.hint()}
	return e
}

func (b *messageBinder) badValue(at, want string) error {
	return schema.BadValue(at, b.word.Value, want, b.method.hint())
}

// noName rejects a value without a name, since fields have no positions.
func (b *messageBinder) noName() error {
	input, typed := b.method.desc.Input(), schema.Short(b.word.Typed)
	names := fieldNames(input)
	if isStruct(input) || len(names) == 0 {
		return schema.ArgumentErrorf("", "%q has no name, want --NAME VALUE", typed)
	}
	e := schema.ArgumentErrorf("", "%q has no name, want --NAME VALUE with %s", typed, schema.OneOf(names))
	words := []string{schema.OptionOf(names[0]), b.word.Typed}
	switch b.word.Form {
	case schema.Plain:
		e.Word = b.word.Number
	case schema.Text: // perhaps behind a "--", and typed without a mark
		words = []string{names[0] + "=" + b.word.Value}
	default:
		words = []string{names[0] + b.word.Typed}
	}
	e.Advice = schema.Hints("fields have no positions: %s", schema.QuoteLine(words))
	return e
}

func (b *messageBinder) notNested(at, kind string) error {
	return schema.ArgumentErrorf(at, "%s is %s, want no name below it as in %q", schema.Short(at), kind, schema.Short(b.word.Typed))
}

// noField reports a name of the word that a message does not have.
func (b *messageBinder) noField(message protoreflect.MessageDescriptor, at, name string) error {
	e := noField(message, at, name)
	e.Unknown, e.Word = b.word.Name, b.word.Number
	if b.word.IsDashed() {
		e.Advice = nil
		if meant := schema.Suggest(strings.ReplaceAll(name, "-", "_"), fieldNames(message)); meant != "" {
			e.Advice = schema.DidYouMean(schema.OptionOf(join(at, meant)))
		}
	}
	return e
}

// noField reports a name that a message does not have. at is the path of the message.
func noField(message protoreflect.MessageDescriptor, at, name string) *schema.ArgumentError {
	names, path := fieldNames(message), join(at, name)
	e := schema.ArgumentErrorf(path, "no field %q in %s, want %s", schema.Short(path), message.FullName(), schema.OneOf(names))
	if meant := schema.Suggest(name, names); meant != "" {
		e.Advice = schema.DidYouMean(join(at, meant))
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
