package schema

import (
	"fmt"
	"strings"
)

// The problems that BindMessage and DecodeMessage find beside those of Bind.
const (
	// ByNameOnly is a value without a name, where fields have no positions;
	// Known lists the fields, and Value is what belongs after a name.
	ByNameOnly = "by name only"
	// NoField is a name that the message Type does not have; Known lists its
	// fields and Suggest is the path probably meant.
	NoField = "no field"
	// NotNested is a path that goes on below Param, whose Type has no fields.
	NotNested = "not nested"
	// TwoOfOneof is a second member of the oneof Type; First gave another.
	TwoOfOneof = "two of a oneof"
)

// fieldText is the message of the problems above, empty for others.
func (e *ArgumentError) fieldText() string {
	switch e.Problem {
	case ByNameOnly:
		if e.Known == nil {
			return fmt.Sprintf("%q has no name, want name=VALUE", Short(e.Word))
		}
		return fmt.Sprintf("%q has no name, want name=VALUE with %s", Short(e.Word), oneOf(e.Known))
	case NoField:
		return fmt.Sprintf("no field %q in %s, want %s", Short(e.Param), e.Type, oneOf(e.Known))
	case NotNested:
		return fmt.Sprintf("%s is %s, want no name below it as in %q", Short(e.Param), e.Type, Short(e.Word))
	case TwoOfOneof:
		if e.First == "" {
			return fmt.Sprintf("%s is a second field of oneof %s, want one", Short(e.Param), e.Type)
		}
		return fmt.Sprintf("%q and %q are both of oneof %s, want one", Short(e.First), Short(e.Word), e.Type)
	}
	return ""
}

// oneOf lists what there is to choose from.
func oneOf(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return "one of " + strings.Join(names[:most], ", ") + ", …"
	}
	return "one of " + strings.Join(names, ", ")
}
