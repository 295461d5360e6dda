package schema

import (
	"cmp"
	"strings"
)

// Signature writes the hook as Python would, such as
// "greet(name: str, *, loud: bool = False) -> str". A long default is cut. The
// method of a service, whose name has a slash, is written in the terms of its
// source, such as "KV/Put(key: string, value: bytes) -> proto.Empty".
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

// ShortSignature is the signature for a message, cut if it is long.
func (h Hook) ShortSignature() string {
	const most = 200
	return cut(h.Signature(), most)
}

// method is the signature of a method.
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

// withoutKinds removes the word that says what a type's name stands for. Nothing
// else ends so before a blank: a field's name has a colon.
var withoutKinds = strings.NewReplacer("message ", "", "enum ", "")

// parameters lists them with the markers "/" and "*" where Python wants them.
func (h Hook) parameters() []string {
	var list []string
	starred, open := false, false // a "*" was written; a "/" must follow
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

// String is the parameter as a signature has it, such as "loud: bool = False".
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
