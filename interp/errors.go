package interp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Attempt is one Python, or one place, that was looked at and not chosen.
type Attempt struct {
	// Path is the file or directory, or what was asked for if there is none.
	Path string
	// Source is where it came from.
	Source Source
	// Code is the reason as a stable word, Reason in words.
	Code   Code
	Reason string

	env string // the environment that Path belongs to, empty if none is known
}

// String is the line for a message.
func (a Attempt) String() string { return fmt.Sprintf("%s (%s): %s", a.Path, a.Source, a.Reason) }

// Error says why no Python was chosen: none was found, the one that a deciding source
// names cannot be used, or the requirements cannot be read or satisfied.
type Error struct {
	// Path is the file or directory that cannot be used, absolute, and Source who
	// named it. Both are empty if no Python is concerned.
	Path   string
	Source Source
	// Problem says what is wrong, such as "is a broken symbolic link". If Path is empty,
	// it is the whole message. Code is the same as a stable word.
	Problem string
	Code    Code
	// Tried is what was looked at when nothing was found, in order.
	Tried []Attempt
	// Advice are the hints, one a line.
	Advice []string
	// Err is the error of the system, or of asking the Python; nil if a file said it.
	Err error

	kind   errorKind
	wanted string // the version that a pin names
	env    string // the environment that Path belongs to, empty if none is known
}

// errorKind says what would help against an error.
type errorKind uint8

const (
	unusable errorKind = iota
	otherVersion
	notFound
	impossible // no Python would do
)

// Error names the path, the source, and what is wrong.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return fmt.Sprintf("python of %s: %s %s", e.Source, e.Path, e.Problem)
}

// Unwrap returns the error below, if any.
func (e *Error) Unwrap() error { return e.Err }

// Hints says what to do.
func (e *Error) Hints() []string { return e.Advice }

// problem reports what is wrong with the Python at path.
func problem(code Code, path, format string, args ...any) *Error {
	return &Error{Path: path, Code: code, Problem: fmt.Sprintf(format, args...)}
}

// notFound reports that no Python satisfies the requirements.
func (f *finder) notFound() *Error {
	e := &Error{kind: notFound, Code: NoPython, Tried: f.tried, Problem: "no python found"}
	if len(f.Requires) > 0 {
		e.Problem += " that satisfies " + list(f.Requires)
	}
	if len(f.tried) == 0 {
		e.Problem += ", and PATH has none at all"
	}
	return e
}

// notOnPath reports that PATH has nothing of what source asks for, such as
// "python3.12" or ">=3.12".
func (f *finder) notOnPath(wanted string, source Source) *Error {
	return &Error{
		kind: notFound, Code: NoPython, Tried: f.tried, Source: source,
		Problem: fmt.Sprintf("no python on PATH for %q, which %s asks for", wanted, source),
	}
}

// badSpec says that a clause of a requirement cannot be read.
func badSpec(r Requirement, clause string) *Error {
	return &Error{kind: impossible, Code: BadRequirement, Problem: fmt.Sprintf(
		"python version of %s: %q is not a version specifier, want one such as %q", r.From, clause, ">=3.11")}
}

// conflict says that no Python can satisfy all requirements at once.
func (f *finder) conflict() *Error {
	var all []Requirement
	for _, b := range f.bounds {
		all = append(all, b.Requirement)
	}
	return &Error{kind: impossible, Code: Conflict, Problem: "no python can satisfy " + list(all)}
}

// list writes requirements as ">=3.11 (plugin.py) and <3.10 (pyproject.toml)".
func list(rs []Requirement) string {
	words := make([]string, len(rs))
	for i, r := range rs {
		words[i] = fmt.Sprintf("%s (%s)", r.Spec, r.From)
	}
	return strings.Join(words, " and ")
}

// advise adds the hints to an error: what would do on this machine, as far as files
// say, and whether the environment can be made again.
func (f *finder) advise(ctx context.Context, e *Error) {
	remake := func(python string) string {
		return "make the environment again: " + quoted(python, "-m", "venv", "--clear", e.env)
	}
	switch {
	case e.kind == impossible:
	case e.Code == PinNotInstalled:
		e.Advice = f.pinAdvice(e)
	case e.kind == otherVersion || e.kind == notFound:
		install := "install Python " + f.needs() + ", or name one with --python"
		python, found := f.elsewhere(ctx)
		if (e.kind == notFound || !found) && len(f.minors()) > 0 {
			e.Advice = append(e.Advice, install)
		}
		if found {
			e.Advice = append(e.Advice, fmt.Sprintf("%s would do: --python %s", python, quoted(python.Path)))
		}
		if found && remakable(e.env) {
			e.Advice = append(e.Advice, remake(python.Path))
		}
	case e.Code == UntrustedOwner || e.Code == WorldWritable:
		e.Advice = []string{e.Attempt().Fix()}
	case remakable(e.env) && e.Code != Unreadable:
		e.Advice = []string{remake("python3")}
	case e.Attempt().Fix() != "" && e.Code != NotExecutable:
		e.Advice = []string{e.Attempt().Fix()}
	case e.Source == SourceActive || e.Source == SourceConda:
		e.Advice = []string{"make it again or deactivate it; --no-active ignores it"}
	default:
		e.Advice = []string{"name another Python with --python"}
	}
}

// needs says in words which versions would do.
func (f *finder) needs() string {
	var specs []string
	for _, b := range f.bounds[1:] { // the first is the minimum
		specs = append(specs, strings.TrimSpace(b.Spec))
	}
	if len(specs) == 0 {
		return "3.8 or later"
	}
	return strings.Join(specs, " and ")
}

// elsewhere finds a Python that would do although the search did not choose it: on
// PATH, or among what version managers have installed. It starts none.
func (f *finder) elsewhere(ctx context.Context) (Interpreter, bool) {
	files := *f
	files.Run, files.tried, files.assume = nil, nil, false
	found, err := files.search(ctx, files.names(), SourcePath)
	if err == nil && found.Path == "" {
		found = files.managed(ctx)
	}
	return found, found.Path != ""
}

// remakable reports whether python -m venv --clear, which empties a directory, may be
// advised: env is an environment, no link to one, and no other directory that somebody
// happened to name.
func remakable(env string) bool {
	info, err := os.Lstat(env)
	if env == "" || err != nil || !info.IsDir() {
		return false
	}
	if _, err := os.Stat(filepath.Join(env, "pyvenv.cfg")); err == nil {
		return true
	}
	_, broken := envPython(env)
	return broken == nil
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

// String is the Python for a message: "/usr/bin/python3.12 (3.12.4, PATH)".
func (i Interpreter) String() string { return fmt.Sprintf("%s (%s, %s)", i.Path, i.Version, i.Source) }
