package interp

import (
	"fmt"
	"strings"
)

// Attempt is one Python, or one place, that was looked at and not taken.
type Attempt struct {
	// Path is the file or directory, or what was asked for when there is none.
	Path string
	// Source is where it came from.
	Source Source
	// Reason says why it was not taken, in words.
	Reason string
}

// String is the line for a message.
func (a Attempt) String() string { return fmt.Sprintf("%s (%s): %s", a.Path, a.Source, a.Reason) }

// NotFoundError tells that no source gave a Python that will do.
type NotFoundError struct {
	// Wanted is what an explicit source asked to be looked up on PATH, such as
	// "python3.12" or ">=3.12"; empty when any Python would do.
	Wanted string
	// Source is the explicit source that asked, empty when none did.
	Source Source
	// Requires is every requirement that held, without pyplug's own minimum.
	Requires []Requirement
	// Tried is what was looked at, in order.
	Tried []Attempt
	// Needs says in words which versions would do, such as "3.13 or later" or
	// "3.9 to 3.11"; empty when a name was looked up that is no version.
	Needs string
	// Elsewhere are Pythons on this machine that would do but were not looked
	// for, see [VersionError.Elsewhere].
	Elsewhere []Interpreter
}

// Error says what was looked for and where.
func (e *NotFoundError) Error() string {
	if e.Wanted != "" {
		return fmt.Sprintf("no python on PATH for %q, which %s asks for", e.Wanted, e.Source)
	}
	text := "no python found"
	if len(e.Requires) > 0 {
		text += " that satisfies " + list(e.Requires)
	}
	if len(e.Tried) == 0 {
		return text + ", and PATH has none at all"
	}
	return text
}

// BrokenError tells that a source which decides names something that is no
// working Python.
type BrokenError struct {
	// Path is the file or directory, absolute.
	Path string
	// Source is who named it.
	Source Source
	// Reason is one of the Reason constants.
	Reason string
	// Detail says more in words: the chain of links, the two versions.
	Detail string
	// Env is the environment it belongs to, empty when none is known.
	Env string
	// Remake tells that Env can be made again in its place, by what empties the
	// directory first (python -m venv --clear): it is an environment, no link to
	// one, and no other directory that somebody happened to name.
	Remake bool
	// Err is the error of the system, or of asking the Python; nil when a file told.
	Err error

	shim string // the words for the shim that led to Path, if one did
}

// The values of BrokenError.Reason. They are stable words for scripts.
const (
	ReasonMissing       = "missing"
	ReasonBrokenLink    = "broken-symlink"
	ReasonLinkLoop      = "symlink-loop"
	ReasonDirectory     = "is-directory"
	ReasonNotExecutable = "not-executable"
	ReasonNotProgram    = "bad-format"
	ReasonNoPython      = "no-python"
	ReasonNoConfig      = "no-pyvenv-cfg"
	ReasonMismatch      = "venv-minor-mismatch"
	ReasonShim          = "shim-unresolved"
	ReasonNoAnswer      = "no-answer"
	ReasonUnknown       = "unknown-version"
	ReasonUnreadable    = "unreadable"
)

var reasonWords = map[string]string{
	ReasonMissing:       "does not exist",
	ReasonBrokenLink:    "is a broken symbolic link",
	ReasonLinkLoop:      "is a loop of symbolic links",
	ReasonDirectory:     "is a directory, want a program",
	ReasonNotExecutable: "is not executable",
	ReasonNotProgram:    "is not a program",
	ReasonNoPython:      "has no python in it",
	ReasonNoConfig:      "has a python but no pyvenv.cfg",
	ReasonMismatch:      "was made for another python",
	ReasonShim:          "is a shim that leads to no python",
	ReasonNoAnswer:      "is not a Python: it does not say its version",
	ReasonUnknown:       "is of an unknown version",
	ReasonUnreadable:    "cannot be read",
}

// Error names the path, the source, and what is wrong.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("python of %s: %s %s", e.Source, e.Path, e.words())
}

// words is the reason with its detail, for a message that has the path already.
func (e *BrokenError) words() string {
	text := reasonWords[e.Reason]
	switch {
	case e.Detail == "":
		return text
	case e.Reason == ReasonNoAnswer:
		return text + " (" + e.Detail + ")"
	}
	return text + ": " + e.Detail
}

// Unwrap is the error below, if any.
func (e *BrokenError) Unwrap() error { return e.Err }

// VersionError tells that a source which decides names a Python of a version
// that is not allowed.
type VersionError struct {
	// Path is the Python, absolute and unresolved.
	Path string
	// Source is who named it.
	Source Source
	// Version is what it is.
	Version Version
	// Requirement is the first that it does not satisfy. pyplug's own minimum is
	// ">=3.8" from "pyplug".
	Requirement Requirement
	// Env is the environment that it belongs to, empty when it is in none, and
	// Remake tells that it can be made again, see [BrokenError].
	Env    string
	Remake bool
	// Needs says in words which versions would do, such as "3.13 or later".
	Needs string
	// Elsewhere are Pythons on this machine that would do, as far as files tell:
	// first those of PATH, then what pyenv, uv, asdf and mise have installed, the
	// newest first. Their Source is SourcePath or the manager's name.
	Elsewhere []Interpreter

	shim string // the words for the shim that led to Path, if one did
}

// Error names the Python, its version, and what was required by whom.
func (e *VersionError) Error() string {
	return fmt.Sprintf("python of %s: %s is %s, want %s (%s)",
		e.Source, e.Path, e.Version, e.Requirement.Spec, e.Requirement.From)
}

// SpecError tells that a specifier set cannot be read.
type SpecError struct {
	// Requirement is the whole of it and where it was found.
	Requirement Requirement
	// Clause is the part that cannot be read.
	Clause string
}

// Error names the clause and the place.
func (e *SpecError) Error() string {
	return fmt.Sprintf("python version of %s: %q is no version specifier, want one such as %q",
		e.Requirement.From, e.Clause, ">=3.11")
}

// ConflictError tells that no Python can satisfy all requirements at once.
type ConflictError struct {
	// Requires is all of them, pyplug's own minimum first.
	Requires []Requirement
}

// Error lists the requirements with their places.
func (e *ConflictError) Error() string { return "no python can satisfy " + list(e.Requires) }

// list writes requirements as ">=3.11 (plugin.py) and <3.10 (pyproject.toml)".
func list(rs []Requirement) string {
	words := make([]string, len(rs))
	for i, r := range rs {
		words[i] = fmt.Sprintf("%s (%s)", r.Spec, r.From)
	}
	return strings.Join(words, " and ")
}

// EndedError is what a RunFunc returns when the program ended badly.
type EndedError struct {
	Path string
	// Code is the exit code, Signal the name of the signal that ended it.
	Code   int
	Signal string
	// Said is the end of what it wrote on standard error.
	Said string
}

// Error says how the program ended and what it wrote.
func (e *EndedError) Error() string {
	how := fmt.Sprintf("exit code %d", e.Code)
	if e.Signal != "" {
		how = e.Signal
	}
	return fmt.Sprintf("%s ended badly (%s): %s", e.Path, how, e.Said)
}
