package schema

import "encoding/json"

// Schema lists the hooks of a plugin, in the order of its source.
type Schema struct {
	Hooks []Hook `json:"hooks"`
}

// Hook describes one hook: its parameters and its result.
type Hook struct {
	Name string `json:"name"`
	// Doc is the first line of the documentation, or empty.
	Doc string `json:"doc,omitempty"`
	// Documentation is all of it; empty in a list of hooks.
	Documentation string `json:"documentation,omitempty"`
	// Async is true if several calls may run at once in one worker.
	Async bool `json:"async,omitempty"`
	// Streams is "", "in", "out" or "both".
	Streams string  `json:"streams,omitempty"`
	Params  []Param `json:"params"`
	// Returns is the type of the result as the source has it.
	Returns string `json:"returns,omitempty"`
	// Messages are the messages that its parameters and its result contain, each once;
	// nil in a list of hooks and for functions.
	Messages []Message `json:"messages,omitempty"`
	// Template is an example of its arguments as JSON; nil in a list of hooks.
	Template json.RawMessage `json:"template,omitempty"`
}

// Message describes a protobuf message.
type Message struct {
	Name   string  `json:"name"`
	Fields []Param `json:"fields"`
}

// ParamKind is how a parameter may be given.
type ParamKind string

// The kinds of parameter, Python's five.
const (
	PositionOnly ParamKind = "position"  // before a "/"
	Ordinary     ParamKind = "ordinary"  // by position or by name
	NameOnly     ParamKind = "name"      // after a "*"
	VarPositions ParamKind = "positions" // *args
	VarNames     ParamKind = "names"     // **kwargs
)

// Param describes one parameter of a hook.
type Param struct {
	Name string `json:"name"`
	// Type is the annotation as the source has it, else the type of the
	// default, else empty.
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required"`
	// Default is the default as Python prints it, or empty.
	Default string    `json:"default,omitempty"`
	Kind    ParamKind `json:"kind"`
	// Choices are the values that it takes, if they are few; nil in a list of hooks.
	Choices []json.RawMessage `json:"choices,omitempty"`
	// Words are the words that give it, such as name=VALUE; see [Hook.Explain].
	Words []string `json:"words,omitempty"`
	// Unresolved is why the annotation cannot be evaluated, or empty. Arguments
	// for such a parameter are not converted.
	Unresolved string `json:"unresolved,omitempty"`
}

// isVariadic reports whether the parameter is *args or **kwargs.
func (p Param) isVariadic() bool { return p.Kind == VarPositions || p.Kind == VarNames }
