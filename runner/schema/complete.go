package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// Candidate is a word that shell completion offers, and what it is.
type Candidate struct{ Word, About string }

// Complete returns the candidates for the word that follows the arguments before: parameters that
// may be named, then the choices of the one that the word is for. last is what is typed of the
// word; each candidate begins with it. files reports whether the word may be a file.
func (h Hook) Complete(before []string, last string) (candidates []Candidate, files bool) {
	if slices.Contains(before, "--") {
		return nil, true
	}
	var awaits Param
	position := 0
	for _, word := range before {
		name, isOption := strings.CutPrefix(word, "--")
		switch {
		case awaits.Name != "": // its value
			awaits = Param{}
		case isOption && !strings.Contains(word, "="):
			if awaits, _ = h.Param(name); awaits.IsFlag() {
				awaits = Param{}
			}
		case !strings.Contains(word, "="):
			position++
		}
	}
	if awaits.Name != "" {
		return awaits.complete("", last)
	}
	if head, value, ok := strings.Cut(last, "="); ok {
		p, _ := h.Param(strings.TrimPrefix(head, "--"))
		return p.complete(head+"=", value)
	}
	for _, p := range h.Params {
		option := Candidate{OptionOf(p.Name), p.Type}
		if (p.Kind == Ordinary || p.Kind == NameOnly) && (last == "" || last[0] == '-' && strings.HasPrefix(option.Word, last)) {
			candidates = append(candidates, option)
		}
	}
	if strings.HasPrefix(last, "-") {
		return candidates, false
	}
	if position < len(h.Params) && (h.Params[position].Kind == Ordinary || h.Params[position].Kind == PositionOnly) {
		choices, _ := h.Params[position].complete("", last)
		candidates = append(candidates, choices...)
	}
	return candidates, true
}

// complete returns the choices of a parameter that begin with what is typed, each after head. If it
// has no choices, its value may be a file.
func (p Param) complete(head, typed string) (candidates []Candidate, files bool) {
	for _, value := range p.Choices {
		text := WordOf(value)
		if strings.HasPrefix(text, typed) && !strings.ContainsAny(text, "\t\r\n") {
			candidates = append(candidates, Candidate{Word: head + text})
		}
	}
	return candidates, len(p.Choices) == 0
}

// WordOf returns a JSON value as a word gives it: a string without its quotes.
func WordOf(value json.RawMessage) string {
	if value[0] == '"' {
		return string(Unquote(value))
	}
	return string(value)
}
