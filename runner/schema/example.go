package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Explain sets the Words of each parameter.
func (h *Hook) Explain() {
	values := h.values()
	h.Params = slices.Clone(h.Params)
	for i, p := range h.Params {
		h.Params[i].Words = p.words(i < len(values) && isContainer(values[i]))
	}
}

// words lists the words that give a parameter, such as "VALUE" and "name=VALUE".
func (p Param) words(container bool) []string {
	form, kind := p.Name+"=VALUE", strings.TrimPrefix(p.Type, "repeated ")
	isMessage := strings.HasPrefix(kind, "message ")
	switch {
	case p.Kind == VarPositions:
		return []string{"VALUE…"}
	case p.Kind == VarNames:
		return []string{"NAME=VALUE…"}
	case p.Kind == PositionOnly && container:
		return []string{":=JSON"}
	case p.Kind == PositionOnly:
		return []string{"VALUE"}
	case strings.HasPrefix(p.Type, "map<"):
		return []string{p.Name + ".KEY=VALUE…", p.Name + ":=JSON"}
	case isMessage && kind == p.Type:
		return []string{p.Name + ".FIELD=VALUE…", p.Name + ":=JSON"}
	case !isMessage && kind != p.Type:
		return []string{form + "…", p.Name + ":=JSON"}
	case isMessage, container && p.Kind == NameOnly:
		return []string{p.Name + ":=JSON"}
	case container:
		return []string{":=JSON", p.Name + ":=JSON"}
	}
	words := []string{form}
	if p.Kind != NameOnly {
		words = []string{"VALUE", form}
	}
	if kind == "bytes" {
		words = append(words, p.Name+"@=FILE")
	}
	return words
}

func isContainer(value json.RawMessage) bool {
	return len(value) > 0 && (value[0] == '{' || value[0] == '[')
}

// values are those that the template has for the parameters, nil for the others.
func (h Hook) values() []json.RawMessage {
	var values []json.RawMessage
	if json.Unmarshal(h.Template, &values) == nil {
		return values
	}
	var names map[string]json.RawMessage
	if json.Unmarshal(h.Template, &names) != nil {
		return nil
	}
	for _, p := range h.Params {
		values = append(values, names[p.Name])
	}
	return values
}

// Example returns words that call the hook: they give what is required, and of a method
// all fields. The values are those of the template, and samples for empty fields.
func (h Hook) Example() []string {
	var words []string
	isMethod := strings.Contains(h.Name, "/")
	values := h.values()
	for i, p := range h.Params[:min(len(h.Params), len(values))] {
		value := values[i]
		switch {
		case value == nil, p.isVariadic(), !p.Required && !isMethod:
			continue
		case isMethod && string(value) == "null": // no message, or another field of a oneof
			continue
		case isMethod, p.Type == "bytes":
			value = sample(value, p)
		}
		name := p.Name
		if p.Kind != NameOnly {
			name = ""
		}
		words = append(words, word(name, value))
	}
	return words
}

// sample replaces the empty value of a field, and base64: as a word, bytes are text.
func sample(value json.RawMessage, p Param) json.RawMessage {
	switch {
	case len(p.Choices) > 0 && value[0] == '"':
		return p.Choices[len(p.Choices)-1]
	case p.Type == "bytes", string(value) == `""`:
		return json.RawMessage(`"text"`)
	case string(value) == "0", string(value) == `"0"`:
		return json.RawMessage("1")
	case string(value) == "false":
		return json.RawMessage("true")
	case string(value) == "[]" && p.Type == "repeated string":
		return json.RawMessage(`["text"]`)
	}
	return value
}

// word writes an argument, by position if name is empty. Text and numbers are written as
// they are, if they are read as the same again.
func word(name string, value json.RawMessage) string {
	text, typed := string(value), ""
	if value[0] == '"' {
		text = string(Unquote(value))
	}
	if typed = text; name != "" {
		typed = name + "=" + text
	}
	parsed, err := ParseWords([]string{typed}, nil)
	same := err == nil && parsed[0].Form == Plain && parsed[0].Name == name && bytes.Equal(Value(text), value)
	if same && !isContainer(value) && text != "" && typed[0] != '-' {
		return typed
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, value) // it was decoded
	return name + ":=" + compact.String()
}
