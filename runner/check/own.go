package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
)

// besides is a directory that has the top-level module that is missing, but that Python does not
// search: that of the importing file, or one of the plugin's project; empty for none.
func (l *sourceLook) besides(m missing) string {
	if m.Dir != "" || strings.Contains(m.Missing, ".") { // Python found what is above it
		return ""
	}
	var dirs []string
	if m.File != "" {
		dirs = append(dirs, filepath.Dir(m.File))
	}
	for _, dir := range l.project() {
		dirs = append(dirs, dir, filepath.Join(dir, "src"))
	}
	top, rest, isDeep := strings.Cut(m.Module, ".")
	next, _, _ := strings.Cut(rest, ".")
	for _, dir := range dirs {
		paths := []string{filepath.Join(dir, top+".py"), filepath.Join(dir, top, "__init__.py")}
		if isDeep { // of a directory without __init__.py, which may be anything
			paths = append(paths, filepath.Join(dir, top, next+".py"), filepath.Join(dir, top, next, "__init__.py"))
		}
		for _, path := range paths {
			if _, err := os.Stat(path); err == nil {
				return dir
			}
		}
	}
	return ""
}

// lack is why a module is not found, which decides what provides it.
type lack uint8

const (
	lacksPart     lack = iota // the package above it is there
	lacksPath                 // it is in a directory that Python does not search
	lacksStandard             // only other Pythons have it in their standard library
	lacksSpelling             // a module beside the plugin has nearly its name
	lacksOwn                  // it is the plugin's own by its name, and nowhere
	lacksPackage              // its package is to be installed
)

// lackOf says why a module is not found, and for some reasons what to do about it.
func (l *sourceLook) lackOf(m missing) (why lack, fix string) {
	if m.Dir != "" || m.Where != "" {
		return lacksPart, ""
	}
	dir, meant := l.besides(m), l.sibling(m)
	switch {
	case dir != "":
		return lacksPath, "it is in " + dir + ": put that directory on PYTHONPATH, or on sys.path before the import"
	case standard(m.Missing):
		return lacksStandard, ""
	case meant != "":
		return lacksSpelling, fmt.Sprintf("%s.py is beside the plugin; did you mean `import %[1]s`?", meant)
	case l.distribution(m) == "" && l.isOwn(m):
		return lacksOwn, ""
	}
	return lacksPackage, ""
}

// isPackage reports whether a module is missing since its package is not installed.
func (l *sourceLook) isPackage(m missing) bool {
	why, _ := l.lackOf(m)
	return why == lacksPackage
}

// isOwn reports whether a missing module is the plugin's own by its name, which nobody is to
// install: it is in the plugin's project, or has the name of the plugin's package or project.
func (l *sourceLook) isOwn(m missing) bool {
	top, _, _ := strings.Cut(m.Missing, ".")
	pkg, _, _ := strings.Cut(l.Place.Name, ".")
	if top == pkg || l.besides(m) != "" {
		return true
	}
	for _, dir := range l.project() {
		var file struct{ Project struct{ Name string } }
		text, _ := pysrc.Read(filepath.Join(dir, "pyproject.toml"), pysrc.LargestManifest) // empty without one
		if bounded.TOML([]byte(text), &file) == nil && text != "" && pysrc.Canonical(file.Project.Name) == pysrc.Canonical(top) {
			return true
		}
	}
	return false
}

// project lists the directories of the plugin's project.
func (l *sourceLook) project() []string {
	if l.opened == nil {
		return l.Dirs
	}
	return l.opened.Plugin().Project.Dirs
}
