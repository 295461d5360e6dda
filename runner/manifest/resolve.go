package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pyplug/pyplug/runner/schema"
)

// Resolve finds what runs when path is named as a plugin, and reads its manifest. A
// relative path starts from the working directory. It starts no process. The error
// is an [*Error].
func Resolve(path string) (Plugin, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Plugin{}, unreadable(path, err)
	}
	if path == "" {
		return Plugin{}, &Error{Message: `plugin "" does not exist: the path is empty`}
	}
	info, err := os.Stat(abs)
	if err != nil {
		return Plugin{}, missing(abs, err)
	}
	var found resolved
	if info.IsDir() {
		found, err = resolveDir(abs)
	} else {
		found, err = resolveFile(abs, info)
	}
	if err != nil {
		return Plugin{}, err
	}
	return found.plugin(path)
}

// resolved is what a path leads to.
type resolved struct {
	entry    string
	dir      string // the directory that was named, or that the manifest is in
	chosen   source // its Form is None if there is no manifest
	requires []Requirement
}

// resolveFile finds the manifest of a file: in it, beside it, or, for a link without
// one beside it, beside its target.
func resolveFile(path string, info fs.FileInfo) (resolved, error) {
	if reason := unfit(path, info); reason != "" {
		e := notPlugin(path, reason)
		if slices.Contains([]string{TOML.String(), Pyproject.String(), PluginJSON.String()}, filepath.Base(path)) {
			e = notPlugin(path, "it is a manifest")
			e.Hint = didYouMean(short(filepath.Dir(path)))
		}
		return resolved{}, e
	}
	dirs := []string{filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	var about []source
	var beside []Requirement
	for _, dir := range dirs {
		found, err := readDirectory(dir)
		if err != nil {
			return resolved{}, err
		}
		if beside == nil {
			beside = found.requires
		}
		if about, err = found.about(path); err != nil {
			return resolved{}, err
		}
		if len(about) > 0 {
			break
		}
	}
	return resolved{entry: path}.choose(about, path, beside)
}

// about returns the sources that apply to a file: those that name it, and TOML that
// names no file. A source that names a missing file is an error, since it was
// probably meant for this one.
func (d directory) about(path string) ([]source, error) {
	var about []source
	for _, s := range d.sources {
		if s.Form != PluginJSON && s.entry != "" {
			if _, err := os.Stat(s.entry); err != nil {
				return nil, s.missingEntry(err)
			}
		}
		if s.entry == "" || same(s.entry, path) {
			about = append(about, s)
		}
	}
	return about, nil
}

// choose picks the manifest among sources and the metadata block of script, which
// is no script if its name does not end in .py.
func (r resolved) choose(sources []source, script string, beside []Requirement) (resolved, error) {
	var err error
	if leadsToPython(script) {
		var block *source
		if block, r.requires, err = readScript(script); err != nil {
			return resolved{}, err
		}
		if block != nil {
			sources = append(sources, *block)
		}
	}
	r.requires = append(r.requires, beside...)
	if len(sources) > 0 {
		if r.chosen, err = choose(sources); err != nil {
			return resolved{}, err
		}
		r.dir = r.chosen.Dir
	}
	return r, nil
}

// resolveDir finds what a directory runs: the entry of its manifests, that of its
// only script with a manifest in it, or the package that it is.
func resolveDir(dir string) (resolved, error) {
	found, err := readDirectory(dir)
	if err != nil {
		return resolved{}, err
	}
	r := resolved{dir: dir}
	for _, s := range found.sources {
		if r.entry == "" {
			r.entry = s.entry
		}
	}
	script := r.entry
	if len(found.sources) == 0 || found.sources[0].Form == PluginJSON {
		only, err := onlyScript(dir)
		if err != nil {
			return resolved{}, err
		}
		if only != "" {
			r.entry, script = only, only
		}
	}
	switch {
	case r.entry != "":
	case len(found.sources) > 0:
		if r.entry, err = obviousEntry(dir, found.sources[0].File); err != nil {
			return resolved{}, err
		}
		script = r.entry
	case hasInit(dir):
		return resolvePackage(r, found.requires)
	default:
		return resolved{}, noManifest(dir)
	}
	return r.choose(found.sources, script, found.requires)
}

// resolvePackage finds the manifest of a package directory without one in it: one
// beside it that names it.
func resolvePackage(r resolved, requires []Requirement) (resolved, error) {
	r.entry = r.dir
	beside, err := readDirectory(filepath.Dir(r.dir))
	if err != nil {
		return resolved{}, err
	}
	named := slices.DeleteFunc(beside.sources, func(s source) bool {
		return s.Form == PluginJSON || s.entry == "" || !same(s.entry, r.dir)
	})
	if len(named) > 0 {
		requires = append(requires, beside.requires...)
	}
	return r.choose(named, "", requires)
}

// obviousEntry returns the entry of a manifest that names none.
func obviousEntry(dir, manifest string) (string, error) {
	if hasInit(dir) {
		return dir, nil
	}
	scripts := pythonFiles(dir)
	for _, name := range []string{"plugin.py", "main.py"} {
		if slices.Contains(scripts, name) {
			return filepath.Join(dir, name), nil
		}
	}
	files := strings.Join(scripts, ", ")
	switch len(scripts) {
	case 0:
		files = "no .py file"
	case 1:
		return filepath.Join(dir, scripts[0]), nil
	}
	return "", &Error{File: manifest, Message: "no entry: the directory has " + files + ", want the file to run"}
}

// onlyScript returns the only script of a directory with a manifest in it.
func onlyScript(dir string) (string, error) {
	var names []string
	for _, name := range pythonFiles(dir) {
		script, _, err := readScript(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		if script != nil {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return filepath.Join(dir, names[0]), nil
	}
	return "", &Error{Message: fmt.Sprintf("directory %q has several scripts with [tool.pyplug]: %s, want one", short(dir), strings.Join(names, ", "))}
}

// noManifest lists what a directory lacks.
func noManifest(dir string) *Error {
	pyproject, pluginJSON := "no pyproject.toml with", "no plugin.json"
	if _, err := os.Stat(filepath.Join(dir, "pyproject.toml")); err == nil {
		pyproject = "a pyproject.toml without"
	}
	if _, err := os.Stat(filepath.Join(dir, "plugin.json")); err == nil {
		pluginJSON = "a plugin.json without server"
	}
	e := &Error{Message: fmt.Sprintf("directory %q is no plugin: it has no pyplug.toml, %s [tool.pyplug], "+
		"no script with [tool.pyplug], %s and no __init__.py", short(dir), pyproject, pluginJSON)}
	if files := pythonFiles(dir); len(files) > 0 {
		if len(files) > 5 {
			files = append(files[:5], "…")
		}
		e.Hint = "name one of its files: " + strings.Join(files, ", ")
	}
	return e
}

// notPlugin reports a file that cannot be a plugin.
func notPlugin(path, reason string) *Error {
	return &Error{Message: fmt.Sprintf("%q is no plugin: %s, want a .py file, an executable, a package or a directory with a manifest",
		short(path), reason)}
}

// missing reports a path that does not exist, or that cannot be accessed.
func missing(path string, err error) *Error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return unreadable(path, err)
	}
	e := &Error{Message: fmt.Sprintf("plugin %q does not exist", short(path)), Hint: didYouMean(closest(path)), Err: err}
	if target, err := os.Readlink(path); err == nil {
		e.Message += ": it is a symbolic link to " + target + ", which does not exist"
	}
	return e
}

// closest returns the path that was probably meant by one that does not exist: with
// .py at the end, or the most similar.
func closest(path string) string {
	if _, err := os.Lstat(path); err == nil {
		return ""
	}
	if info, err := os.Stat(path + ".py"); err == nil && info.Mode().IsRegular() {
		return short(path + ".py")
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	var names []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") && (entry.IsDir() || isPython(entry.Name())) {
			names = append(names, entry.Name())
		}
	}
	if name := schema.Suggest(filepath.Base(path), names); name != "" {
		return short(filepath.Join(filepath.Dir(path), name))
	}
	return ""
}
