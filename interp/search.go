package interp

import (
	"io/fs"

	"github.com/pyplug/pyplug/interp/pysrc"
)

// Search finds the files of many imports, and remembers what it asked. It is for
// one goroutine.
type Search struct{ w walk }

// Search begins a search for up to 20000 files.
func (m *Modules) Search() *Search {
	return &Search{walk{Modules: m, held: map[string][]place{},
		lookups: lookups{known: map[string]fs.FileMode{}, left: whole.lookups}}}
}

// Files are the source files that there are of those which an import in the file
// from may load, as [Modules.Walk] finds them, but of any library. Nil when it is
// of the standard library, in C, or nowhere.
func (s *Search) Files(imp pysrc.Import, from string) []string {
	if s.w.left <= 0 {
		return nil
	}
	imp.Names = imp.Names[:min(len(imp.Names), s.w.left)]
	found, _ := s.w.files(imp, from, s.w.Owns(from) || generated(from))
	return found
}

// Owns tells whether a file is the plugin's: in one of the directories that
// Modules was handed first, or below, and not among installed packages there.
func (m *Modules) Owns(path string) bool { return m.partOf(path, path) == "" }

// Path is where Python looks, without its standard library: the directories before
// that, which are the script's and PYTHONPATH's, and those after it, of what is
// installed. The slices are the caller's.
func (m *Modules) Path() (before, after []string) {
	for _, p := range m.where().dirs {
		if p.early {
			before = append(before, p.dir)
		} else {
			after = append(after, p.dir)
		}
	}
	return before, after
}
