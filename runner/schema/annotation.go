package schema

import (
	"encoding/json"
	"strings"
)

// annotation is what a parameter's type tells about a VALUE given for it.
type annotation struct {
	members []string // "str", "int", "float", "bool", in the order of the source
	null    bool     // None is a member
	other   bool     // so is something that does not decide
}

// readAnnotation understands a type as the source has it: the four plain types,
// None, Optional, Union, "|", Annotated, Final, Literal, and any of them in
// quotes or with a module before it. All else is other.
func readAnnotation(source string) annotation {
	var a annotation
	a.add(source, 0)
	return a
}

func (a *annotation) add(source string, depth int) {
	const deepest = 20 // a type nobody writes; it keeps a hostile one cheap
	source = strings.TrimSpace(source)
	if depth > deepest {
		a.other = true
		return
	}
	if parts := splitTop(source, '|'); len(parts) > 1 {
		a.addAll(parts, depth)
		return
	}
	if inner, ok := unquote(source); ok {
		a.add(inner, depth+1)
		return
	}
	name, inner, generic := strings.Cut(source, "[")
	name = name[strings.LastIndexByte(name, '.')+1:]
	if generic {
		a.addGeneric(strings.TrimSpace(name), strings.TrimSuffix(inner, "]"), depth)
		return
	}
	switch name {
	case "str", "int", "float", "bool":
		a.members = append(a.members, name)
	case "None", "NoneType":
		a.null = true
	default:
		a.other = true
	}
}

func (a *annotation) addAll(parts []string, depth int) {
	for _, part := range parts {
		a.add(part, depth+1)
	}
}

func (a *annotation) addGeneric(name, inner string, depth int) {
	switch name {
	case "Optional":
		a.add(inner, depth+1)
		a.null = true
	case "Union":
		a.addAll(splitTop(inner, ','), depth)
	case "Annotated", "Final":
		a.add(splitTop(inner, ',')[0], depth+1)
	case "Literal":
		for _, value := range splitTop(inner, ',') {
			a.addLiteral(strings.TrimSpace(value))
		}
	default:
		a.other = true
	}
}

func (a *annotation) addLiteral(value string) {
	_, quoted := unquote(value)
	_, whole := ParseInt(value)
	switch {
	case quoted:
		a.members = append(a.members, "str")
	case whole:
		a.members = append(a.members, "int")
	case value == "True", value == "False":
		a.members = append(a.members, "bool")
	case value == "None":
		a.null = true
	default:
		a.other = true
	}
}

// value writes text as the annotation says: null where None is allowed, else
// the first member that it parses as, else by the rule of [Value] when the
// annotation leaves room for that. A false result is text that does not fit.
func (a annotation) value(text string) (json.RawMessage, bool) {
	if a.null && (text == "null" || text == "None") {
		return json.RawMessage("null"), true
	}
	for _, member := range a.members {
		var value json.RawMessage
		ok := false
		switch member {
		case "str":
			value, ok = Quote(text), true
		case "int":
			value, ok = ParseInt(text)
		case "float":
			value, ok = ParseFloat(text)
		case "bool":
			value, ok = ParseBool(text)
		}
		if ok {
			return value, true
		}
	}
	// A type that is None alone is a default's, and says nothing.
	if a.other || len(a.members) == 0 {
		return Value(text), true
	}
	return nil, false
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

// unquote returns what a Python string literal without escapes holds.
func unquote(source string) (string, bool) {
	if len(source) < 2 || source[0] != source[len(source)-1] || (source[0] != '\'' && source[0] != '"') {
		return "", false
	}
	inner := source[1 : len(source)-1]
	return inner, strings.IndexByte(inner, source[0]) < 0
}
