package interp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Code is the reason why a Python was not chosen. Programs can rely on its values.
type Code string

// The codes.
const (
	Missing             Code = "missing"               // the path does not exist
	Unreadable          Code = "permission-denied"     // the system denies access
	BrokenSymlink       Code = "broken-symlink"        // the link has no target
	SymlinkLoop         Code = "symlink-loop"          // the links lead to each other
	IsDirectory         Code = "is-directory"          // a directory in place of a program
	NotExecutable       Code = "not-executable"        // a file without permission to run
	BadFormat           Code = "bad-format"            // the content is not a program
	NotPython           Code = "not-python"            // it did not print its version when asked
	UnknownVersion      Code = "unknown-version"       // no file says the version, and the Python was not asked
	OtherVersion        Code = "version-mismatch"      // outside requires-python, or not the requested version
	Python2             Code = "python2"               // Python 2, which pyplug does not run
	OtherImplementation Code = "other-implementation"  // not free-threaded, although a free-threaded one was requested
	SecondChoice        Code = "second-choice"         // a pre-release or another Python that is chosen only if it is named
	PinNotInstalled     Code = "pin-not-installed"     // a file of the project names a version that is not installed
	OtherMinor          Code = "venv-minor-mismatch"   // the environment was made for another minor version
	EnvWithoutPython    Code = "venv-no-python"        // the environment has no Python any more
	NoConfig            Code = "no-pyvenv-cfg"         // the environment has no pyvenv.cfg any more
	AmbiguousEnvs       Code = "ambiguous-envs"        // several environments, none of which has a usual name
	UntrustedOwner      Code = "untrusted-owner"       // it belongs to another user, and nobody named it explicitly
	WorldWritable       Code = "world-writable"        // every user can modify it, and nobody named it explicitly
	UnrelatedActive     Code = "unrelated-active"      // activated, but the plugin has its own environment
	ForOthers           Code = "for-others"            // pyplug made it for other plugins
	ToolRuns            Code = "tool-runs"             // another tool manages the environment and runs programs in it
	NotEnvironment      Code = "not-an-environment"    // a file or directory with the name of an environment
	Shim                Code = "shim"                  // the search continued with the Python that the shim starts
	ShimUnresolved      Code = "shim-unresolved"       // no file says which Python the shim starts
	RelativeEntry       Code = "relative-path-entry"   // an entry of PATH that depends on the working directory
	LowerPriority       Code = "lower-priority"        // usable, but another Python has precedence
	NoPython            Code = "no-python"             // nothing was found
	BadRequirement      Code = "bad-requirement"       // a requires-python that cannot be read
	BadPin              Code = "bad-pin"               // a pin that cannot be read
	Conflict            Code = "requirements-conflict" // no Python satisfies all requirements
)

// Attempt is a Python or a place that the search looked at and did not choose.
type Attempt struct {
	// Path is the file or directory, or the version or name that the source asks for.
	Path string
	// Source says where the Python came from.
	Source Source
	// Code is the reason as a stable word. Reason says it in words, such as "is a broken symbolic
	// link".
	Code   Code
	Reason string
	// Fix says what to do, with a command if possible. [Explain] sets it.
	Fix schema.Hint

	env      string // the environment that Path belongs to, or "" if unknown
	wanted   string // the version that is not installed, or ""
	surprise bool   // users expect this Python to be chosen
}

// String returns the line for a message.
func (a Attempt) String() string {
	return fmt.Sprintf("%s (%s): %s", shown(a.Path), a.Source, a.Reason)
}

// shown returns a path for a message. It quotes a path that would break the line.
func shown(path string) string {
	if strings.ContainsAny(path, "\n\t") {
		return strconv.Quote(path)
	}
	return path
}

// problem returns an attempt that says what is wrong with the Python at path. If path is empty, the
// reason is the whole message.
func problem(code Code, path, format string, args ...any) *Attempt {
	return &Attempt{Path: path, Code: code, Reason: fmt.Sprintf(format, args...)}
}

// from sets the source of the Python.
func (a *Attempt) from(source Source) *Attempt {
	a.Source = source
	return a
}

// in sets the environment that the Python belongs to.
func (a *Attempt) in(env string) *Attempt {
	a.env = env
	return a
}

// failure returns the error of a search that ended at this Python. It names the path, the source
// and the reason.
func (a Attempt) failure() *hook.Error {
	text := a.Reason
	if a.Path != "" {
		text = fmt.Sprintf("%s: %s %s", a.Source, shown(a.Path), a.Reason)
	}
	return &hook.Error{Kind: hook.Interpreter, Err: errors.New(text), Hints: []schema.Hint{a.Fix}}
}

// failure returns the error of the search. If nothing was found, it lists what the search looked
// at.
func (f *finder) failure(broken *Attempt) *hook.Error {
	broken.Fix = f.fix(*broken)
	e := broken.failure()
	if broken.Code == NoPython || broken.Code == PinNotInstalled {
		for _, a := range f.tried {
			e.Tried = append(e.Tried, a.String())
		}
	}
	return e
}

// notFound returns an attempt that says that no Python satisfies the requirements.
func (f *finder) notFound() *Attempt {
	e := problem(NoPython, "", "no python found")
	if len(f.Requires) > 0 {
		e.Reason += " that satisfies " + JoinRequirements(f.Requires)
	}
	if len(f.tried) == 0 {
		e.Reason += "; PATH contains none"
	}
	return e
}

// notInstalled returns an attempt that says that the value of a source, such as "nopython" or
// ">=3.12", is not installed.
func (f *finder) notInstalled(asked string, source Source, reason string) *Attempt {
	e := problem(NoPython, asked, "%s", reason)
	e.Source, e.wanted = source, f.wanted.name
	return e
}

// conflict returns an attempt if no Python can satisfy all requirements, or nil.
func (f *finder) conflict() *Attempt {
	if len(f.bounds) == 1 || satisfiable(f.clauses()) {
		return nil
	}
	e := problem(Conflict, "", "no Python can satisfy %s", JoinRequirements(f.requirements()))
	e.Fix = schema.Hintf("change one of the versions that these ask for")
	return e
}

// String returns the Python for a message: "/usr/bin/python3.12 (3.12.4, PATH)".
func (i Interpreter) String() string {
	return fmt.Sprintf("%s (%s, %s)", shown(i.Path), i.Version, i.Source)
}
