package schema

import (
	"fmt"
	"strings"
)

// The problems that Bind finds.
const (
	Unknown   = "unknown"     // no parameter has that name
	Missing   = "missing"     // required parameters were not given
	TooMany   = "too many"    // more positions than the hook takes
	BadValue  = "value"       // the text does not parse as the type
	Twice     = "twice"       // the same parameter was given before
	NotByName = "not by name" // a position-only parameter was given by name
)

// ArgumentError says which argument does not fit its hook. Its fields are what
// a hint needs; those that a problem does not name are empty.
type ArgumentError struct {
	Hook string
	// Signature is the hook's, such as "greet(name: str)", cut when it is long.
	Signature string
	// Problem is one of the above, or the plugin's own words when it was the
	// plugin that found the fault.
	Problem string
	// Param is the parameter, or for Unknown the name that was typed.
	Param string
	// Word is the whole word as it was typed, empty for Missing.
	Word string
	// Suggest is for Unknown the parameter probably meant, for TooMany one
	// that has to be given by name; empty when there is none.
	Suggest string
	// Type and Value are for BadValue what was wanted and seen. Value is for
	// ByNameOnly what belongs after a name: "=hello", or ":={}" as it was typed.
	Type, Value string
	// First is for Twice the word that gave the parameter first.
	First string
	// Missing lists for Missing all that is required and was not given.
	Missing []string
	// Limit is for TooMany how many positions the hook takes.
	Limit int
	// Known is for NoField and ByNameOnly the fields there are, nil where any
	// name will do.
	Known []string
}

// Error names the parameter, what was seen and what was wanted.
func (e *ArgumentError) Error() string {
	switch e.Problem {
	case Unknown:
		return fmt.Sprintf("no parameter %q, want %s", e.Param, e.Signature)
	case Missing:
		return fmt.Sprintf("%s missing, want %s", list(e.Missing), e.Signature)
	case TooMany:
		return fmt.Sprintf("%q is one value too many, want %s by position: %s", Short(e.Word), count(e.Limit), e.Signature)
	case BadValue:
		return fmt.Sprintf("%s is %q, want %s", e.Param, Short(e.Value), e.Type)
	case Twice:
		return fmt.Sprintf("%s is given twice, by %q and by %q", e.Param, Short(e.First), Short(e.Word))
	case NotByName:
		return fmt.Sprintf("%s is given by name, want it by position: %s", e.Param, e.Signature)
	}
	if text := e.fieldText(); text != "" {
		return text
	}
	return e.Problem
}

func count(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("at most %d", n)
}

// list writes "a is", "a and b are", "a, b and c are".
func list(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0] + " is"
	}
	return strings.Join(names[:last], ", ") + " and " + names[last] + " are"
}
