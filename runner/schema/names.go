package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Param returns the parameter with a name, or a parameter's field for a name such as item.name. The
// name may have dashes instead of underscores, and may lack the final underscore of a parameter
// such as from_.
func (h Hook) Param(name string) (Param, bool) {
	name, field, isField := strings.Cut(name, ".")
	plain, at := strings.ReplaceAll(name, "-", "_"), -1
	for _, name := range []string{name, plain, plain + "_"} {
		if at < 0 {
			at = slices.IndexFunc(h.Params, func(p Param) bool { return p.Name == name })
		}
	}
	if at < 0 || h.Params[at].isVariadic() {
		return Param{}, false
	}
	if isField {
		return h.fields(h.Params[at]).Param(field)
	}
	return h.Params[at], true
}

// CheckNames returns an error for the first word whose name is not a parameter of the hook. It does
// not check values or the fields of messages.
func (h Hook) CheckNames(words []Word) error {
	decided, err := Decide(words, func(name string) (known, flag bool) {
		p, known := h.Param(name)
		return known, p.Flag
	})
	if err != nil || slices.ContainsFunc(h.Params, func(p Param) bool { return p.Kind == VarNames }) {
		return err
	}
	for _, w := range decided {
		if err := h.checkName(w); w.Name != "" && err != nil {
			return err
		}
	}
	return nil
}

func (h Hook) checkName(w Word) error {
	name, kind, wanted := w.Name, "parameter", h.ShortSignature()
	var known []string
	for _, p := range h.Params {
		if p.Kind == Ordinary || p.Kind == NameOnly {
			known = append(known, p.Name)
		}
	}
	if strings.Contains(h.Name, "/") {
		kind, wanted = "field", OneOf(known)
		name, _, _ = strings.Cut(name, ".")
		if slices.ContainsFunc(known, func(k string) bool { return sameField(k, name) }) {
			return nil
		}
	}
	p, found := h.Param(name)
	if head, _, _ := strings.Cut(name, "."); !found && len(h.Messages) > 0 {
		p, found = h.Param(head) // the worker checks the name of the field
	}
	if !found && w.IsDashed() {
		name = strings.ReplaceAll(name, "-", "_")
	}
	switch {
	case found && p.Kind == PositionOnly:
		return ArgumentErrorf(name, "%s is given by name, expected it by position: %s", Short(name), wanted)
	case found:
		return nil
	}
	e := ArgumentErrorf(name, "no %s %s, expected %s", kind, Quote(Short(name)), wanted)
	e.Unknown, e.Word = name, w.Number
	meant := Suggest(name, known)
	if w.IsDashed() {
		meant = OptionOf(meant)
	}
	e.Hints = DidYouMean(meant)
	return e
}

// RemainingField returns the only field of a method's request that no word sets, or an error unless
// there is exactly one. It returns "" for a function, because its parameters have positions.
func (h Hook) RemainingField(words []Word) (string, error) {
	var left []string
	for _, p := range h.Params {
		given := func(w Word) bool {
			name, _, _ := strings.Cut(w.Name, ".")
			return sameField(p.Name, name)
		}
		if !slices.ContainsFunc(words, given) {
			left = append(left, p.Name)
		}
	}
	switch {
	case !strings.Contains(h.Name, "/"):
		return "", nil
	case len(left) == 1:
		return left[0], nil
	}
	e := ArgumentErrorf("", "%s leaves %s for the text of a line, expected exactly one field that no word sets", h.Name, cmp.Or(strings.Join(left, ", "), "no field"))
	e.Hints = Hints("omit %s to pass each line as an object", Setting("items"))
	return "", e
}

// sameField reports whether a name may mean a field, because it is its JSON name or has dashes for
// underscores.
func sameField(field, name string) bool {
	plain := strings.NewReplacer("_", "", "-", "")
	return strings.EqualFold(plain.Replace(field), plain.Replace(name))
}

// SafeName replaces characters of a name with underscores. It keeps ASCII letters, digits,
// underscores and the characters in others.
func SafeName(name, others string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || strings.ContainsRune(others, r) {
			return r
		}
		return '_'
	}, name)
}

// FreeName returns an ASCII name of at most longest bytes that is not taken. If necessary, it cuts
// name and appends a number.
func FreeName(name string, longest int, taken map[string]bool) string {
	free := name[:min(len(name), longest)]
	for n := 2; taken[free]; n++ {
		suffix := "_" + strconv.Itoa(n)
		free = name[:min(len(name), longest-len(suffix))] + suffix
	}
	return free
}
