package manifest

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/schema"
)

// plugin chooses the first manifest, and examines the entry.
func (f found) plugin(typed string) (Plugin, error) {
	if leadsToPython(f.entry) || scriptPython(f.entry) != "" {
		if err := f.readScript(f.entry); err != nil {
			return Plugin{}, err
		}
	}
	p := Plugin{Path: typed, Entry: f.entry, Requires: f.requires}
	if len(f.manifests) > 0 {
		p.Manifest = slices.MinFunc(f.manifests, func(a, b Manifest) int { return int(a.Form) - int(b.Form) })
	}
	m := p.Manifest
	info, err := os.Stat(p.Entry)
	switch {
	case err != nil && m.entry != "":
		return Plugin{}, m.missingEntry()
	case err != nil:
		return Plugin{}, missing(p.Entry, err)
	case info.IsDir() && hasInit(p.Entry):
		p.Kind = Package
	case info.IsDir():
		return Plugin{}, m.entryError(", a directory without __init__.py", "a file or package that exists")
	case info.Mode().IsRegular() && (m.python || leadsToPython(p.Entry)):
		p.Kind = File
	default:
		if reason := unfit(p.Entry, info); reason != "" {
			return Plugin{}, notPlugin(p.Entry, reason)
		}
		p.Kind, p.Shebang = Executable, scriptPython(p.Entry)
	}
	if m.RequiresPython != "" {
		from := short(m.File)
		if m.Form == Pyproject || m.Form == Script { // these files may contain another requirement, which all tools read
			from += " [tool.pyplug]"
		}
		p.Requires = append([]interp.Requirement{{Spec: m.RequiresPython, From: from}}, p.Requires...)
	}
	p.ID = p.name()
	p.Dirs = environmentDirs(p)
	return p, nil
}

// environmentDirs returns the directories that may contain the environment.
func environmentDirs(p Plugin) []string {
	dirs := []string{filepath.Dir(p.Entry), p.Manifest.Dir}
	if p.Kind == Package {
		dirs = append([]string{p.Entry}, dirs...)
	}
	var unique []string
	for _, dir := range append(dirs, filepath.Dir(bounded.Real(p.Entry))) {
		if dir != "" && !slices.Contains(unique, dir) {
			unique = append(unique, dir)
		}
	}
	return unique
}

// name returns the default name: the manifest's id, or else the file's name. A file called plugin
// or main gets the name of its directory.
func (p Plugin) name() string {
	stem, dir := stemOf(p.Entry), filepath.Dir(p.Entry)
	if p.Kind == Package {
		stem, dir = filepath.Base(p.Entry), p.Entry
	}
	if isGeneric(stem) {
		stem = filepath.Base(cmp.Or(p.Manifest.Dir, dir))
	}
	return cmp.Or(slug(p.Manifest.ID), slug(stem), "plugin")
}

// isGeneric reports whether a file's name without its extension says nothing about the plugin.
func isGeneric(stem string) bool {
	return slices.Contains([]string{"plugin", "main", "__main__", "__init__"}, stem)
}

// NamedAfterDir reports whether a file gets its directory's name, because its own says nothing.
func (p Plugin) NamedAfterDir() bool {
	return p.Kind == File && p.Module == "" && p.Manifest.ID == "" && isGeneric(stemOf(p.Entry))
}

// stemOf returns the name of a file without its extension.
func stemOf(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// slug converts a text to a name: lower case, with dashes instead of other characters.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	return strings.Join(words, "-")
}

// unfit returns why a file cannot be a plugin, or "".
func unfit(path string, info fs.FileInfo) string {
	switch {
	case !info.Mode().IsRegular():
		return "it is not a regular file"
	case leadsToPython(path) || executable(path, info):
		return ""
	}
	return "it does not end in .py and is not executable"
}

func isPython(path string) bool { return strings.EqualFold(filepath.Ext(path), ".py") }

// IsZip reports whether path is the path of a zip application, which Python runs.
func IsZip(path string) bool { return strings.EqualFold(filepath.Ext(path), ".pyz") }

// leadsToPython reports whether path ends in .py or .pyz, or is a link to a file that does.
func leadsToPython(path string) bool {
	if isPython(path) || IsZip(path) {
		return true
	}
	real := bounded.Real(path)
	return isPython(real) || IsZip(real)
}

func executable(path string, info fs.FileInfo) bool {
	if runtime.GOOS == "windows" {
		return slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, strings.ToLower(filepath.Ext(path)))
	}
	return info.Mode().Perm()&0o111 != 0
}

// pythonFiles returns the names of the .py files of a directory, sorted.
func pythonFiles(dir string) []string {
	entries, _ := bounded.Dir(dir)
	var names []string
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(dir, entry.Name()))
		if err == nil && info.Mode().IsRegular() && isPython(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names
}

func hasInit(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "__init__.py"))
	return err == nil && info.Mode().IsRegular()
}

// scriptPython returns the Python that the #! line of a script names, or "".
func scriptPython(file string) string {
	words := interp.Shebang(file)
	if len(words) == 0 {
		return ""
	}
	// The letters after the version mean free-threaded (t) and debug build (d).
	if name := strings.TrimRight(filepath.Base(words[0]), "0123456789.td"); name != "python" && name != "pypy" {
		return ""
	}
	return words[0]
}

// modulePrefix begins the path of a plugin that is a module: "-m json".
const modulePrefix = "-m "

// ModulePath returns the path of a module for [Resolve].
func ModulePath(module string) string { return modulePrefix + module }

// ModuleOf returns the module that a path names. It returns false for a file.
func ModuleOf(path string) (module string, ok bool) { return strings.CutPrefix(path, modulePrefix) }

// TypedWords returns words of a command line as the user typed them, with -m before a module.
func TypedWords(words []string) (typed []string) {
	for _, word := range words {
		if module, ok := ModuleOf(word); ok {
			typed = append(typed, "-m")
			word = module
		}
		typed = append(typed, word)
	}
	return typed
}

// resolveModule looks for a module in the directory from, where Python looks first. If the module
// is not there, the plugin has no Entry, because only its Python can find it.
func resolveModule(path, module, from string) (Plugin, error) {
	parts := strings.Split(module, ".")
	if slices.ContainsFunc(parts, func(part string) bool { return !pysrc.IsIdentifier(part) }) {
		e := wrong(fmt.Sprintf("%q is not a module name, expected names separated by dots", module))
		if _, err := os.Stat(filepath.Join(from, module)); err == nil {
			e.Hints = schema.DidYouMean(module)
		}
		return Plugin{}, e
	}
	entry := filepath.Join(append([]string{from}, parts...)...)
	f, err := found{}, error(nil)
	switch info, missing := os.Stat(entry + ".py"); {
	case hasInit(entry):
		if f, err = findDir(entry); err == nil && f.entry != entry {
			f = found{entry: entry} // the manifest applies to another entry
		}
	case missing == nil && info.Mode().IsRegular():
		f, err = findBeside(entry+".py", true)
	}
	p := Plugin{Path: path}
	if err == nil && f.entry != "" {
		p, err = f.plugin(path)
	}
	if err != nil {
		return Plugin{}, err
	}
	p.Module, p.From = module, from
	if p.Manifest.ID == "" {
		p.ID = slug(parts[len(parts)-1])
	}
	if !slices.Contains(p.Dirs, from) {
		p.Dirs = append(p.Dirs, from)
	}
	return p, nil
}

// Root returns the directory that contains the plugin's module: Src, the directory of the project's
// sources, or else From, the directory in which Python looks first. It is "" for an installed
// module.
func (p Plugin) Root() string {
	for _, dir := range []string{p.Src, p.From} { // Src first, because it may be in From
		path := filepath.Join(dir, strings.ReplaceAll(p.Module, ".", string(filepath.Separator)))
		if dir != "" && p.Module != "" && (p.Entry == path || p.Entry == path+".py") {
			return dir
		}
	}
	return ""
}

// IsInSrc reports whether the plugin's module was found in the sources of the project, rather
// than in the working directory or an installed package.
func (p Plugin) IsInSrc() bool { return p.Src != "" && p.Root() == p.Src }
