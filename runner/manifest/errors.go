package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Reason says what is wrong, for whoever wants to add a hint.
type Reason uint8

// The reasons. Beside each are the fields of Error that it fills, with File
// always being set.
const (
	_          Reason = iota
	NotFound          // the path does not exist; Near, Suggest
	NotPlugin         // a file that cannot be a plugin; Seen, Suggest
	NoManifest        // a directory without manifest and __init__.py; Near: its .py files
	NoEntry           // a manifest that names no entry, and none is obvious; Near: the .py files
	Ambiguous         // several scripts of a directory have a manifest in them; Near: the scripts
	Unreadable        // the system would not give the file; Err
	Syntax            // no valid TOML, JSON or metadata block; Line, Column, Text, Seen
	UnknownKey        // Line, Key, Suggest
	BadValue          // Line, Key, Seen, Wanted, Suggest
	Conflict          // two manifests disagree; Other, Key, Seen, Wanted: what Other says
)

// Error is the only error type of this package. It is a mistake of the user, and
// its text is one line; Text and Column are there to show the place.
type Error struct {
	Reason Reason
	// File is the file or directory that it is about, absolute.
	File string
	// Line and Column are counted from 1; 0 is unknown.
	Line, Column int
	// Text is the line of the file, without its end.
	Text string
	// Key is the dotted key, such as "timeouts.start" or "bootstrap[1].hook".
	Key string
	// Seen is what is there, as it is to be shown, strings in quotes.
	Seen string
	// Wanted is what should be there, in words.
	Wanted string
	// Suggest is what was probably meant: a key, a value, a path. Empty: unknown.
	Suggest string
	// Near are the names that are there, sorted.
	Near []string
	// Other is the second file of a conflict, absolute.
	Other string
	// Err is the error of the system, nil when there is none.
	Err error
}

// Error is one line: the place, what was seen, what was wanted.
func (e *Error) Error() string {
	place := short(e.File)
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			place += fmt.Sprintf(":%d", e.Column)
		}
	}
	switch e.Reason {
	case NotFound:
		return join(fmt.Sprintf("plugin %q does not exist", short(e.File)), e.Seen)
	case NotPlugin:
		return fmt.Sprintf("%q is no plugin: %s, want a .py file, an executable, a package or a directory with a manifest",
			short(e.File), e.Seen)
	case NoManifest:
		return fmt.Sprintf("directory %q is no plugin: it has %s", short(e.File), e.Wanted)
	case NoEntry:
		return join(place+": no entry", e.Seen) + ", want the file to run"
	case Ambiguous:
		return fmt.Sprintf("directory %q has several scripts with [tool.pyplug]: %s, want one", short(e.File), strings.Join(e.Near, ", "))
	case Unreadable:
		return fmt.Sprintf("%s: %s", place, e.Seen)
	case UnknownKey:
		return fmt.Sprintf("%s: unknown key %q", place, e.Key)
	case BadValue:
		return fmt.Sprintf("%s: %s is %s, want %s", place, e.Key, e.Seen, e.Wanted)
	case Conflict:
		return fmt.Sprintf("%s and %s disagree on %s: %s and %s", place, short(e.Other), e.Key, e.Seen, e.Wanted)
	}
	return place + ": " + e.Seen
}

// Unwrap is the error of the system, if any.
func (e *Error) Unwrap() error { return e.Err }

func join(text, more string) string {
	if more == "" {
		return text
	}
	return text + ": " + more
}

// unreadable is the error of a file that is there but cannot be read.
func unreadable(path string, err error) *Error {
	seen := err.Error()
	if perr, ok := err.(*os.PathError); ok {
		seen = perr.Err.Error()
	}
	return &Error{Reason: Unreadable, File: path, Seen: "cannot be read: " + seen, Err: err}
}

// short is the path as people read it: from the working directory when it is
// below, whole otherwise.
func short(path string) string {
	cwd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// nearest is the word of known that is closest to word, empty when none is close.
func nearest(word string, known []string) string {
	best, least := "", 1+len(word)/3
	for _, candidate := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < least || d == least && best == "" {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, change or swap to get from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before, above []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, above, row = above, row, make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}
