package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// AnyFile is the candidate for a word that may name a file.
const AnyFile = ":files"

// Candidate returns a line for the completion scripts: a word and, after a tab, what it is.
func Candidate(word, about string) string {
	about = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, about)
	return strings.TrimSuffix(word+"\t"+strings.Join(strings.Fields(about), " "), "\t")
}

// Complete returns the candidates for the word that follows the arguments before: parameters that
// may be named, then the choices of the one that the word is for. last is what is typed of the
// word; each candidate begins with it, but for [AnyFile].
func (h Hook) Complete(before []string, last string) (candidates []string) {
	if slices.Contains(before, "--") {
		return []string{AnyFile}
	}
	var value Param // the one whose value comes next
	position := 0
	for _, word := range before {
		name, isOption := strings.CutPrefix(word, "--")
		switch {
		case value.Name != "":
			value = Param{}
		case isOption && !strings.Contains(word, "="):
			if value, _ = h.Param(name); value.IsFlag() {
				value = Param{}
			}
		case !strings.Contains(word, "="):
			position++
		}
	}
	name, typed, isNamed := strings.Cut(last, "=")
	switch {
	case value.Name != "":
		return value.values("", last)
	case isNamed:
		value, _ = h.Param(strings.TrimPrefix(name, "--"))
		return value.values(name+"=", typed)
	}
	for _, p := range h.Params {
		option := OptionOf(p.Name)
		if (p.Kind == Ordinary || p.Kind == NameOnly) && (last == "" || last[0] == '-' && strings.HasPrefix(option, last)) {
			candidates = append(candidates, Candidate(option, p.Type))
		}
	}
	if strings.HasPrefix(last, "-") {
		return candidates
	}
	if position < len(h.Params) && (h.Params[position].Kind == Ordinary || h.Params[position].Kind == PositionOnly) {
		candidates = append(candidates, h.Params[position].choices("", last)...)
	}
	return append(candidates, AnyFile)
}

// values returns the choices of a parameter. If it has none, its value may be a file.
func (p Param) values(head, typed string) []string {
	if len(p.Choices) == 0 {
		return []string{AnyFile}
	}
	return p.choices(head, typed)
}

// choices returns the choices that begin with what is typed, each after head.
func (p Param) choices(head, typed string) (candidates []string) {
	for _, value := range p.Choices {
		text := WordOf(value)
		if strings.HasPrefix(text, typed) && !strings.ContainsAny(text, "\t\r\n") {
			candidates = append(candidates, head+text)
		}
	}
	return candidates
}

// WordOf returns a JSON value as a word gives it: a string without its quotes.
func WordOf(value json.RawMessage) string {
	if value[0] == '"' {
		return string(Unquote(value))
	}
	return string(value)
}
