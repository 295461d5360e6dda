package schema

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Template is all that a functions file's hook takes, as indented JSON to be
// filled in: an object of its parameters, or an array where one of them cannot
// be given by name. A default that is not JSON in Python's writing is null, as is
// what has none; *args and **kwargs are left out.
func Template(h Hook) []byte {
	params := slices.DeleteFunc(slices.Clone(h.Params), func(p Param) bool {
		return p.Kind == VarPositions || p.Kind == VarNames
	})
	byPosition := slices.ContainsFunc(params, func(p Param) bool { return p.Kind == PositionOnly })
	opening, closing := byte('{'), byte('}')
	if byPosition {
		opening, closing = '[', ']'
	}
	var b bytes.Buffer
	b.WriteByte(opening)
	for n, p := range params {
		if byPosition && p.Kind == NameOnly {
			break // an array has no place for it
		}
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		if !byPosition {
			b.Write(AppendQuote(nil, p.Name))
			b.WriteString(": ")
		}
		b.Write(defaultJSON(p.Default))
	}
	if len(params) > 0 {
		b.WriteByte('\n')
	}
	b.WriteByte(closing)
	return b.Bytes()
}

// defaultJSON is Python's repr of a default as JSON.
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
