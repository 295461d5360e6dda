package env

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// mark is the content of the marker of an environment. Its file names are relative to the
// environment's parent directory, so that a project can be moved.
type mark struct {
	State   state   `json:"state"`
	Sources []entry `json:"sources"`
}

// state records the progress of the last sync of an environment.
type state string

const (
	making     state = "making"     // the sync began to make the environment
	installing state = "installing" // the sync made the environment and began to install
	complete   state = "complete"
)

// entry is a source that an environment was made for.
type entry struct {
	// Owner is the owner of the source: a script, or the directory of a project.
	Owner schema.Path `json:"of"`
	// Requirements are the requirements of the source at the last sync.
	Requirements []string `json:"requirements"`
}

// maxMark bounds the size of a marker.
const maxMark = 1 << 20

func markPath(dir string) string { return filepath.Join(dir, interp.EnvMarker) }

// readMark reads the marker of an environment. It treats a broken marker as an interrupted sync.
func readMark(dir string) (m mark) {
	content, _, err := bounded.Read(markPath(dir), maxMark)
	if err != nil || schema.Decode(content, &m) != nil {
		return mark{}
	}
	return m
}

func (m mark) write(dir string) error {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return bounded.Replace(markPath(dir), append(content, '\n'), 0o644)
}

// isOurs reports whether pyplug made the environment in dir, or began to. Another process may be
// making it: before the marker exists, the directory contains only the lock, temporary files and
// the new file of the marker.
func isOurs(dir string) bool {
	entries, err := bounded.Dir(dir)
	begun := err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() != lockName && e.Name() != temporaryName && !strings.HasPrefix(e.Name(), bounded.NewPrefix)
	})
	return begun || bounded.Exists(markPath(dir)) // check the marker last: another process may write it meanwhile
}

// entryOf returns the entry of a source in the marker of the environment in dir.
func entryOf(dir string, s Source) entry {
	of, err := filepath.Rel(filepath.Dir(dir), s.owner())
	if err != nil { // the owner is on another drive of Windows
		of = s.owner()
	}
	return entry{Owner: schema.Path(filepath.ToSlash(of)), Requirements: s.asks()}
}

// source reads the current source of an entry. It returns errNone if the source has no requirements
// any more, or if pyplug does not install them.
func (e entry) source(dir string) (Source, error) {
	root, name := filepath.Dir(dir), filepath.FromSlash(string(e.Owner))
	if !filepath.IsLocal(name) { // somebody edited the marker
		return Source{}, errNone
	}
	of := filepath.Join(root, name)
	if info, err := os.Stat(of); err == nil && info.IsDir() {
		return installable("", []string{of, root})
	}
	return installable(of, nil)
}

// State describes an environment for a plugin.
type State struct {
	// Made reports whether pyplug made the environment, and Listed whether it did so for the
	// plugin.
	Made, Listed bool
	// Stale says why the environment may lack what the plugin needs, or is "".
	Stale string
}

// Look returns the state of the environment in dir for a plugin, which is a file or directory. dirs
// are the Dirs of [Request]. Look reads the plugin's source if the environment has a marker.
func Look(dir, plugin string, dirs []string) State {
	if !bounded.Exists(markPath(dir)) {
		return State{}
	}
	s, err := installable(plugin, dirs)
	switch {
	case errors.Is(err, errNone):
		return State{Made: true}
	case err != nil: // for example while a user edits it
		return State{Made: true, Listed: true, Stale: err.Error()}
	}
	m, wanted := readMark(dir), entryOf(dir, s)
	i := slices.IndexFunc(m.Sources, func(e entry) bool { return e.Owner == wanted.Owner })
	found := State{Made: true, Listed: i >= 0}
	switch {
	case !found.Listed:
	case m.State != complete:
		found.Stale = "the last sync of " + dir + " was interrupted"
	case !slices.Equal(m.Sources[i].Requirements, wanted.Requirements):
		found.Stale = filepath.Base(s.Path) + " lists other packages than at the last sync of " + dir
	}
	return found
}
