package protoschema

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// inputOf returns the JSON Schema of a request.
func inputOf(request protoreflect.MessageDescriptor) json.RawMessage {
	s := inputSchema{defs: map[string]any{}, sizes: map[protoreflect.FullName]int{}}
	s.isLarge = s.size(request) > maxInlined
	top := map[string]any{"type": "object", "properties": map[string]any{}} // a message with its own JSON may be anything
	if !hasOwnJSON(request) && !request.IsPlaceholder() {
		top = s.fields(request)
	}
	if len(s.defs) > 0 {
		top["$defs"] = s.defs
	}
	text, _ := json.Marshal(top) // this type can always be encoded
	return text
}

// maxInlined is the largest number of fields of a schema without references.
const maxInlined = 5000

// inputSchema makes one JSON Schema in the form that clients of language models accept: each enum
// has a type and each list has items. Messages inside the request are inlined, because some clients
// do not resolve references. Only messages that contain themselves become definitions, or all
// messages if there are too many fields.
type inputSchema struct {
	defs    map[string]any
	sizes   map[protoreflect.FullName]int
	isLarge bool
}

// size returns the number of fields of a message and of the messages inside it, without references.
func (s *inputSchema) size(message protoreflect.MessageDescriptor) int {
	name := message.FullName()
	if size, known := s.sizes[name]; known {
		return size
	}
	s.sizes[name] = 0 // for a message that contains itself
	total := 0
	for within := range messagesIn(message) {
		total += s.size(within)
	}
	s.sizes[name] = min(total, maxInlined) + message.Fields().Len() + 1 // limited, because the number may double with each level
	return s.sizes[name]
}

// messagesIn yields the message of each field whose message has fields of its own. It yields a
// message again if several fields have it.
func messagesIn(message protoreflect.MessageDescriptor) iter.Seq[protoreflect.MessageDescriptor] {
	return func(yield func(protoreflect.MessageDescriptor) bool) {
		if hasOwnJSON(message) {
			return
		}
		for field := range each(message.Fields()) {
			if field.IsMap() {
				field = field.MapValue()
			}
			if within := field.Message(); within != nil && !within.IsPlaceholder() && !hasOwnJSON(within) && !yield(within) {
				return
			}
		}
	}
}

// isRecursive reports whether a message contains itself.
func isRecursive(message protoreflect.MessageDescriptor) bool {
	seen := map[protoreflect.FullName]bool{}
	var reaches func(protoreflect.MessageDescriptor) bool
	reaches = func(from protoreflect.MessageDescriptor) bool {
		for within := range messagesIn(from) {
			name := within.FullName()
			if name == message.FullName() {
				return true
			}
			if !seen[name] {
				seen[name] = true
				if reaches(within) {
					return true
				}
			}
		}
		return false
	}
	return reaches(message)
}

// anything returns the schema of any value. It has types, because some clients reject a schema
// without a type.
func anything() map[string]any {
	flat := []any{}
	for _, kind := range []string{"string", "number", "boolean", "object", "null"} {
		flat = append(flat, map[string]any{"type": kind})
	}
	lists := func(items []any) []any {
		return append(slices.Clip(flat), map[string]any{"type": "array", "items": map[string]any{"anyOf": items}})
	}
	return map[string]any{"anyOf": lists(lists(flat))}
}

// fields returns the schema of a message with fields.
func (s *inputSchema) fields(message protoreflect.MessageDescriptor) map[string]any {
	properties, required := map[string]any{}, []string{}
	for field := range each(message.Fields()) {
		properties[field.TextName()] = s.field(field)
		if field.Cardinality() == protoreflect.Required {
			required = append(required, field.TextName())
		}
	}
	found := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		found["required"] = required
	}
	return found
}

func (s *inputSchema) field(field protoreflect.FieldDescriptor) any {
	switch {
	case field.IsMap():
		return map[string]any{"type": "object", "additionalProperties": s.value(field.MapValue())}
	case field.IsList():
		return map[string]any{"type": "array", "items": s.value(field)}
	}
	return s.value(field)
}

// value returns the schema of one value of a field.
func (s *inputSchema) value(field protoreflect.FieldDescriptor) any {
	switch kind := field.Kind(); {
	case field.Message() != nil:
		return s.message(field.Message())
	case field.Enum() != nil && field.Enum().IsPlaceholder():
		return map[string]any{"type": "string"}
	case field.Enum() != nil:
		return map[string]any{"type": "string", "enum": names(each(field.Enum().Values()))}
	case strings.HasSuffix(kind.String(), "64"): // in JSON such integers are text
		return map[string]any{"anyOf": []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}}
	case kind == protoreflect.Uint32Kind, kind == protoreflect.Fixed32Kind:
		return map[string]any{"type": "integer", "minimum": 0}
	case kind == protoreflect.FloatKind, kind == protoreflect.DoubleKind:
		return map[string]any{"type": "number"}
	case kind == protoreflect.BoolKind:
		return map[string]any{"type": "boolean"}
	case kind == protoreflect.StringKind:
		return map[string]any{"type": "string"}
	case kind == protoreflect.BytesKind:
		return map[string]any{"type": "string", "contentEncoding": "base64"}
	}
	return map[string]any{"type": "integer"}
}

// message returns the schema of a message inside the request.
func (s *inputSchema) message(message protoreflect.MessageDescriptor) any {
	own, isOwn := ownJSONs[message.FullName()]
	switch {
	case isOwn:
		return own.schema
	case isWrapper(message):
		return s.value(message.Fields().Get(0))
	case message.IsPlaceholder():
		return anything()
	case !s.isLarge && !isRecursive(message):
		return s.fields(message)
	}
	name := string(message.FullName())
	if _, known := s.defs[name]; !known {
		s.defs[name] = nil // a message may contain itself
		s.defs[name] = s.fields(message)
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}
