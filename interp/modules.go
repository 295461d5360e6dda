package interp

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Modules knows where a Python looks for what a script imports, its standard
// library left out. It never changes and is safe for concurrent use; what it says
// is true of the files as they are when it is asked, but for the packages that are
// installed, whose names are read once, when they are first needed.
type Modules struct {
	first []string
	where func() places
}

// places are those of the search path.
type places struct {
	dirs []place // in the order in which Python looks at them
	// editable are the packages and modules of editable installs, by their
	// top-level names. Python looks at them last.
	editable map[string][]place
	known    map[placeName]bool // none is there twice
}

// place is a directory of the search path or, with a name, one package or module
// of an editable install, which may be anywhere.
type place struct {
	placeName
	// names are what the directory holds; nil when it was not read.
	names map[string]bool
	// early: Python looks there before its standard library.
	early bool
}

// placeName is what makes a place another one.
type placeName struct {
	dir string
	// name is of the form "package/module"; dir is then the package's directory,
	// or the module's file without ".py".
	name string
}

// Modules is where i looks for modules: the directories first, which Python puts
// before all others because the script is there; those of PYTHONPATH in environ,
// which is shaped like os.Environ(); and those of the packages that are installed
// for i, with what their .pth files and setuptools' editable installs add. What
// cannot be read is left out, and so is a relative entry of PYTHONPATH. Without a
// Version nothing is known to be installed.
func (i Interpreter) Modules(first, environ []string) *Modules {
	return &Modules{first: first, where: sync.OnceValue(func() places { return i.places(first, variables(environ)) })}
}

func (i Interpreter) places(first []string, vars map[string]string) places {
	all := places{editable: map[string][]place{}, known: map[placeName]bool{}}
	for _, dir := range first {
		all.addEarly(dir)
	}
	for _, dir := range filepath.SplitList(vars["PYTHONPATH"]) {
		if filepath.IsAbs(dir) {
			all.addEarly(filepath.Clean(dir))
		}
	}
	for _, dir := range i.sites(vars) {
		names := namesIn(dir)
		all.add(dir, setOf(names))
		for _, named := range pathFiles(dir, names) {
			all.add(named, nil)
		}
		for _, found := range finders(dir, names) {
			all.addEditable(found)
		}
	}
	return all
}

// add appends a directory that is not there yet.
func (p *places) add(dir string, names map[string]bool) {
	if p.isNew(placeName{dir: dir}) {
		p.dirs = append(p.dirs, place{placeName: placeName{dir: dir}, names: names})
	}
}

// addEarly appends a directory that comes before the standard library.
func (p *places) addEarly(dir string) {
	if p.isNew(placeName{dir: dir}) {
		p.dirs = append(p.dirs, place{placeName: placeName{dir: dir}, early: true})
	}
}

// addEditable appends a package or module of an editable install.
func (p *places) addEditable(n placeName) {
	if p.isNew(n) {
		top, _, _ := strings.Cut(n.name, "/")
		p.editable[top] = append(p.editable[top], place{placeName: n})
	}
}

func (p *places) isNew(n placeName) bool {
	if p.known[n] {
		return false
	}
	p.known[n] = true
	return true
}

// Has tells whether there is a top-level module or package of that name. The
// names of the standard library are not known, nor those of modules in C.
func (m *Modules) Has(name string) bool {
	all := m.where()
	return len(all.editable[name]) > 0 || slices.ContainsFunc(all.dirs, func(p place) bool { return p.holds(name, stat) })
}

// holds tells whether a directory has something of a top-level name.
func (p place) holds(name string, stat func(path string) fs.FileMode) bool {
	if p.names != nil {
		return p.names[name] || p.names[name+".py"]
	}
	path := filepath.Join(p.dir, name)
	return stat(path).IsDir() || stat(path+".py").IsRegular()
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

// isFile tells whether a regular file is there, so that reading it does not wait.
func isFile(path string) bool { return stat(path).IsRegular() }

// stat is the mode of what is there, [fs.ModeIrregular] when nothing is.
func stat(path string) fs.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return fs.ModeIrregular
	}
	return info.Mode()
}

func setOf(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}
