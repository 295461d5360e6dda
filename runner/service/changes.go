package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/settings"
)

// changes tracks which of a plugin's files have changed since its workers loaded them.
type changes struct {
	started runner.Snapshot // the files when the plugin started; a restart does not load another manifest or interpreter

	mu     sync.Mutex      // protects the following
	loaded runner.Snapshot // the files that the workers run
	broken string          // why the changed files do not start, or ""
	text   string          // the changes that were noted last
	noted  time.Time
	took   time.Duration // the shortest time that finding the changes took
}

// load records that the workers have loaded the files.
func (c *changes) load(files runner.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded, c.broken, c.noted, c.took = files, "", time.Time{}, 0
}

const (
	// noteAge is the maximum age of the note in a call's result. The age is limited because a new
	// note reads the state of every file of the plugin.
	noteAge = 100 * time.Millisecond
	// noteShare also limits the age of a note, to this many times the time that finding it took. So
	// notes hardly slow down calls, and an edit right after a call is still noted.
	noteShare = 50
)

// notes returns messages for a caller: whether the plugin's files have changed since it started.
// The answer is at most maxAge old.
func (s *Service) notes(maxAge time.Duration) []string {
	c := &s.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	if began := time.Now(); began.Sub(c.noted) >= min(maxAge, noteShare*c.took) {
		c.text, c.noted = s.changed(), time.Now()
		if took := c.noted.Sub(began); c.took == 0 || took < c.took { // other load causes longer times
			c.took = took
		}
	}
	if c.text == "" {
		return nil
	}
	return []string{c.text}
}

// changed returns what changed since the plugin started, or "" if nothing did. The caller holds the
// lock of s.changes.
func (s *Service) changed() string {
	c, name := &s.changes, s.name
	if stale := s.SyncStale(); stale != "" {
		return fmt.Sprintf("%s; then run `pyplug restart %s`", stale, name)
	}
	for _, path := range c.started.Changed() {
		if path == s.Plugin.Manifest.File || path == s.Interpreter().Path {
			how, _ := changedHow(path)
			return fmt.Sprintf("%s since %s started; %s", how, name, startAgain(name))
		}
	}
	changed := c.loaded.Changed()
	if slices.Contains(changed, s.SyncMarker()) {
		return fmt.Sprintf("the environment has changed since %s started; run `pyplug restart %s` to use it", name, name)
	}
	if len(changed) == 0 {
		return ""
	}
	how, removed := changedHow(changed[0])
	text := how + " since " + name + " started"
	switch {
	case c.broken == "" && removed: // there is nothing to load
		return text
	case s.o.Config.Watch != settings.On:
		return fmt.Sprintf("%s; run `pyplug restart %s` to reload it", text, name)
	case c.broken != "":
		return text + ", and does not start: " + c.broken
	}
	return text + ", and is being loaded"
}

// changedHow describes how a file differs from the loaded one, and reports whether it was removed.
func changedHow(path string) (how string, removed bool) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return filepath.Base(path) + " was removed", true
	}
	return filepath.Base(path) + " has changed", false
}

// reload restarts the workers after a change of the plugin's files, and reports the result.
func (s *Service) reload(ctx context.Context, files []string) {
	text := changeOf(files)
	err := s.Restart(ctx, text)
	switch {
	case ctx.Err() != nil: // the files have changed again
		return
	case err == nil:
		s.logOwn(text + ", and the new plugin runs")
		return
	}
	s.changes.mu.Lock()
	s.changes.broken, _, _ = strings.Cut(hook.AsError(err).Located(), "\n")
	s.changes.mu.Unlock()
	s.noteBroken(text+" and", err)
}

// noteBroken reports that the changed files do not start. what begins the sentence.
func (s *Service) noteBroken(what string, err error) {
	text := what + " does not start"
	if s.status().Ready > 0 { // the plugin may have exited meanwhile
		text += ", so the old plugin stays"
	}
	s.note(text + ": " + hook.AsError(err).Located())
}

// changeOf describes a change of files.
func changeOf(files []string) string {
	text := filepath.Base(files[0])
	if len(files) > 1 {
		text += " and others"
	}
	return text + " changed"
}
