package interp

import (
	"cmp"
	"fmt"
	"strings"
)

// Attempt is one Python, or one place, that was looked at and not chosen.
type Attempt struct {
	// Path is the file or directory, or what was asked for if there is none.
	Path string
	// Source is where it came from.
	Source Source
	// Reason says why it was not chosen, in words.
	Reason string
}

// String is the line for a message.
func (a Attempt) String() string { return fmt.Sprintf("%s (%s): %s", a.Path, a.Source, a.Reason) }

// Error says why no Python was chosen: none was found, the one that a deciding source
// names cannot be used, or the requirements cannot be read or satisfied.
type Error struct {
	// Reason is one of the Reason constants.
	Reason string
	// Path is the file or directory that cannot be used, absolute, and Source who
	// named it. Both are empty if no Python is concerned.
	Path   string
	Source Source
	// Detail says more in words: the chain of links, the two versions.
	Detail string
	// Env is the environment that Path belongs to, empty if none is known. Remake:
	// Env can be made again in its place by python -m venv --clear, which empties the
	// directory. It is an environment, no link to one, and no other directory that
	// somebody happened to name.
	Env    string
	Remake bool
	// Tried is what was looked at when nothing was found, in order.
	Tried []Attempt
	// Needs says in words which versions would do, such as "3.13 or later" or
	// "3.9 to 3.11"; empty if no version would.
	Needs string
	// Elsewhere are Pythons on this machine that would do but are not searched, as
	// far as files say: first those of PATH, then what pyenv, uv, asdf and mise have
	// installed, the newest first. Their Source is SourcePath or the manager's name.
	Elsewhere []Interpreter
	// Err is the error of the system, or of asking the Python; nil if a file said it.
	Err error

	wanted string // what an explicit source asked to be looked up on PATH
	shim   string // the shim that led to Path, if one did
}

// The values of Error.Reason. They are stable words for scripts.
const (
	ReasonNotFound      = "not-found"
	ReasonSpec          = "bad-specifier"
	ReasonConflict      = "conflict"
	ReasonVersion       = "version"
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
	ReasonVersion:       "is",
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
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Detail
	}
	return fmt.Sprintf("python of %s: %s %s", e.Source, e.Path, e.words())
}

// words is the reason with its detail, for a message that has the path already.
func (e *Error) words() string {
	text := reasonWords[e.Reason]
	switch {
	case e.Detail == "":
		return text
	case e.Reason == ReasonVersion:
		return text + " " + e.Detail
	case e.Reason == ReasonNoAnswer:
		return text + " (" + e.Detail + ")"
	}
	return text + ": " + e.Detail
}

// Unwrap returns the error below, if any.
func (e *Error) Unwrap() error { return e.Err }

// Hints says what to do.
func (e *Error) Hints() []string {
	var hints []string
	install := "install Python " + cmp.Or(e.Needs, "3.8 or later") + ", or name one with --python"
	elsewhere := ""
	if len(e.Elsewhere) > 0 {
		first := e.Elsewhere[0]
		elsewhere = fmt.Sprintf("%s would do: --python %s", first, quoted(first.Path))
	}
	switch e.Reason {
	case ReasonSpec, ReasonConflict:
	case ReasonNotFound:
		if hints = append(hints, install); elsewhere != "" {
			hints = append(hints, elsewhere)
		}
	case ReasonVersion:
		if elsewhere == "" {
			return []string{install}
		}
		if hints = append(hints, elsewhere); e.Remake {
			hints = append(hints, "make the environment again: "+quoted(e.Elsewhere[0].Path, "-m", "venv", "--clear", e.Env))
		}
	default:
		if e.Remake {
			return []string{"make the environment again: " + quoted("python3", "-m", "venv", "--clear", e.Env)}
		}
		return []string{"name another Python with --python"}
	}
	return hints
}

// quoted writes words as a POSIX shell reads them.
func quoted(words ...string) string {
	for i, w := range words {
		if strings.ContainsAny(w, " \t\n\"'`$&|;<>()*?[]{}~#!\\") || w == "" {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// notFound says what was looked for and where. wanted is what an explicit source asked
// for, such as "python3.12" or ">=3.12"; empty if any Python would do.
func notFound(wanted string, source Source, requires []Requirement, tried []Attempt) *Error {
	e := &Error{Reason: ReasonNotFound, Source: source, Tried: tried, wanted: wanted, Detail: "no python found"}
	if wanted != "" {
		e.Detail = fmt.Sprintf("no python on PATH for %q, which %s asks for", wanted, source)
		return e
	}
	if len(requires) > 0 {
		e.Detail += " that satisfies " + list(requires)
	}
	if len(tried) == 0 {
		e.Detail += ", and PATH has none at all"
	}
	return e
}

// badSpec says that a clause of a requirement cannot be read.
func badSpec(r Requirement, clause string) *Error {
	return &Error{Reason: ReasonSpec, Detail: fmt.Sprintf(
		"python version of %s: %q is no version specifier, want one such as %q", r.From, clause, ">=3.11")}
}

// conflict says that no Python can satisfy all requirements at once.
func conflict(requires []Requirement) *Error {
	all := append([]Requirement{minimum}, requires...)
	return &Error{Reason: ReasonConflict, Detail: "no python can satisfy " + list(all)}
}

// list writes requirements as ">=3.11 (plugin.py) and <3.10 (pyproject.toml)".
func list(rs []Requirement) string {
	words := make([]string, len(rs))
	for i, r := range rs {
		words[i] = fmt.Sprintf("%s (%s)", r.Spec, r.From)
	}
	return strings.Join(words, " and ")
}
