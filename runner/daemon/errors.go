package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// The reasons of this package's errors, see [hook.Error].
const (
	// NotRunning: no daemon serves the name.
	NotRunning = "not-running"
	// Taken: another plugin has the name. AlreadyRuns: the same plugin has it.
	Taken       = "taken"
	AlreadyRuns = "already-runs"
	// Stopping: the daemon is being stopped and accepts no calls.
	Stopping = "stopping"
	// Lost: the connection ended before the answer.
	Lost = "lost"
	// OtherVersion: the daemon belongs to a pyplug with another protocol.
	OtherVersion = "other-version"
	// Unresponsive: a process has the name and does not answer.
	Unresponsive = "unresponsive"
)

// Is reports whether err is an error with that reason.
func Is(err error, reason string) bool {
	e, ok := errors.AsType[*hook.Error](err)
	return ok && e.Reason == reason
}

// NotRunningError returns the error for a word, such as a name or a path, that names no running
// plugin.
func NotRunningError(word string) *hook.Error {
	e := fail(hook.Unavailable, NotRunning, word+" is not running")
	if strings.ContainsAny(word, `./\`) {
		e.Hints = schema.Hints("run %s to start it", schema.Command{"start", word})
		return e
	}
	if run, ok := lastRunOf(word); ok {
		how := "it ended without a stop"
		if !run.Crashed {
			how = "it stopped"
		}
		e.Err = fmt.Errorf("%s is not running: %s %s%s", word, how, clock(run.At), because(run.Reason))
		e.Hints = schema.Hints("run %s to see its last lines, %s to start a plugin", schema.Command{"logs", "--tail", "20", word}, schema.Command{"start", "PLUGIN"})
		return e
	}
	if owner := otherOwner(word); owner != "" {
		e.Err = fmt.Errorf("%s is not running as root, but as %s", word, owner)
		e.Hints = schema.Hints("run it as that user: sudo -u %s pyplug …", owner)
		return e
	}
	e.Hints = schema.Hints("run %s to list the running plugins, %s to start one", schema.Command{"status"}, schema.Command{"start", "PLUGIN"})
	if dirs := RunDirs(); len(dirs) > 0 && os.Getenv("PYPLUG_RUN_DIR") == "" {
		e.Tried = []string{"searched: " + strings.Join(dirs, " and ")}
		if err := Skipped(); err != nil {
			e.Tried = append(e.Tried, "skipped: "+err.Error())
		}
	}
	return e
}

// lastRunOf is like [LastRun], but accepts a word that is not a valid name.
func lastRunOf(word string) (Run, bool) {
	if !ValidName(word) {
		return Run{}, false
	}
	return LastRun(word)
}

// clock formats a time for people: the time of day, and the date unless it is today.
func clock(at time.Time) string {
	at = at.Local()
	if now := time.Now(); at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return "at " + at.Format("15:04")
	}
	return "on " + at.Format("2006-01-02 at 15:04")
}

// because returns a reason in parentheses, or nothing.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// otherOwner returns the user who runs a plugin of that name, or "" if it finds none. It searches
// only if this user is root, who does not see the plugins of other users.
func otherOwner(name string) string {
	if os.Geteuid() != 0 || !ValidName(name) {
		return ""
	}
	for _, pattern := range []string{filepath.Join(sharedTemp, "pyplug-*"), "/run/user/*/pyplug"} {
		dirs, _ := filepath.Glob(pattern) // the patterns are valid
		for _, dir := range dirs {
			info, err := os.Lstat(filepath.Join(dir, name+".sock"))
			if err != nil || bounded.IsOurs(info) {
				continue
			}
			id := strconv.Itoa(int(bounded.Owner(info)))
			if known, err := user.LookupId(id); err == nil {
				return known.Username
			}
			return "#" + id // sudo -u accepts this form
		}
	}
	return ""
}

// takenError returns the error for a name that is taken. by is the plugin that has the name.
func takenError(wanted, by Identity) *hook.Error {
	e := fail(hook.Usage, Taken, "the name "+wanted.Name+" is taken by "+string(by.Entry),
		schema.Hintf("choose another name with %s, or run %s first", schema.Setting("name"), schema.Command{"stop", wanted.Name}))
	switch by.Entry {
	case "":
		e.Err = errors.New("the name " + wanted.Name + " is taken")
	case wanted.Entry:
		e.Reason = AlreadyRuns
		e.Hints = schema.Hints("run %s first, or start another one with %s", schema.Command{"stop", wanted.Name}, schema.Setting("name"))
	}
	return e
}

// stoppingError returns the error for a daemon that does not accept calls any more.
func stoppingError(name string) *hook.Error {
	return fail(hook.Unavailable, Stopping, name+" is stopping")
}

// unresponsiveError returns the error for a process that has the name but does not answer.
func unresponsiveError(name string, by Identity) *hook.Error {
	process := "a process"
	if by.PID > 0 {
		process = fmt.Sprintf("process %d", by.PID)
	}
	e := fail(hook.Unavailable, Unresponsive, "the name "+name+" is held by "+process+", which does not respond",
		schema.Hintf("run %s to stop it", schema.Command{"stop", name}))
	e.Plugin = by.About
	return e
}

// versionError returns the error for a daemon that speaks another version of the protocol.
func versionError(name string, by Identity) *hook.Error {
	e := fail(hook.Unavailable, OtherVersion, name+" was started by another version of pyplug",
		schema.Hintf("run %s, then start it again: this version cannot call it", schema.Command{"stop", name}))
	if by.Version != "" {
		e.Err = fmt.Errorf("%w, %s", e.Err, by.Version)
	}
	return e
}

// lostError returns the error for a daemon that exited, or sent a malformed answer, during a
// request.
func lostError(name string, by Identity) *hook.Error {
	e := fail(hook.Unavailable, Lost, "the daemon of "+name+" exited during the call", logHint(by.Log)...)
	e.Hints = append(e.Hints, schema.Hintf("run %s to list the running plugins", schema.Command{"status"}))
	return e
}

// logHint returns a hint that names a log, if the log exists.
func logHint(path schema.Path) []schema.Hint {
	if _, err := os.Stat(string(path)); path == "" || err != nil {
		return nil
	}
	return schema.Hints("read its log: %s", string(path))
}

// fail returns an error with a kind, a reason, a message and hints.
func fail(kind hook.Kind, reason, message string, hints ...schema.Hint) *hook.Error {
	return &hook.Error{Kind: kind, Reason: reason, Hints: hints, Err: errors.New(message)}
}

// unavailable returns an error of the system as an error of kind Unavailable.
func unavailable(err error) *hook.Error { return hook.NewError(hook.Unavailable, err) }

// noSocketsError returns the error for a system without Unix sockets.
func noSocketsError() *hook.Error {
	return fail(hook.Unavailable, "", "this system has no Unix sockets, and background plugins need them (Windows has them since Windows 10 1803)",
		schema.Hints("run %s to serve it over TCP alone", schema.Command{"serve", "--listen", "ADDRESS", "--token-file", "FILE", "PLUGIN"})...)
}
