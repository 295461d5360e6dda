package pysrc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pyplug/pyplug/interp/bounded"
)

// Place says how Python imports a plugin's file. All code that imports the file uses its place:
//
//   - A file is a module of its package if it has a relative import, uses __package__, imports
//     something by the name of a directory above it, or imports a library with the file's own
//     name. Python imports it by its full name, as python -m does. Python searches Root first, and
//     the file's own directory last, for files that import a sibling by its bare name.
//   - Any other file in a package is a script. Python searches its own directory directly after the
//     standard library, so that it hides none of Python's modules, and Root last.
//   - A file outside of packages is a script, too. Python searches its own directory first, as with
//     python FILE.
type Place struct {
	// Name is the full name of a module of a package, or of the module that -m names. It is empty
	// for a script.
	Name string
	// File is the imported file, with links resolved. It is empty for a module that is not a
	// file.
	File string
	// Root is the directory below which the plugin's own modules are. It is empty for an installed
	// module.
	Root string
	// First, Behind and Last are the directories that Python searches first, directly after the
	// standard library, and last. If one is empty, Python does not search it.
	First, Behind, Last string
}

// Dirs returns the directories of the plugin's own modules, each once: Root, then the searched
// ones.
func (p Place) Dirs() (dirs []string) {
	for _, dir := range []string{p.Root, p.First, p.Behind, p.Last} {
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Words returns the place as arguments for programs in Python: the name, the file, the root, then
// First, Behind and Last.
func (p Place) Words() []string { return []string{p.Name, p.File, p.Root, p.First, p.Behind, p.Last} }

// ScriptPlace returns the place of a file that Python runs as python FILE. It follows links.
func ScriptPlace(file string) Place {
	file = bounded.Real(file)
	return Place{File: file, Root: filepath.Dir(file), First: filepath.Dir(file)}
}

// PlaceOf returns the place of a file or of the directory of a package. It reads the file. Like
// Python, it follows links. path returns the directories of installed packages. An installed
// package takes precedence over a directory with its name that has no __init__.py. path may be nil.
func PlaceOf(entry string, path func() []string) Place {
	file := bounded.Real(entry)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "__init__.py")
	}
	dir, name := filepath.Dir(file), strings.TrimSuffix(filepath.Base(file), ".py")
	packages, top := packagesOf(dir), ""
	switch {
	case name != "__init__":
		top = topOf(file, packages, path)
	case len(packages) > 0:
		top = packages[0]
	}
	switch {
	case top == "" && len(packages) == 0:
		return ScriptPlace(file)
	case top == "":
		return Place{File: file, Root: filepath.Dir(packages[0]), Behind: dir, Last: filepath.Dir(packages[0])}
	}
	root := filepath.Dir(top)
	parts := strings.Split(strings.TrimPrefix(dir[len(root):], string(filepath.Separator)), string(filepath.Separator))
	if name != "__init__" {
		parts = append(parts, name)
	}
	for i, part := range parts { // a name with a dot cannot be imported
		parts[i] = strings.ReplaceAll(part, ".", "_")
	}
	return Place{Name: strings.Join(parts, "."), File: file, Root: root, First: root, Last: dir}
}

// packagesOf lists the packages that contain a directory, according to their __init__.py: the
// outermost first, the directory itself last. It stops below a directory whose name has a dot,
// because Python cannot import that directory.
func packagesOf(dir string) (packages []string) {
	for bounded.Exists(filepath.Join(dir, "__init__.py")) {
		packages = append([]string{dir}, packages...)
		above := filepath.Dir(dir)
		if strings.Contains(filepath.Base(above), ".") || above == dir {
			break
		}
		dir = above
	}
	return packages
}

// maxAbove is the largest number of directories above a file that may be packages without
// __init__.py.
const maxAbove = 8

// topOf returns the directory of the outermost package that contains a file as a module, or "" if
// the file is a script. packages are the packages that contain the file.
func topOf(file string, packages []string, path func() []string) string {
	dir := filepath.Dir(file)
	candidates := slices.Clone(packages[:min(1, len(packages))])
	at := dir
	for n := 0; n < maxAbove && IsIdentifier(filepath.Base(at)); n, at = n+1, filepath.Dir(at) {
		if !slices.Contains(packages, at) { // only the outermost package is a top-level name
			candidates = append(candidates, at)
		}
	}
	text, _ := Read(file, LargestFile)
	name := strings.TrimSuffix(filepath.Base(file), ".py")
	named := func(path string) bool { return strings.Contains(text, filepath.Base(path)) }
	if !slices.ContainsFunc(append([]string{"from .", "__package__", name}, candidates...), named) {
		return "" // most files end here, before their packages are parsed
	}
	f := Parse(file, text)
	reach := f.reach(dir)
	for _, top := range candidates {
		if isIn(reach, top) && f.importsFrom(top) && (slices.Contains(packages, top) || f.isNamespace(top, path)) {
			return top
		}
	}
	relative := slices.ContainsFunc(f.imports, func(i Import) bool { return i.Level > 0 })
	switch {
	case len(packages) > 0 && isIn(reach, packages[0]) && (relative || f.importsName(name) || strings.Contains(f.code, "__package__")):
		return packages[0]
	case !f.findsRelative(reach):
		return ""
	}
	return append(packagesOf(filepath.Dir(reach)), reach)[0]
}

// isNamespace reports whether a file below a directory without __init__.py imports that directory
// by its name. A module of that name in the file's directory takes precedence, as does an installed
// module or package with an __init__.py.
func (f File) isNamespace(dir string, path func() []string) bool {
	name := filepath.Base(dir)
	return !provides(filepath.Dir(f.Path), name) && (path == nil || !slices.ContainsFunc(path(), func(dir string) bool {
		return bounded.Exists(filepath.Join(dir, name+".py")) || bounded.Exists(filepath.Join(dir, name, "__init__.py"))
	}))
}

// importsName reports whether a file imports the top-level module with the given name. A file that
// imports its own name means another module, such as a library.
func (f File) importsName(name string) bool {
	return slices.ContainsFunc(f.imports, func(i Import) bool {
		top, _, _ := strings.Cut(i.Module, ".")
		return i.Level == 0 && top == name
	})
}

// reach returns the outermost directory that relative imports of a file in dir lead to.
func (f File) reach(dir string) string {
	levels := 1
	for _, imp := range f.imports {
		levels = max(levels, imp.Level)
	}
	return filepath.Join(dir, strings.Repeat("../", levels-1))
}

// findsRelative reports whether a file outside of packages can be a module of one. reach and all
// directories between must have names that Python can import, and a relative import must find a
// file.
func (f File) findsRelative(reach string) bool {
	for dir := filepath.Dir(f.Path); isIn(dir, reach); dir = filepath.Dir(dir) {
		if !IsIdentifier(filepath.Base(dir)) {
			return false
		}
	}
	return slices.ContainsFunc(f.imports, func(i Import) bool { return i.Level > 0 && i.Find(nil, filepath.Dir(f.Path)) != nil })
}

// attribute matches the use of a module's attribute.
var attribute = Expression(`\b(\w+)\.(\w+)`)

// importsFrom reports whether a file imports something in a directory by the directory's name.
func (f File) importsFrom(dir string) bool {
	name, used := filepath.Base(dir), false
	for _, imp := range f.imports {
		top, rest, isDeep := strings.Cut(imp.Module, ".")
		switch {
		case imp.Level > 0 || top != name:
			continue
		case isDeep:
			next, _, _ := strings.Cut(rest, ".")
			imp.Names = []string{next}
		case imp.Names == nil:
			used = true
		}
		if slices.ContainsFunc(imp.Names, func(name string) bool {
			return f.Path != filepath.Join(dir, name+".py") && provides(dir, name) || !isDeep && binds(dir, name)
		}) {
			return true
		}
	}
	return used && slices.ContainsFunc(attribute().FindAllStringSubmatch(f.code, -1), func(m []string) bool {
		return m[1] == name && (provides(dir, m[2]) || binds(dir, m[2]))
	})
}

// provides reports whether dir contains a module with the given name, or a directory that may be
// that module.
func provides(dir, name string) bool {
	path := filepath.Join(dir, name)
	if name == "" || name == "*" {
		return false
	}
	compiled, _ := filepath.Glob(path + ".*.so") // none if the directory's name makes the pattern malformed
	return bounded.Exists(path+".py") || bounded.Exists(path+".so") || bounded.Exists(path) || len(compiled) > 0
}

// binds reports whether a name occurs in the code of a directory's __init__.py.
func binds(dir, name string) bool {
	text, _ := Read(filepath.Join(dir, "__init__.py"), LargestFile) // empty if there is none
	code := render(text, func(literal) string { return " " })
	return slices.Contains(strings.FieldsFunc(code, func(c rune) bool { return c < 0x80 && !isWord(byte(c)) }), name)
}

// isIn reports whether path is dir or is in dir.
func isIn(path, dir string) bool { return strings.HasPrefix(below(path), below(dir)) }

// below returns the common prefix of all paths in a directory. It ends with a separator.
func below(dir string) string {
	return strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
}

// IsIdentifier reports whether Python can import a name.
func IsIdentifier(name string) bool {
	for i, c := range name {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return false
		}
	}
	return name != ""
}
