package schema

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Template is every argument that a hook of a functions file takes, as indented
// JSON to be filled in: an object of its parameters, or an array if one of them
// cannot be given by name. A parameter without a default, or whose default does
// not look like JSON in Python, is null. *args and **kwargs are left out.
func Template(h Hook) []byte {
	byPosition := slices.ContainsFunc(h.Params, func(p Param) bool { return p.Kind == PositionOnly })
	var lines [][]byte
	for _, p := range h.Params {
		if p.isVariadic() || byPosition && p.Kind == NameOnly { // an array has no place for it
			continue
		}
		line := []byte("\n  ")
		if !byPosition {
			line = append(AppendQuote(line, p.Name), ": "...)
		}
		lines = append(lines, append(line, defaultJSON(p.Default)...))
	}
	text := bytes.Join(lines, []byte(","))
	if len(lines) > 0 {
		text = append(text, '\n')
	}
	if byPosition {
		return slices.Concat([]byte("["), text, []byte("]"))
	}
	return slices.Concat([]byte("{"), text, []byte("}"))
}

// defaultJSON writes the repr of a Python default as JSON.
func defaultJSON(repr string) []byte {
	switch repr {
	case "True":
		return []byte("true")
	case "False":
		return []byte("false")
	}
	if n := len(repr); n >= 2 && repr[0] == '\'' && !bytes.ContainsAny([]byte(repr), `\"`) {
		return AppendQuote(nil, repr[1:n-1])
	}
	if json.Valid([]byte(repr)) {
		return []byte(repr)
	}
	return []byte("null")
}
