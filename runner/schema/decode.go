package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// KeyError is the error for a key that an object must not have.
type KeyError struct {
	Key string
	// Unknown says that no object of this type has the key. Otherwise the key is given twice.
	Unknown bool
	// Offset is the number of bytes before the key.
	Offset int
}

// Error returns a message such as `"name" is given twice`.
func (e *KeyError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("unknown key %s", Quote(Short(e.Key)))
	}
	return fmt.Sprintf("%s is given twice", Quote(Short(e.Key)))
}

// Twice returns the [*KeyError] in err's chain if it is about a key that is given twice, or nil.
func Twice(err error) error {
	if wrong, ok := errors.AsType[*KeyError](err); ok && !wrong.Unknown {
		return wrong
	}
	return nil
}

// Decode decodes JSON like encoding/json, but requires exact keys: encoding/json also accepts keys
// in another letter case, and uses the last of several equal keys. For a key that is given twice,
// Decode stores the first value and returns a [*KeyError]. It ignores unknown keys, and does not
// check values that it stores as [json.RawMessage].
func Decode(text []byte, to any) error { return decode(text, to, false) }

// DecodeKnown is like [Decode], but also returns a [*KeyError] for an unknown key.
func DecodeKnown(text []byte, to any) error { return decode(text, to, true) }

func decode(text []byte, to any, known bool) error {
	k := keys{text: text, known: known}
	k.value(reflect.TypeOf(to).Elem())
	if err := json.Unmarshal(k.text, to); err != nil {
		return err
	}
	if k.wrong != nil {
		return k.wrong
	}
	return nil
}

// keys checks the keys of the objects in a text against the types that they are decoded into. It
// hides each key that encoding/json would accept by mistake. The text may be invalid, which
// encoding/json reports.
type keys struct {
	text   []byte // copied before it is changed
	copied bool
	at     int // the index of the next byte to read
	depth  int
	known  bool      // unknown keys are errors, too
	wrong  *KeyError // the first error
}

// deepest is the depth of nesting that encoding/json accepts.
const deepest = 10_000

// value reads a value and the blanks around it.
func (k *keys) value(t reflect.Type) {
	k.blanks()
	s := shapeOf(t)
	switch {
	case k.at >= len(k.text), k.depth > deepest:
		k.at = len(k.text)
	case k.text[k.at] == '{' && s.isObject:
		k.depth++
		k.object(s)
		k.depth--
	case k.text[k.at] == '[' && s.element != nil:
		k.depth++
		for k.more(']') {
			k.value(s.element)
		}
		k.depth--
	default:
		k.at += partSize(k.text[k.at:])
	}
}

// object reads an object.
func (k *keys) object(s *shape) {
	given := make([]bool, len(s.names))
	var others map[string]bool // the keys of a map
	for k.more('}') {
		at := k.at
		k.at += partSize(k.text[at:])
		quoted := Trim(k.text[at:k.at])
		if len(quoted) < len(`""`) || k.at >= len(k.text) { // the text is not JSON
			k.at = len(k.text)
			return
		}
		k.at++ // skip the colon
		i, name := s.find(quoted)
		switch {
		case s.element != nil && others[name], i >= 0 && given[i]:
			k.reject(at, quoted, KeyError{Key: name})
		case s.element != nil && others == nil:
			others = map[string]bool{name: true}
		case s.element != nil:
			others[name] = true
		case i >= 0:
			given[i] = true
		case k.known:
			k.reject(at, quoted, KeyError{Key: name, Unknown: true})
		case slices.ContainsFunc(s.names, func(known string) bool { return strings.EqualFold(known, name) }):
			k.hide(at, len(quoted))
		}
		switch {
		case s.element != nil:
			k.value(s.element)
		case i >= 0:
			k.value(s.types[i])
		default:
			k.at += partSize(k.text[k.at:])
		}
	}
}

// more moves to the next key or element, from the bracket or comma before it. It returns false
// after end.
func (k *keys) more(end byte) bool {
	k.blanks()
	if k.at < len(k.text) && k.text[k.at] != end {
		k.at++
		k.blanks()
	}
	if k.at < len(k.text) && k.text[k.at] != end {
		return true
	}
	k.at++
	return false
}

func (k *keys) blanks() {
	for k.at < len(k.text) && strings.IndexByte(Blanks, k.text[k.at]) >= 0 {
		k.at++
	}
}

// reject records the error of a key unless there is an earlier one, and hides the key from the
// decoder.
func (k *keys) reject(at int, quoted []byte, e KeyError) {
	if k.wrong == nil {
		e.Offset = at
		k.wrong = &e
	}
	k.hide(at, len(quoted))
}

// hide replaces a key, which is size bytes long, with a key that no type has.
func (k *keys) hide(at, size int) {
	if !k.copied {
		k.text, k.copied = bytes.Clone(k.text), true
	}
	copy(k.text[at+1:at+size-1], bytes.Repeat([]byte("~"), size-2))
}

// shape says how encoding/json decodes objects and arrays into a type.
type shape struct {
	isObject bool // its keys are checked
	names    []string
	types    []reflect.Type // the types of the values, in the order of names
	element  reflect.Type   // the element type of a list or a map
}

// find returns the index of a key and its name. The index is -1 if the shape does not have the key.
// The given key is a quoted JSON string.
func (s *shape) find(quoted []byte) (i int, name string) {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		inner = Unquote(quoted)
	}
	for i, name := range s.names {
		if string(inner) == name {
			return i, name
		}
	}
	return -1, string(inner)
}

var (
	shapes        sync.Map // reflect.Type → *shape
	decodesItself = reflect.TypeFor[json.Unmarshaler]()
)

// shapeOf returns the shape of a type.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{}
	at := t
	for at.Kind() == reflect.Pointer {
		at = at.Elem()
	}
	switch kind := at.Kind(); {
	case reflect.PointerTo(at).Implements(decodesItself):
	case kind == reflect.Struct:
		s.isObject = true
		s.addFields(at)
	case kind == reflect.Map:
		s.isObject, s.element = true, at.Elem()
	case kind == reflect.Interface:
		s.isObject, s.element = true, at
	case kind == reflect.Slice, kind == reflect.Array:
		s.element = at.Elem()
	}
	shapes.Store(t, s)
	return s
}

// addFields adds the fields of a struct, and of structs that are embedded in it. Its own fields
// hide those of embedded structs with the same name.
func (s *shape) addFields(t reflect.Type) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-":
		case name == "" && field.Anonymous && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
		case field.IsExported():
			if name == "" {
				name = field.Name
			}
			if !slices.Contains(s.names, name) {
				s.names, s.types = append(s.names, name), append(s.types, field.Type)
			}
		}
	}
	for _, inner := range embedded {
		s.addFields(inner)
	}
}
