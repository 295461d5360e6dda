package schema

import (
	"encoding/json"
	"slices"
)

// Bind gives each word to a parameter of h and writes it as JSON. A VALUE is
// read by its parameter's type:
//
//   - str: verbatim
//   - int: a sign and digits, however many
//   - float: a decimal number; written so that Python reads a float
//   - bool: true, false, yes and no in any case, 1 and 0
//   - Optional, a union, Literal: null for null and None where None is
//     allowed, else the first member that the text parses as
//   - anything else, or no type: the rule of [Value]
//
// A text and a file's text are strings whatever the type, JSON is passed
// through unread. Bytes that are not UTF-8 are written as [Quote] does. Errors
// are [*ArgumentError].
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
		var err error
		if w.Name == "" {
			err = b.position(w)
		} else {
			err = b.name(w)
		}
		if err != nil {
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
		if err := b.once(p.Name, w); err != nil {
			return err
		}
	case b.rest != nil:
		p = *b.rest
	default:
		e := b.fault(TooMany, w)
		e.Limit = len(b.byPosition)
		e.Suggest = b.openName()
		return e
	}
	value, err := b.value(p, w)
	if err != nil {
		return err
	}
	b.args.Positions = append(b.args.Positions, value)
	return nil
}

func (b *binder) name(w Word) error {
	p, found := b.named(w.Name)
	switch {
	case found && p.Kind != PositionOnly:
	case b.names != nil:
		// Python lets **kwargs repeat the name of a position-only parameter.
		p = *b.names
		p.Name = w.Name
	case found:
		e := b.fault(NotByName, w)
		e.Param = p.Name
		return e
	default:
		e := b.fault(Unknown, w)
		e.Param = w.Name
		e.Suggest = Suggest(w.Name, b.known())
		return e
	}
	if err := b.once(p.key(), w); err != nil {
		return err
	}
	value, err := b.value(p, w)
	if err != nil {
		return err
	}
	b.args.Names = append(b.args.Names, Named{Name: w.Name, Value: value})
	return nil
}

// key keeps what **kwargs takes apart from parameters of the same name.
func (p Param) key() string {
	if p.Kind == VarNames {
		return "**" + p.Name
	}
	return p.Name
}

// once refuses a second word for the same parameter.
func (b *binder) once(key string, w Word) error {
	if first, twice := b.given[key]; twice {
		e := b.fault(Twice, w)
		e.Param, e.First = w.Name, first
		if e.Param == "" {
			e.Param = key
		}
		return e
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
	a := readAnnotation(p.Type)
	if p.Default == "None" {
		a.null = true // as Python had it before PEP 484 asked for Optional
	}
	value, ok := a.value(w.Value)
	if !ok {
		e := b.fault(BadValue, w)
		e.Param, e.Type, e.Value = p.Name, p.Type, w.Value
		return nil, e
	}
	return value, nil
}

func (b *binder) missing() error {
	var names []string
	for _, p := range b.hook.Params {
		if _, given := b.given[p.Name]; p.Required && !given && p.Kind != VarPositions && p.Kind != VarNames {
			names = append(names, p.Name)
		}
	}
	if names == nil {
		return nil
	}
	e := b.fault(Missing, Word{})
	e.Param, e.Missing = names[0], names
	return e
}

// named finds the parameter that is called name.
func (b *binder) named(name string) (Param, bool) {
	i := slices.IndexFunc(b.hook.Params, func(p Param) bool {
		return p.Name == name && p.Kind != VarPositions && p.Kind != VarNames
	})
	if i < 0 {
		return Param{}, false
	}
	return b.hook.Params[i], true
}

// known lists the names that can be given by name.
func (b *binder) known() []string {
	var names []string
	for _, p := range b.hook.Params {
		if p.Kind == Ordinary || p.Kind == NameOnly {
			names = append(names, p.Name)
		}
	}
	return names
}

// openName is the first name-only parameter not yet given.
func (b *binder) openName() string {
	for _, p := range b.hook.Params {
		if _, given := b.given[p.Name]; p.Kind == NameOnly && !given {
			return p.Name
		}
	}
	return ""
}

func (b *binder) fault(problem string, w Word) *ArgumentError {
	return &ArgumentError{
		Hook: b.hook.Name, Signature: b.hook.ShortSignature(), Problem: problem, Word: w.Typed,
	}
}
