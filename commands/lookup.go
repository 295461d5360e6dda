package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// namesOf are the names that a plugin gets, the preferred first: the one that was
// typed, else its own, and that with a short hash of its path where another plugin
// has it.
func namesOf(s *runner.Opened, typed string) []string {
	if typed != "" {
		return []string{typed}
	}
	p := s.Plugin()
	hash := sha256.Sum256([]byte(p.Entry))
	return []string{p.ID, p.ID + "-" + hex.EncodeToString(hash[:3])}
}

// identityOf says what is served under a name.
func identityOf(s *runner.Opened, o startOptions, name string) daemon.Identity {
	return daemon.Identity{
		Name: name, Plugin: o.cfg.Plugin, Entry: s.Plugin().Entry, Python: s.Interpreter().Path,
		Transport: s.Settings().Transport, Dir: s.Settings().Dir,
		About: aboutPlugin(o.cfg.Plugin, s, hook.Info{}), Digest: digestOf(s, o), Version: versionText(), AutoStarted: o.auto,
	}
}

// difference says in which way the running plugin differs from the wanted one, apart
// from its files; "" if it does not.
func difference(running, wanted daemon.Identity) string {
	switch {
	case running.Python != wanted.Python:
		return fmt.Sprintf("%s runs with another Python, %s, and now it would be %s: %s",
			running.Name, running.Python, wanted.Python, startAgain(running.Name))
	case !sameDigest(running, wanted):
		return running.Name + " runs with other settings: " + startAgain(running.Name)
	}
	return ""
}

// target is what a word on the command line means, where NAME or PLUGIN may stand.
type target struct {
	word string
	name string // of a plugin that runs; empty when none does
	id   daemon.Identity
	// unresponsive is the error of a daemon that does not answer; nil if it does.
	unresponsive error
}

// find looks for what a word means: a plain word is a name that runs first, then a
// path; a path stands for what runs from it. A plugin that is there and does not
// run is a target without a name. The error is of kind Unavailable for a plain word
// that is neither, and that of the path else.
func (f *program) find(ctx context.Context, word string) (target, error) {
	t := target{word: word}
	if word == "" {
		return t, usage("NAME is empty")
	}
	if daemon.ValidName(word) {
		c, err := daemon.Look(ctx, word)
		switch {
		case err == nil:
			t.name, t.id = word, c.Identity()
			return t, nil
		case daemon.Is(err, daemon.Unresponsive):
			t.name, t.id, t.unresponsive = word, identityIn(ctx, word), err
			return t, nil
		case !isNotRunning(err):
			return t, err
		}
		if _, failed := os.Stat(word); failed != nil {
			return t, err
		}
	}
	p, err := hook.Interruptible(ctx, func() (manifest.Plugin, error) { return manifest.Resolve(word) })
	if canceled := asCanceled(err); canceled != nil {
		return t, canceled
	}
	if err != nil && daemon.ValidName(word) {
		return t, daemon.NotRunningError(word) // what lies there by that name is no plugin
	}
	unresolved := err
	var running []daemon.Entry
	if unresolved != nil {
		running, err = runningAt(ctx, word) // what runs needs its file no more
	} else {
		running, err = runningFrom(ctx, p.Entry)
	}
	switch _, absent := os.Stat(word); {
	case unresolved != nil && len(running) == 0 && plain(word) && absent != nil:
		return t, daemon.NotRunningError(word) // a name in capitals, say
	case unresolved != nil && len(running) == 0:
		return t, hook.NewError(hook.Usage, unresolved)
	case err != nil || len(running) == 0:
		return t, err
	case len(running) == 1:
		t.name, t.id = running[0].Name, running[0].Identity
		return t, nil
	}
	for _, e := range running {
		if e.Name == p.ID { // whoever has its own name is meant
			t.name, t.id = e.Name, e.Identity
			return t, nil
		}
	}
	return t, &hook.Error{Kind: hook.Usage, Hints: []string{"name the one that is meant"},
		Err: fmt.Errorf("%s runs under several names: %s", word, strings.Join(namesIn(running), ", "))}
}

// identityIn is the identity that a name's daemon wrote when it started.
func identityIn(ctx context.Context, name string) daemon.Identity {
	all, _ := daemon.List(ctx) // the zero Identity if unknown
	for _, e := range all {
		if e.Name == name {
			return e.Identity
		}
	}
	return daemon.Identity{}
}

// runningFrom lists what runs from an entry.
func runningFrom(ctx context.Context, entry string) ([]daemon.Entry, error) {
	all, err := daemon.List(ctx)
	all = slices.DeleteFunc(all, func(e daemon.Entry) bool { return e.Identity.Entry != entry })
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

// runningAt lists what runs from a path that leads to no plugin any more: the entry
// itself, or the directory that it was in.
func runningAt(ctx context.Context, path string) ([]daemon.Entry, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	all, err := daemon.List(ctx)
	return slices.DeleteFunc(all, func(e daemon.Entry) bool {
		entry := e.Identity.Entry
		return entry == "" || entry != abs && filepath.Dir(entry) != abs
	}), err
}

// plain reports whether a word does not look like a path: it is meant as a name.
func plain(word string) bool { return word != "" && !strings.ContainsAny(word, `./\`) }

func namesIn(entries []daemon.Entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// running is find for what has to run.
func (f *program) running(ctx context.Context, word string) (target, error) {
	t, err := f.find(ctx, word)
	if err == nil && t.name == "" {
		err = daemon.NotRunningError(word)
	}
	return t, err
}

// connect finds the daemon that a word means.
func (f *program) connect(ctx context.Context, word string) (*daemon.Client, error) {
	c, err := (*daemon.Client)(nil), error(nil)
	if daemon.ValidName(word) {
		c, err = daemon.Open(ctx, word)
	}
	if c == nil && (err == nil || isNotRunning(err)) {
		var t target
		if t, err = f.running(ctx, word); err == nil {
			c, err = daemon.Open(ctx, t.name)
		}
	}
	if err != nil {
		return nil, err
	}
	f.plugin = &plugin{f: f, path: word, daemon: c.Identity()}
	return c, nil
}

// isNotRunning reports whether an error says that nothing runs under a name.
func isNotRunning(err error) bool { return daemon.Is(err, daemon.NotRunning) }
