package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AnyFile is the candidate for a word that may name a file.
const AnyFile = ":files"

// Candidate returns a line for the completion scripts: a word and, after a tab, its description. It
// returns "" for a word that cannot be offered: [AnyFile], a word that is not UTF-8, or one with a
// character for which [Acts] is true. The word may be any text of a plugin, and the scripts quote
// it for their shell.
func Candidate(word, about string) string {
	if word == AnyFile || !utf8.ValidString(word) || strings.ContainsFunc(word, Acts) {
		return ""
	}
	about = strings.Map(func(r rune) rune {
		if Acts(r) {
			return ' '
		}
		return r
	}, about)
	return strings.TrimSuffix(word+"\t"+strings.Join(strings.Fields(about), " "), "\t")
}

// Acts reports whether a character changes how others are displayed: a control character, a
// bidirectional control, or a line separator. Escape sequences can rewrite the screen, set the
// clipboard, or hide text.
func Acts(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// Complete returns the candidates for a word that begins with last. before contains the arguments
// in front of the word. The candidates are the options of parameters, then the choices of the
// parameter that the word sets. Each begins with last, except [AnyFile].
func (h Hook) Complete(before []string, last string) (candidates []string) {
	if slices.Contains(before, "--") {
		return []string{AnyFile}
	}
	var value Param // the parameter whose value comes next
	position := 0
	for _, word := range before {
		name, isOption := strings.CutPrefix(word, "--")
		switch {
		case value.Name != "":
			value = Param{}
		case isOption && !strings.Contains(word, "="):
			if value, _ = h.Param(name); value.Flag {
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
	candidates = h.options("", last)
	if strings.HasPrefix(last, "-") {
		return candidates
	}
	if position < len(h.Params) && (h.Params[position].Kind == Ordinary || h.Params[position].Kind == PositionOnly) {
		values := h.Params[position].choices("", last)
		candidates = append(candidates, slices.DeleteFunc(values, func(word string) bool { return !isPlain(word) })...)
	}
	return append(candidates, AnyFile)
}

// options returns the options that begin with last. If head is empty, they are the options of the
// parameters; otherwise head is the option of a parameter, and they are the options of its fields.
// It offers the fields of a field only after the field's option is typed.
func (h Hook) options(head, last string) (candidates []string) {
	for _, p := range h.Params {
		if p.Kind != Ordinary && p.Kind != NameOnly {
			continue
		}
		option := h.option(p)
		if head != "" {
			option = head + "." + OptionOf(p.Name)[len("--"):]
		}
		if strings.HasPrefix(option, last) {
			candidates = append(candidates, Candidate(option, p.Type))
		}
		if head == "" || strings.HasPrefix(last, option) {
			candidates = append(candidates, h.fields(p).options(option, last)...)
		}
	}
	return candidates
}

// fields returns the fields of the message that a parameter takes, as the parameters of a hook.
func (h Hook) fields(p Param) Hook {
	for _, m := range h.Messages {
		if m.Name == p.Message {
			h.Params = m.Fields
			return h
		}
	}
	return Hook{}
}

// values returns the choices of a parameter. If it has none, its value may be a file.
func (p Param) values(head, typed string) []string {
	if len(p.Choices) == 0 {
		return []string{AnyFile}
	}
	return p.choices(head, typed)
}

// isPlain reports whether a single word is read as a value.
func isPlain(word string) bool {
	w, err := new(Lexer).Next(word, nil)
	return err == nil && w.Name == "" && w.Form == Plain
}

// choices returns the choices that begin with typed, each with head in front.
func (p Param) choices(head, typed string) (candidates []string) {
	for _, value := range p.Choices {
		text := WordOf(value)
		if strings.HasPrefix(text, typed) {
			candidates = append(candidates, Candidate(head+text, ""))
		}
	}
	return candidates
}

// WordOf returns a JSON value in the form of a word: a string without its quotes.
func WordOf(value json.RawMessage) string {
	if value[0] == '"' {
		return string(Unquote(value))
	}
	return string(value)
}
