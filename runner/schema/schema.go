package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Schema lists the hooks of a plugin, in the order of its source.
type Schema struct {
	Hooks []Hook `json:"hooks"`
	// Notes say why a part of the plugin that looks like a hook is not a hook.
	Notes []string `json:"notes,omitempty"`
}

// Query says which hooks to describe, and how.
type Query struct {
	// Hook is the hook to describe in detail. If it is empty, all hooks are described briefly.
	Hook string `json:"hook"`
	// Input requests the JSON Schemas of the arguments and of the result, and the whole
	// documentation.
	Input bool `json:"input"`
}

// Hook describes one hook: its parameters and its result.
type Hook struct {
	Name string `json:"name"`
	// Doc is the first line of the documentation, or empty.
	Doc string `json:"doc,omitempty"`
	// Documentation is the whole documentation. A list of hooks has it only with [Query].Input.
	Documentation string `json:"documentation,omitempty"`
	// Async reports whether several calls may run at once in one worker.
	Async bool `json:"async,omitempty"`
	// Streams is "", "in", "out" or "both".
	Streams string  `json:"streams,omitempty"`
	Params  []Param `json:"params"`
	// Returns is the type of the result in the source.
	Returns string `json:"returns,omitempty"`
	// Messages are the messages in its parameters and its result, each once. For a function they
	// are the classes with fields in its annotations. It is nil in a list of hooks.
	Messages []Message `json:"messages,omitempty"`
	// Input is the JSON Schema of the arguments by their names, or nil unless it was requested.
	Input json.RawMessage `json:"input_schema,omitempty"`
	// Output is the JSON Schema of the result if the annotation says that the hook returns an
	// object. It is nil unless Input was requested.
	Output json.RawMessage `json:"output_schema,omitempty"`
	// Template is an example of its arguments as JSON. It is nil in a list of hooks.
	Template json.RawMessage `json:"template,omitempty"`
}

// Message describes a protobuf message, or a class with fields.
type Message struct {
	Name   string  `json:"name"`
	Fields []Param `json:"fields"`
}

// ParamKind says whether a parameter is passed by position or by name.
type ParamKind string

// The kinds of parameters. They are the same as in Python.
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
	// Type is the annotation in the source, or else the type of the default, or empty.
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required"`
	// Default is the default as Python prints it, or empty.
	Default string    `json:"default,omitempty"`
	Kind    ParamKind `json:"kind"`
	// Flag reports whether its option takes no value. This is true for a bool that can be given by
	// name.
	Flag bool `json:"flag,omitempty"`
	// Message is the name of the class in the hook's Messages whose fields words can set, as with
	// --item.name. It is empty for a method, and in a list of hooks.
	Message string `json:"message,omitempty"`
	// Choices are the valid values, if there are few. It is nil in a list of hooks.
	Choices []json.RawMessage `json:"choices,omitempty"`
	// Words are the words that set it, such as name=VALUE, see [Hook.Explain].
	Words []string `json:"words,omitempty"`
	// Unresolved says why arguments are not converted to the annotation. It is empty if they are.
	Unresolved string `json:"unresolved,omitempty"`
}

// isVariadic reports whether the parameter is *args or **kwargs.
func (p Param) isVariadic() bool { return p.Kind == VarPositions || p.Kind == VarNames }

// Signature returns the hook in the form of Python, such as "greet(name: str, *, loud: bool =
// False) -> str". It cuts a long default. The method of a service, whose name has a slash, is in
// the form of its source, such as "KV/Put(key: string, value: bytes) -> proto.Empty".
func (h Hook) Signature() string {
	if strings.Contains(h.Name, "/") {
		return h.method()
	}
	signature := h.Name + "(" + strings.Join(h.parameters(), ", ") + ")"
	if h.Returns != "" {
		signature += " -> " + h.Returns
	}
	return signature
}

// ShortSignature returns the signature for a message. It cuts a long signature.
func (h Hook) ShortSignature() string {
	const most = 200
	return cut(h.Signature(), most)
}

// method returns the signature of a method.
func (h Hook) method() string {
	fields := make([]string, len(h.Params))
	for i, p := range h.Params {
		fields[i] = p.Name + ": " + p.Type
		if p.Kind == VarNames {
			fields[i] = "**" + fields[i]
		}
	}
	takes, returns := strings.Join(fields, ", "), strings.TrimSuffix(h.Returns, "{}")
	if h.Streams == "in" || h.Streams == "both" {
		takes = "stream {" + takes + "}"
	}
	if h.Streams == "out" || h.Streams == "both" {
		returns = "stream " + returns
	}
	return withoutKinds.Replace(h.Name + "(" + takes + ") -> " + returns)
}

// withoutKinds removes the words "message" and "enum" before a type's name. A field with such a
// name is safe, because a colon follows it.
var withoutKinds = strings.NewReplacer("message ", "", "enum ", "")

// parameters lists the parameters with the markers "/" and "*" as in Python.
func (h Hook) parameters() []string {
	var list []string
	starred, open := false, false // whether a "*" was written, and whether a "/" must follow
	for _, p := range h.Params {
		if open && p.Kind != PositionOnly {
			list, open = append(list, "/"), false
		}
		switch p.Kind {
		case PositionOnly:
			open = true
		case VarPositions:
			starred = true
		case NameOnly:
			if !starred {
				list, starred = append(list, "*"), true
			}
		}
		list = append(list, p.String())
	}
	if open {
		list = append(list, "/")
	}
	return list
}

// String returns the parameter as in a signature, such as "loud: bool = False".
func (p Param) String() string {
	s := p.Name
	switch p.Kind {
	case VarPositions:
		s = "*" + s
	case VarNames:
		s = "**" + s
	}
	equals := "="
	if p.Type != "" {
		s += ": " + p.Type
		equals = " = "
	}
	if p.Required || p.isVariadic() {
		return s
	}
	const most = 60
	return s + equals + cut(cmp.Or(p.Default, "..."), most)
}

// Explain sets the Words of each parameter.
func (h *Hook) Explain() {
	values := h.values()
	h.Params = slices.Clone(h.Params)
	for i, p := range h.Params {
		h.Params[i].Words = p.words(h.option(p), values[i])
	}
}

// option returns the option of a parameter: --from for from_, unless that sets another parameter.
func (h Hook) option(p Param) string {
	short := strings.TrimSuffix(p.Name, "_")
	for _, other := range h.Params {
		if short == "" || other.Name == short || other.Kind == VarNames {
			return OptionOf(p.Name)
		}
	}
	return OptionOf(short)
}

// words lists the forms of words for a parameter, such as "--name VALUE" and "VALUE". example is
// its value in the template.
func (p Param) words(option string, example json.RawMessage) []string {
	asJSON, kind := p.Name+":=JSON", strings.TrimPrefix(p.Type, "repeated ")
	isMessage := strings.HasPrefix(kind, "message ")
	switch {
	case p.Kind == VarPositions:
		return []string{"VALUE…"}
	case p.Kind == VarNames:
		return []string{"--NAME VALUE…"}
	case p.Kind == PositionOnly && isContainer(example):
		return []string{":=JSON"}
	case p.Kind == PositionOnly:
		return []string{"VALUE"}
	case p.Flag:
		return []string{option, "--no-" + option[len("--"):]}
	case strings.HasPrefix(p.Type, "map<"):
		return []string{option + ".KEY VALUE…", asJSON}
	case isMessage && kind == p.Type, p.Message != "":
		return []string{option + ".FIELD VALUE…", asJSON}
	case !isMessage && (kind != p.Type || isScalars(example)):
		return []string{option + " VALUE…", asJSON}
	case isMessage, isContainer(example):
		return []string{asJSON}
	}
	words := []string{option + " VALUE"}
	if p.Kind != NameOnly {
		words = append(words, "VALUE")
	}
	if kind == "bytes" {
		words = append(words, p.Name+"@=FILE")
	}
	return words
}

// isScalars reports whether a value is an array that contains no objects or arrays.
func isScalars(value json.RawMessage) bool {
	var elements []json.RawMessage
	return isContainer(value) && json.Unmarshal(value, &elements) == nil && !slices.ContainsFunc(elements, isContainer)
}

func isContainer(value json.RawMessage) bool {
	return len(value) > 0 && (value[0] == '{' || value[0] == '[')
}

// values returns the template's value of each parameter, or nil for a missing one.
func (h Hook) values() []json.RawMessage {
	values := make([]json.RawMessage, len(h.Params))
	var positions []json.RawMessage
	var names map[string]json.RawMessage
	if json.Unmarshal(h.Template, &positions) == nil {
		copy(values, positions)
	} else if json.Unmarshal(h.Template, &names) == nil {
		for i, p := range h.Params {
			values[i] = names[p.Name]
		}
	}
	return values
}

// Example returns words that call the hook. They set the required parameters of a function, or all
// fields of a method. The values come from the template. Empty fields get samples.
func (h Hook) Example() []string {
	var words []string
	isMethod := strings.Contains(h.Name, "/")
	values := h.values()
	for i, p := range h.Params {
		value := values[i]
		switch {
		case value == nil, p.isVariadic(), !p.Required && !isMethod:
			continue
		case isMethod && string(value) == "null": // the template omits the field, such as a second one of a oneof
			continue
		case isMethod, p.Type == "bytes":
			value = sample(value, p)
		}
		words = append(words, p.example(h.option(p), value)...)
	}
	return words
}

// example returns the words that set a parameter to a value: --name VALUE if pyplug reads that as
// the same value, or else its JSON.
func (p Param) example(option string, value json.RawMessage) []string {
	var elements []json.RawMessage
	if json.Unmarshal(value, &elements) == nil && len(elements) == 1 && isScalars(value) && p.Kind != PositionOnly {
		value = elements[0]
	}
	text, name := string(value), p.Name+":="
	if value[0] == '"' {
		text = string(Unquote(value))
	}
	if p.Kind == PositionOnly {
		option, name = "", ":="
	}
	parsed, err := ParseWords([]string{text}, nil)
	same := option != "" || err == nil && parsed[0].Form == Plain && parsed[0].Name == ""
	switch {
	case !same || !bytes.Equal(Value(text), value) || isContainer(value) || text == "":
		var compact bytes.Buffer
		_ = json.Compact(&compact, value) // it was decoded before
		return []string{name + compact.String()}
	case option == "":
		return []string{text}
	case p.Flag && text == "true":
		return []string{option}
	case text == "true", text == "false":
		return []string{option + "=" + text}
	}
	return []string{option, text}
}

// sample replaces the empty value of a field. It also replaces base64, because in a word bytes are
// text.
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
