package schema

import (
	"fmt"
)

// ArgumentError is the error for an argument that cannot be read or does not fit its hook.
type ArgumentError struct {
	// Place is the parameter or the path of the field, such as "address.zip" or "items[3]". It is
	// empty if the error does not concern one of them.
	Place string
	// Problem says what is wrong and what was expected.
	Problem string
	// Unknown is a name that no parameter or field has, or empty.
	Unknown string
	// Word is the [Word.Number] of the word with the name Unknown. If Unknown is empty, it is the
	// number of the word that the hook does not accept, or 0 if no single word is wrong.
	Word int
	// Err is the cause, such as the error of reading a file, or nil.
	Err error
	// Hints say what to do.
	Hints []Hint
}

// Error returns the problem.
func (e *ArgumentError) Error() string { return e.Problem }

// Unwrap returns the cause.
func (e *ArgumentError) Unwrap() error { return e.Err }

// ArgumentErrorf returns an error about a problem with place, without hints.
func ArgumentErrorf(place, format string, args ...any) *ArgumentError {
	return &ArgumentError{Place: place, Problem: fmt.Sprintf(format, args...)}
}

// BadValue returns the error for a value that does not fit the type of place.
func BadValue(place, seen, want string, hints ...Hint) *ArgumentError {
	e := ArgumentErrorf(place, "%s is %q, expected %s", Short(place), Short(seen), want)
	e.Hints = hints
	return e
}

// DidYouMean returns the hint that suggests a name, or nil if the name is empty.
func DidYouMean(name string) []Hint {
	if name == "" {
		return nil
	}
	return Hints("did you mean %s?", name)
}

// NoHookError is the error for a hook that a plugin does not have.
type NoHookError struct {
	Hook string
	// Known lists the plugin's hooks.
	Known []string
	// Why is the reason, such as "`os` is imported, not defined here". It may be empty.
	Why string
}

// Error returns the reason.
func (e *NoHookError) Error() string {
	if e.Why != "" {
		return "no such hook: " + e.Why
	}
	return "no such hook"
}

// Hints suggests the most similar hook, or lists the hooks if none is similar.
func (e *NoHookError) Hints() []Hint {
	if s := Suggest(e.Hook, e.Known); s != "" || len(e.Known) == 0 {
		return DidYouMean(s)
	}
	return Hints("use one of its hooks: %s", list(e.Known, 10))
}

// MissingModuleError is the error of a plugin that imports a module that does not exist.
type MissingModuleError struct {
	// Module is the module's dotted name, as far as Python names it.
	Module string
	// Text is Python's own message.
	Text string
	// File is the path of the file with the import, or empty.
	File Path
	// Unfound lists the imports in the plugin's own files whose module Python cannot find. It is
	// empty if the plugin has started.
	Unfound []Unfound
}

// Unfound is an import of a top-level module that does not exist. Module is the longest dotted name
// in the import.
type Unfound struct {
	Module string `json:"module"`
	File   Path   `json:"file"`
	Line   int    `json:"line"`
}

// Error returns Python's own message.
func (e *MissingModuleError) Error() string { return e.Text }
