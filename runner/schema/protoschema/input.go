package protoschema

import (
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// inputOf returns the JSON Schema of a request.
func inputOf(request protoreflect.MessageDescriptor) json.RawMessage {
	s := inputSchema{defs: map[string]any{}}
	top := map[string]any{"type": "object"} // a message with a JSON of its own may be anything
	if !hasOwnJSON(request) && !request.IsPlaceholder() {
		top = s.fields(request)
	}
	if len(s.defs) > 0 {
		top["$defs"] = s.defs
	}
	text, _ := json.Marshal(top) // our own shape
	return text
}

// inputSchema makes one JSON Schema. The messages within the request are definitions.
type inputSchema struct{ defs map[string]any }

// fields is the schema of a message with fields.
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

// value is the schema of one value of a field.
func (s *inputSchema) value(field protoreflect.FieldDescriptor) any {
	switch kind := field.Kind(); {
	case field.Message() != nil:
		return s.message(field.Message())
	case field.Enum() != nil && field.Enum().IsPlaceholder():
		return map[string]any{"type": "string"}
	case field.Enum() != nil:
		return map[string]any{"enum": names(each(field.Enum().Values()))}
	case strings.HasSuffix(kind.String(), "64"): // JSON has such integers as text
		return map[string]any{"type": []string{"integer", "string"}}
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

// message is the schema of a message within the request.
func (s *inputSchema) message(message protoreflect.MessageDescriptor) any {
	own, isOwn := ownJSONs[message.FullName()]
	switch {
	case isOwn:
		return own.schema
	case isWrapper(message):
		return s.value(message.Fields().Get(0))
	case message.IsPlaceholder():
		return map[string]any{}
	}
	name := string(message.FullName())
	if _, known := s.defs[name]; !known {
		s.defs[name] = nil // a message may have itself
		s.defs[name] = s.fields(message)
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}
