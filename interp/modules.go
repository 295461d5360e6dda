package interp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/pysrc"
)

// Modules knows where a Python looks for what a script imports, its standard
// library left out. It never changes and is safe for concurrent use; what it says
// is true of the files as they are when it is asked, but for the packages that are
// installed, whose names were read when it was made.
type Modules struct {
	first  []string
	places []place // in the order in which Python looks at them
}

// place is a directory of the search path or, with a name, one package or module
// of an editable install, which may be anywhere.
type place struct {
	dir string
	// name is of the form "package/module"; dir is then the package's directory,
	// or the module's file without ".py".
	name string
	// names are what the directory holds; nil when it was not read.
	names map[string]bool
}

// Modules is where i looks for modules: the directories first, which Python puts
// before all others because the script is there; those of PYTHONPATH in environ,
// which is shaped like os.Environ(); and those of the packages that are installed
// for i, with what their .pth files and setuptools' editable installs add. What
// cannot be read is left out, and so is a relative entry of PYTHONPATH. Without a
// Version nothing is known to be installed.
func (i Interpreter) Modules(first, environ []string) *Modules {
	vars := variables(environ)
	m := &Modules{first: first}
	for _, dir := range first {
		m.add(place{dir: dir})
	}
	for _, dir := range filepath.SplitList(vars["PYTHONPATH"]) {
		if filepath.IsAbs(dir) {
			m.add(place{dir: filepath.Clean(dir)})
		}
	}
	var editable []place // Python looks at the directories before them
	for _, dir := range i.sites(vars) {
		names := namesIn(dir)
		m.add(place{dir: dir, names: setOf(names)})
		for _, named := range pathFiles(dir, names) {
			m.add(place{dir: named})
		}
		editable = append(editable, finders(dir, names)...)
	}
	for _, p := range editable {
		m.add(p)
	}
	return m
}

// add appends a place that is not there yet.
func (m *Modules) add(p place) {
	for _, known := range m.places {
		if known.dir == p.dir && known.name == p.name {
			return
		}
	}
	m.places = append(m.places, p)
}

// Has tells whether there is a top-level module or package of that name. The
// names of the standard library are not known, nor those of modules in C.
func (m *Modules) Has(name string) bool { return len(m.holding(name)) > 0 }

// holding are the places that have something of a top-level name.
func (m *Modules) holding(name string) []place {
	var found []place
	for _, p := range m.places {
		if p.holds(name) {
			found = append(found, p)
		}
	}
	return found
}

func (p place) holds(name string) bool {
	if p.name != "" {
		top, _, _ := strings.Cut(p.name, "/")
		return top == name
	}
	if p.names != nil {
		return p.names[name] || p.names[name+".py"]
	}
	path := filepath.Join(p.dir, name)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return true
	}
	return isFile(path + ".py")
}

// file is where the place would have one of [pysrc.Import.Paths], empty when it
// cannot have it.
func (p place) file(path string) string {
	if p.name == "" {
		return filepath.Join(p.dir, path)
	}
	rest, ok := strings.CutPrefix(path, p.name)
	if ok && (strings.HasPrefix(rest, "/") || rest == ".py") {
		return p.dir + filepath.FromSlash(rest)
	}
	return ""
}

// find gives the files that an import loads, of the places that hold its top-level
// name or, for a relative one, of the directory that it stands in.
func find(imp pysrc.Import, places []place) []string {
	paths := imp.Paths()
	inside := len(paths) // where those of the names begin that are taken out of the module
	for _, name := range imp.Names {
		if name != "*" {
			inside -= 2
		}
	}
	if len(places) > 1 {
		places = decide(imp, paths, places)
	}
	var found []string
	isPackage, isModule := false, false // what was found last
	for n, path := range paths {
		if n == inside && isModule {
			break // and none of its names is a module
		}
		file := first(places, path)
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
func decide(imp pysrc.Import, paths []string, places []place) []place {
	tops := paths[:1] // name/__init__.py
	if !strings.Contains(imp.Module, ".") {
		tops = paths[:2] // and name.py
	}
	for i, p := range places {
		if slices.ContainsFunc(tops, func(path string) bool { return isFile(p.file(path)) }) {
			return places[i : i+1]
		}
	}
	return places
}

// first is the file that the first of the places has at a path, empty when none has.
func first(places []place, path string) string {
	for _, p := range places {
		if file := p.file(path); isFile(file) {
			return file
		}
	}
	return ""
}

// isFile tells whether a regular file is there, so that reading it does not wait.
func isFile(path string) bool {
	if path == "" {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func setOf(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}
