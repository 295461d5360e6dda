package interp

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/pysrc"
)

// lookups is what is known of the files that there are, and how many more may be
// asked for. Each costs microseconds, and one file may import a hundred thousand.
type lookups struct {
	known map[string]fs.FileMode
	left  int
}

// stat is the mode of what is there, [fs.ModeIrregular] when nothing is, or when
// enough was asked.
func (l *lookups) stat(path string) fs.FileMode {
	if mode, known := l.known[path]; known {
		return mode
	}
	if l.left <= 0 {
		return fs.ModeIrregular
	}
	l.left--
	mode := stat(path)
	l.known[path] = mode
	return mode
}

func (l *lookups) isFile(path string) bool { return path != "" && l.stat(path).IsRegular() }

// holding are the places that have something of a top-level name.
func (w *walk) holding(name string) []place {
	var found []place
	all := w.where()
	for _, p := range all.dirs {
		if p.holds(name, w.stat) {
			found = append(found, p)
		}
	}
	return append(found, all.editable[name]...)
}

// find gives the files that an import loads, of the places that hold its top-level
// name or, for a relative one, of the directory that it stands in.
func (w *walk) find(imp pysrc.Import, places []place) []string {
	paths := imp.Paths()
	inside := len(paths) // where those of the names begin that are taken out of the module
	for _, name := range imp.Names {
		if name != "*" {
			inside -= 2
		}
	}
	if len(places) > 1 {
		places = w.decide(imp, paths, places)
	}
	var found []string
	isPackage, isModule := false, false // what was found last
	for n, path := range paths {
		if n == inside && isModule {
			break // and none of its names is a module
		}
		file := w.firstFile(places, path)
		if filepath.Base(path) == "__init__.py" {
			isPackage, isModule = file != "", false
		} else {
			isModule = file != "" && !isPackage
		}
		if file != "" {
			found = append(found, file)
		}
	}
	return found
}

// decide gives the one place that an absolute import is from: the first that has
// its top-level name as a module, or as a package with __init__.py. The parts of a
// namespace package may be in several places, which all stay.
func (w *walk) decide(imp pysrc.Import, paths []string, places []place) []place {
	tops := paths[:1] // name/__init__.py
	if !strings.Contains(imp.Module, ".") {
		tops = paths[:2] // and name.py
	}
	for i, p := range places {
		if slices.ContainsFunc(tops, func(path string) bool { return w.isFile(p.file(path)) }) {
			return places[i : i+1]
		}
	}
	return places
}

// firstFile is the file that the first of the places has at a path, empty when none has.
func (w *walk) firstFile(places []place, path string) string {
	for _, p := range places {
		if file := p.file(path); w.isFile(file) {
			return file
		}
	}
	return ""
}
