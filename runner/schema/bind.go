package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Bind assigns each word to a parameter of h and writes it as JSON. The type of
// the parameter decides how a VALUE is read:
//
//   - str: verbatim
//   - int: a sign and digits, however many
//   - float: a decimal number; written so that Python reads a float
//   - bool: true, false, yes and no in any case, 1 and 0
//   - Optional, a union, Literal: null for null and None where None is
//     allowed, else the first member that the text parses as
//   - anything else, or no type: the rule of [Value]
//
// A text and a file's text are strings whatever the type, JSON passes through
// unread. Bytes that are not UTF-8 are written as [Quote] does. Errors are
// [*ArgumentError].
func Bind(h Hook, words []Word) (Arguments, error) {
	b := binder{hook: h, given: map[string]string{}}
	for _, p := range h.Params {
		switch p.Kind {
		case VarPositions:
			b.rest = &p
		case VarNames:
			b.names = &p
		case NameOnly:
		default:
			b.byPosition = append(b.byPosition, p)
		}
	}
	for _, w := range words {
		bind := b.name
		if w.Name == "" {
			bind = b.position
		}
		if err := bind(w); err != nil {
			return Arguments{}, err
		}
	}
	if err := b.missing(); err != nil {
		return Arguments{}, err
	}
	return b.args, nil
}

// binder fills the arguments of one call, a word at a time.
type binder struct {
	hook       Hook
	byPosition []Param // those a position can fill, in order
	rest       *Param  // *args, nil without
	names      *Param  // **kwargs, nil without
	given      map[string]string
	args       Arguments
}

func (b *binder) position(w Word) error {
	at := len(b.args.Positions)
	var p Param
	switch {
	case at < len(b.byPosition):
		p = b.byPosition[at]
		if err := b.once(p.Name, p.Name, w); err != nil {
			return err
		}
	case b.rest != nil:
		p = *b.rest
	default:
		return b.tooMany(w)
	}
	value, err := b.value(p, w)
	if err != nil {
		return err
	}
	b.args.Positions = append(b.args.Positions, value)
	return nil
}

// tooMany reports a word beyond the last parameter that a position can fill.
func (b *binder) tooMany(w Word) error {
	most := "none"
	if n := len(b.byPosition); n > 0 {
		most = fmt.Sprintf("at most %d", n)
	}
	e := ArgumentErrorf("", "unexpected value %q, want %s by position: %s", Short(w.Typed), most, b.hook.ShortSignature())
	open := slices.IndexFunc(b.hook.Params, func(p Param) bool { return p.Kind == NameOnly && b.given[p.Name] == "" })
	if open >= 0 {
		name := b.hook.Params[open].Name
		e.Advice = []string{fmt.Sprintf("give %s by name: %s=VALUE", name, name)}
	}
	return e
}

func (b *binder) name(w Word) error {
	p, found := b.named(w.Name)
	key := p.Name
	switch {
	case found && p.Kind != PositionOnly:
	case b.names != nil:
		// Python lets **kwargs repeat the name of a position-only parameter.
		p = *b.names
		p.Name, key = w.Name, "**"+w.Name
	case found:
		return ArgumentErrorf(p.Name, "%s is given by name, want it by position: %s", p.Name, b.hook.ShortSignature())
	default:
		e := ArgumentErrorf(w.Name, "no parameter %q, want %s", w.Name, b.hook.ShortSignature())
		e.Advice = append(DidYouMean(Suggest(w.Name, b.byName())), "to pass it as text, write "+QuoteLine([]string{"=" + w.Typed}))
		return e
	}
	if err := b.once(key, w.Name, w); err != nil {
		return err
	}
	value, err := b.value(p, w)
	if err != nil {
		return err
	}
	b.args.Names = append(b.args.Names, Named{Name: w.Name, Value: value})
	return nil
}

// once refuses a second word for the same parameter, which errors call name.
// The key distinguishes what **kwargs takes from parameters of the same name.
func (b *binder) once(key, name string, w Word) error {
	if first, twice := b.given[key]; twice {
		return GivenTwice(name, first, w.Typed, b.signatureHint())
	}
	b.given[key] = w.Typed
	return nil
}

func (b *binder) value(p Param, w Word) (json.RawMessage, error) {
	switch w.Form {
	case JSON:
		return escapeInvalid(w.Value), nil
	case Text, FileText:
		return Quote(w.Value), nil
	}
	var a annotation
	a.add(p.Type, 0)
	if p.Default == "None" {
		a.null = true // as in Python before PEP 484 asked for Optional
	}
	value, ok := a.value(w.Value)
	if !ok {
		return nil, BadValue(p.Name, w.Value, p.Type, b.signatureHint())
	}
	return value, nil
}

// missing reports the required parameters that no word gave.
func (b *binder) missing() error {
	var names []string
	for _, p := range b.hook.Params {
		if _, given := b.given[p.Name]; p.Required && !given && !p.isVariadic() {
			names = append(names, p.Name)
		}
	}
	switch last := len(names) - 1; last {
	case -1:
		return nil
	case 0:
		return ArgumentErrorf(names[0], "%s is missing, want %s", names[0], b.hook.ShortSignature())
	default:
		list := strings.Join(names[:last], ", ") + " and " + names[last]
		return ArgumentErrorf(names[0], "%s are missing, want %s", list, b.hook.ShortSignature())
	}
}

// named finds the parameter with a name.
func (b *binder) named(name string) (Param, bool) {
	i := slices.IndexFunc(b.hook.Params, func(p Param) bool { return p.Name == name && !p.isVariadic() })
	if i < 0 {
		return Param{}, false
	}
	return b.hook.Params[i], true
}

// byName lists the parameters that can be given by name.
func (b *binder) byName() []string {
	var names []string
	for _, p := range b.hook.Params {
		if p.Kind == Ordinary || p.Kind == NameOnly {
			names = append(names, p.Name)
		}
	}
	return names
}

func (b *binder) signatureHint() string { return "the hook is " + b.hook.ShortSignature() }
