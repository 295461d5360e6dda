package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
)

// notes are what a caller should know: whether the plugin's files have changed since it
// started. Unless now is set, what was found just before counts.
func (s *service) notes(now bool) []string {
	s.noting.Lock()
	defer s.noting.Unlock()
	if now || s.noted.IsZero() || time.Since(s.noted) >= notePause {
		s.found, s.noted = nil, time.Now()
		if text := s.note(); text != "" {
			s.found = []string{text}
		}
	}
	return s.found
}

// note says what has changed since the plugin started; empty if nothing has.
func (s *service) note() string {
	name := s.server.Identity().Name
	for _, path := range s.first.Changed() {
		if path == s.session.Plugin().Manifest.File || path == s.session.Interpreter().Path {
			return fmt.Sprintf("%s %s since %s started; run %s", filepath.Base(path), changedHow(path), name, startAgain(name))
		}
	}
	s.mu.Lock()
	seen, broken := s.seen, s.broken
	s.mu.Unlock()
	changed := seen.Changed()
	if len(changed) == 0 {
		return ""
	}
	how := changedHow(changed[0])
	text := fmt.Sprintf("%s %s since %s started", filepath.Base(changed[0]), how, name)
	switch {
	case broken == "" && how == removed: // there is nothing to load
		return text
	case !s.o.watch:
		return fmt.Sprintf("%s; run `pyplug restart %s` to reload it", text, name)
	case broken != "":
		return text + ", and does not start: " + broken
	}
	return text + ", and is being loaded"
}

const removed = "was removed"

// notePause is how long callers get the notes found before: each look asks the system
// for every file of the plugin.
const notePause = 100 * time.Millisecond

// changedHow says how a file differs from what was loaded.
func changedHow(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return removed
	}
	return "has changed"
}

// startAgain says how to load new flags, another Python or a new manifest.
func startAgain(name string) string {
	return fmt.Sprintf("`pyplug stop %s`, then start it again", name)
}

// renewed notes that the workers have loaded the files as they are now.
func (s *service) renewed(now runner.Snapshot) {
	s.mu.Lock()
	s.seen, s.broken = now, ""
	s.mu.Unlock() // notes takes the locks in the other order
	s.noting.Lock()
	defer s.noting.Unlock()
	s.noted = time.Time{}
}

// watched reports what came of a change of the plugin's files.
func (s *service) watched(ctx context.Context, k *runner.Pool, changed []string, err error) {
	text := filepath.Base(changed[0])
	if len(changed) > 1 {
		text += " and others"
	}
	if err != nil {
		s.mu.Lock()
		s.broken, _, _ = strings.Cut(err.Error(), "\n")
		s.mu.Unlock()
		text += " changed and does not start"
		if status(k).Ready > 0 { // it may have died meanwhile
			text += ", so the old plugin stays"
		}
		s.say(text + ": " + err.Error())
		return
	}
	s.write(daemon.Line{Stream: daemon.Own, Text: text + " changed, and the new plugin runs"})
	if now, err := s.session.Snapshot(ctx); err == nil { // else it ends
		s.renewed(now)
	}
}
