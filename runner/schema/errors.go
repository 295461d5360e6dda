package schema

import (
	"fmt"
	"strings"
)

// ArgumentError reports a word or an argument that cannot be read, or that does
// not fit its hook.
type ArgumentError struct {
	// Place is the parameter or the path of the field, such as "address.zip" or
	// "items[3]"; empty if the error is not about one of them.
	Place string
	// Problem names what is wrong and what was expected.
	Problem string
	// Advice are the hints, one a line.
	Advice []string
	// Err is the cause, such as what reading a file returned; nil if there is
	// none.
	Err error
}

// Error is the problem.
func (e *ArgumentError) Error() string { return e.Problem }

// Unwrap returns the cause.
func (e *ArgumentError) Unwrap() error { return e.Err }

// Hints says what to do.
func (e *ArgumentError) Hints() []string { return e.Advice }

// ArgumentErrorf reports a problem with place, without hints.
func ArgumentErrorf(place, format string, args ...any) *ArgumentError {
	return &ArgumentError{Place: place, Problem: fmt.Sprintf(format, args...)}
}

// BadValue reports a value that the type of place does not take.
func BadValue(place, seen, want string, advice ...string) *ArgumentError {
	e := ArgumentErrorf(place, "%s is %q, want %s", Short(place), Short(seen), want)
	e.Advice = advice
	return e
}

// DidYouMean is the hint that suggests a name, none for an empty one.
func DidYouMean(name string) []string {
	if name == "" {
		return nil
	}
	return []string{"did you mean " + name + "?"}
}

// NoHookError reports that a plugin has no such hook.
type NoHookError struct {
	Hook string
	// Known lists the hooks that the plugin has.
	Known []string
	// Why is the reason, such as "`os` is imported, not defined here"; it may be
	// empty.
	Why string
}

// Error is the reason.
func (e *NoHookError) Error() string {
	if e.Why != "" {
		return "no such hook: " + e.Why
	}
	return "no such hook"
}

// Hints suggests the hook that was probably meant, else lists those there are.
func (e *NoHookError) Hints() []string {
	const most = 10
	if s := Suggest(e.Hook, e.Known); s != "" || len(e.Known) == 0 {
		return DidYouMean(s)
	}
	list := strings.Join(e.Known[:min(len(e.Known), most)], ", ")
	if len(e.Known) > most {
		list += ", …"
	}
	return []string{"its hooks are " + list}
}

// Reason is "no-hook".
func (e *NoHookError) Reason() string { return "no-hook" }

// MissingModuleError reports that a plugin imports a module that does not exist.
type MissingModuleError struct {
	// Module is its dotted name, as far as Python names it.
	Module string
	// Text is Python's own message.
	Text string
}

// Error is Python's own message.
func (e *MissingModuleError) Error() string { return e.Text }

// OneOf lists the choices, the first of very many.
func OneOf(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return "one of " + strings.Join(names[:most], ", ") + ", …"
	}
	return "one of " + strings.Join(names, ", ")
}
