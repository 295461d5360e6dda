package commands

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"sync"

	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// backgroundHints are about plugins that run in the background, or should.
func (f *program) backgroundHints(err error, add adder) {
	var (
		none     *notRunningError
		gone     *daemon.NotRunningError
		other    *daemon.VersionError
		taken    *daemon.TakenError
		lost     *daemon.LostError
		mute     *daemon.UnansweredError
		several  *severalError
		noAttach *noAttachError
		file     *daemon.FileError
		early    *daemon.EndedError
		long     *daemon.LongPathError
		untold   *untoldError
		dir      *daemon.DirError
	)
	switch {
	case errors.As(err, &untold):
		add("`pyplug stop %s` stops it", untold.name)
	case errors.As(err, &none) && plain(none.word):
		add("`pyplug status` shows what runs, `pyplug start PLUGIN` starts a plugin")
	case errors.As(err, &none):
		add("`pyplug start %s` starts it", schema.QuoteLine([]string{none.word}))
	case errors.As(err, &gone):
		add("`pyplug status` shows what runs, `pyplug start PLUGIN` starts a plugin")
	case errors.As(err, &other):
		add("`pyplug stop %s`, then start it again: a plugin is called by the pyplug that started it", other.Name)
	case errors.As(err, &taken) && f.session != nil && taken.By.Entry == f.session.Plugin().Entry:
		add("it runs already: `pyplug stop %s` stops it, --name starts another one", taken.Name)
	case errors.As(err, &taken):
		add("--name gives it another name, `pyplug stop %s` frees this one", taken.Name)
	case errors.As(err, &mute):
		add("`pyplug stop %s` ends it", mute.Name)
	case errors.As(err, &lost):
		logHint(lost.Log, add)
		add("`pyplug status` shows what runs")
	case errors.As(err, &early):
		logHint(early.Log, add)
	case errors.As(err, &long) && len(long.Name) > len(long.Dir):
		add("--name gives it a shorter name")
	case errors.As(err, &long):
		add("name a shorter directory with PYPLUG_RUN_DIR")
	case errors.As(err, &dir):
		runDirHint(dir, add)
	case errors.As(err, &file):
		add("remove it: pyplug makes its own")
	case errors.As(err, &several):
		add("name the one that is meant")
	case errors.As(err, &noAttach):
		add("leave --mtls out, or `mtls` in the manifest: --mtls=false")
	}
}

// runDirHint says what to do about a run directory that is not used.
func runDirHint(e *daemon.DirError, add adder) {
	switch {
	case errors.Is(e, daemon.ErrRelative):
		add("PYPLUG_RUN_DIR takes a whole path, which begins with /")
	case errors.Is(e, daemon.ErrMode):
		add("%s, or name another one with PYPLUG_RUN_DIR", schema.QuoteLine([]string{"chmod", "700", e.Dir}))
	case e.Err == nil: // it is there
		add("PYPLUG_RUN_DIR names another one")
	default:
		add("PYPLUG_RUN_DIR names another one; it is made, but not the directory that it is in")
	}
}

// logHint points to the log of a daemon that is gone. That of one which was stopped
// went with it.
func logHint(path string, add adder) {
	if _, err := os.Stat(path); err == nil {
		add("its log may say why: %s", path)
	}
}

// flagName finds flags in a hint.
var flagName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--([a-z][a-z-]*)`) })

// startedWith completes the hints about a plugin that runs by what a flag takes that
// says how it is started, and is none of call.
func startedWith(name string, hints []string) []string {
	ofStart := map[string]bool{}
	for _, flag := range new(launchOptions).flags() {
		ofStart[flag.Names()[0]] = true
	}
	completed := slices.Clone(hints)
	for i, hint := range hints {
		for _, found := range flagName().FindAllStringSubmatch(hint, -1) {
			if ofStart[found[1]] {
				completed[i] = hint + ": " + startAgain(name) + " with that"
				break
			}
		}
	}
	return completed
}

// told is what the daemon that an error comes from says about it; nil for an error
// of ours.
func told(err error) *hook.ToldError {
	if t := (*hook.ToldError)(nil); errors.As(err, &t) {
		return t
	}
	return nil
}
