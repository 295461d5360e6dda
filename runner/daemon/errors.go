package daemon

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/wire"
)

// NotRunningError says that nobody serves a name.
type NotRunningError struct{ Name string }

// Error names the name.
func (e *NotRunningError) Error() string { return "nothing runs under the name " + e.Name }

// VersionError says that who serves a name is another build of pyplug, which may
// take and answer calls in another way. [Look] reaches it all the same.
type VersionError struct {
	Name string
	// Daemon is its version, Build its [Identity.Build]; empty where it is not known.
	Daemon, Build string
}

// Error names the version.
func (e *VersionError) Error() string { return e.Name + " was " + e.How() }

// How says by which pyplug it was started: of builds that are no release, and so have
// no versions, by when they were made.
func (e *VersionError) How() string {
	text := "started by another pyplug, " + e.Daemon
	theirs, ours := builtAt(e.Build), builtAt(wire.Build())
	switch {
	case theirs == "" || ours == "":
		return text
	case theirs == ours: // by the second
		return text + " of another build"
	}
	return text + " built " + theirs + ", and this one was built " + ours
}

// builtAt says when a build that is no release was made, which is the last word of
// [wire.Build]; empty for a release.
func builtAt(build string) string {
	words := strings.Fields(build)
	if len(words) != 3 {
		return ""
	}
	at, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return ""
	}
	return time.Unix(0, at).Format(time.DateTime)
}

// Other says that an identity is of another build of pyplug than this one; nil where it
// is of this one, or not known.
func (id Identity) Other() *VersionError {
	if id.PID == 0 || id.Build == wire.Build() {
		return nil
	}
	return &VersionError{Name: id.Name, Daemon: id.Version, Build: id.Build}
}

// TakenError says that a name is taken by a daemon that is alive.
type TakenError struct {
	Name string
	// By is who has it; the zero Identity when that one has not said so yet.
	By Identity
}

// Error names the plugin that has the name.
func (e *TakenError) Error() string {
	if e.By.Entry == "" {
		return "the name " + e.Name + " is taken"
	}
	return "the name " + e.Name + " is taken by " + e.By.Entry
}

// UnansweredError says that a process has a name, and answers nobody: it was
// suspended, or hangs. [Stop] ends it.
type UnansweredError struct {
	Name string
	// By is who has it, as far as its files say.
	By Identity

	place place
}

// Error names the name and the process.
func (e *UnansweredError) Error() string {
	by := "a process"
	if e.By.PID > 0 {
		by = fmt.Sprintf("process %d", e.By.PID)
	}
	return "the name " + e.Name + " is held by " + by + ", which does not answer"
}

// unanswered is the error of a place whose holder does not answer.
func unanswered(p place) *hook.Error {
	by, _ := p.readState() // whoever it is
	return unavailable(&UnansweredError{Name: p.name, By: by, place: p})
}

// StoppingError says that a daemon ends, and takes no calls any more.
type StoppingError struct{ Name string }

// Error names the name.
func (e *StoppingError) Error() string { return e.Name + " is being stopped" }

// stoppingReason is what tells the other side of a socket that an error is one.
const stoppingReason = "stopping"

// Reason is how it crosses a socket.
func (e *StoppingError) Reason() string { return stoppingReason }

// LostError says that a daemon ended before it answered, or that nothing more can be
// made of what it sends.
type LostError struct {
	Name string
	// Log is what it wrote, if it is still there; empty where that is not known.
	Log string
	// Err is what it sent in the place of an answer; nil: it ended.
	Err error
}

// Error says that it ended, or what it sent.
func (e *LostError) Error() string {
	if e.Err == nil {
		return "the daemon of " + e.Name + " ended during the call"
	}
	return "the connection to the daemon of " + e.Name + " was given up during the call: " + e.Err.Error()
}

// Unwrap returns what it sent.
func (e *LostError) Unwrap() error { return e.Err }

// EndedError says that a daemon that was started ended without a word.
type EndedError struct {
	// Log is what is written under its name; empty: nothing.
	Log string
}

// Error says when.
func (e *EndedError) Error() string { return "the daemon ended before it was ready" }

// LongPathError says that the path of a name's socket is longer than the system lets
// it be.
type LongPathError struct{ Dir, Name string }

// Error names the path.
func (e *LongPathError) Error() string {
	path, _ := wire.SocketPath(e.Dir, e.Name)
	return fmt.Sprintf("%s is too long for the path of a socket: it has %d bytes, want at most %d", path, len(path), wire.MaxSocket)
}

// DirError says why a directory for background plugins is not used.
type DirError = wire.DirError

// ErrRelative and ErrMode are what is wrong with a directory that its user can mend.
var (
	ErrRelative = wire.ErrRelative
	ErrMode     = wire.ErrMode
)

var (
	errClosed   = errors.New("the connection is closed")
	errWindows  = errors.New("background plugins are not available on Windows")
	errGone     = errors.New("its caller is gone")
	errCanceled = errors.New("interrupted")
)

// refused is the error of a run directory that is not used: of kind Usage where it is
// named wrongly.
func refused(err error) *hook.Error {
	if errors.Is(err, ErrRelative) {
		return &hook.Error{Kind: hook.Usage, Err: err}
	}
	return unavailable(err)
}

// unavailable is an error of kind Unavailable.
func unavailable(err error) *hook.Error { return &hook.Error{Kind: hook.Unavailable, Err: err} }
