package schema

import (
	"encoding/json"
	"strings"
)

// annotation is what a parameter's type says about a VALUE for it.
type annotation struct {
	members []string // "str", "int", "float", "bool", in the order of the source
	null    bool     // None is a member
	other   bool     // so is a type that does not decide
}

// add adds the members of a type as the source has it: the four plain types,
// None, Optional, Union, "|", Annotated, Final, Literal, and any of them in
// quotes or with a module before it. Every other type is other.
func (a *annotation) add(source string, depth int) {
	const deepest = 20 // bounds the work for a hostile type
	source = strings.TrimSpace(source)
	parts := splitTop(source, '|')
	inner, quoted := unquote(source)
	switch {
	case depth > deepest:
		a.other = true
	case len(parts) > 1:
		a.addAll(parts, depth)
	case quoted:
		a.add(inner, depth+1)
	default:
		name, inner, generic := strings.Cut(source, "[")
		name = strings.TrimSpace(name[strings.LastIndexByte(name, '.')+1:])
		if generic {
			a.addGeneric(name, strings.TrimSuffix(inner, "]"), depth)
		} else {
			a.addName(name)
		}
	}
}

func (a *annotation) addAll(parts []string, depth int) {
	for _, part := range parts {
		a.add(part, depth+1)
	}
}

func (a *annotation) addName(name string) {
	switch name {
	case "str", "int", "float", "bool":
		a.members = append(a.members, name)
	case "None", "NoneType":
		a.null = true
	default:
		a.other = true
	}
}

func (a *annotation) addGeneric(name, inner string, depth int) {
	parts := splitTop(inner, ',')
	switch name {
	case "Optional":
		a.add(inner, depth+1)
		a.null = true
	case "Union":
		a.addAll(parts, depth)
	case "Annotated", "Final":
		a.add(parts[0], depth+1)
	case "Literal":
		for _, value := range parts {
			a.addName(literalType(strings.TrimSpace(value)))
		}
	default:
		a.other = true
	}
}

// literalType names the type of a value in a Literal.
func literalType(value string) string {
	if _, quoted := unquote(value); quoted {
		return "str"
	}
	if _, whole := ParseInt(value); whole {
		return "int"
	}
	if value == "True" || value == "False" {
		return "bool"
	}
	return value
}

// value writes text as the annotation says: null where None is allowed, else
// the first member that it parses as, else by the rule of [Value] if the
// annotation leaves room for that. It reports whether the text fits.
func (a annotation) value(text string) (json.RawMessage, bool) {
	if a.null && (text == "null" || text == "None") {
		return json.RawMessage("null"), true
	}
	for _, member := range a.members {
		if value, ok := parsers[member](text); ok {
			return value, true
		}
	}
	// A type that is None alone is that of a default, and decides nothing.
	if a.other || len(a.members) == 0 {
		return Value(text), true
	}
	return nil, false
}

var parsers = map[string]func(string) (json.RawMessage, bool){
	"str":   func(text string) (json.RawMessage, bool) { return Quote(text), true },
	"int":   ParseInt,
	"float": ParseFloat,
	"bool":  ParseBool,
}

// splitTop splits at sep where it stands outside brackets and quotes.
func splitTop(source string, sep byte) []string {
	var parts []string
	depth, start, quote := 0, 0, byte(0)
	for i := range len(source) {
		c := source[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == sep && depth == 0:
			parts = append(parts, source[start:i])
			start = i + 1
		}
	}
	return append(parts, source[start:])
}

// unquote returns the content of a Python string literal without escapes.
func unquote(source string) (string, bool) {
	if len(source) < 2 || source[0] != source[len(source)-1] || (source[0] != '\'' && source[0] != '"') {
		return "", false
	}
	inner := source[1 : len(source)-1]
	return inner, strings.IndexByte(inner, source[0]) < 0
}
