package manifest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Resolve finds out what runs when path is named as a plugin, and reads its
// manifest. A relative path starts from the working directory. It starts no
// process and may be called at any time; the error is an [*Error].
func Resolve(path string) (Plugin, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Plugin{}, unreadable(path, err)
	}
	if path == "" {
		return Plugin{}, &Error{Reason: NotFound, File: abs, Seen: "the path is empty"}
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
	chosen   candidate
	requires []Requirement
}

// missing tells that a path does not exist, or why it cannot be looked at.
func missing(path string, err error) *Error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return unreadable(path, err)
	}
	e := &Error{Reason: NotFound, File: path, Err: err, Near: siblings(path)}
	if target, lerr := os.Readlink(path); lerr == nil {
		e.Seen = "it is a symbolic link to " + target + ", which does not exist"
		return e
	}
	e.Suggest = near(path)
	return e
}

// siblings are the names beside path that may be plugins.
func siblings(path string) []string {
	entries, _ := os.ReadDir(filepath.Dir(path))
	var names []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") && (entry.IsDir() || isPython(entry.Name())) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// near is the path that was probably meant by one that does not exist: the name
// with .py, or the closest.
func near(path string) string {
	if _, err := os.Lstat(path); err == nil {
		return ""
	}
	if info, err := os.Stat(path + ".py"); err == nil && info.Mode().IsRegular() {
		return short(path + ".py")
	}
	name := nearest(filepath.Base(path), siblings(path))
	if name == "" {
		return ""
	}
	return short(filepath.Join(filepath.Dir(path), name))
}

// resolveFile finds the manifest of a file: beside it, in it, and for a link
// without one beside what it leads to.
func resolveFile(path string, info fs.FileInfo) (resolved, error) {
	if seen := unfit(path, info); seen != "" {
		e := &Error{Reason: NotPlugin, File: path, Seen: seen}
		if name := filepath.Base(path); name == "pyplug.toml" || name == "pyproject.toml" || name == "plugin.json" {
			e.Seen, e.Suggest = "it is a manifest", short(filepath.Dir(path))
		}
		return resolved{}, e
	}
	out := resolved{entry: path}
	var script *candidate
	var fromScript []Requirement
	if leadsToPython(path) {
		var err error
		if script, fromScript, err = readScript(path); err != nil {
			return resolved{}, err
		}
	}
	for _, dir := range places(path) {
		found, err := readBeside(dir)
		if err != nil {
			return resolved{}, err
		}
		if out.requires == nil {
			out.requires = found.requires
		}
		about, err := found.about(path)
		if err != nil {
			return resolved{}, err
		}
		if len(about) > 0 || found.plugin != nil && same(found.plugin.entry, path) {
			return out.choose(about, script, fromScript, found.plugin, path)
		}
	}
	return out.choose(nil, script, fromScript, nil, path)
}

// places are the directory of path and, for a link, that of what it leads to.
func places(path string) []string {
	dirs := []string{filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}

// about are the manifests that apply to path: those which name it or none. One
// which names a file that does not exist is a mistake, probably about this one.
func (b beside) about(path string) ([]candidate, error) {
	var out []candidate
	for _, c := range b.candidates {
		if c.entry != "" {
			if _, err := os.Stat(c.entry); err != nil {
				return nil, c.entryAt
			}
		}
		if c.entry == "" || same(c.entry, path) {
			out = append(out, c)
		}
	}
	return out, nil
}

// choose takes the first manifest, and holds the others against it.
// plugin counts when path is its entry, or empty: the directory was named.
func (r resolved) choose(
	about []candidate, script *candidate, fromScript []Requirement, plugin *candidate, path string,
) (resolved, error) {
	if script != nil {
		about = append(about, *script)
	}
	if plugin != nil && (path == "" || same(plugin.entry, path)) {
		about = append(about, *plugin)
	}
	r.requires = append(fromScript[:len(fromScript):len(fromScript)], r.requires...)
	if len(about) == 0 {
		return r, nil
	}
	r.chosen = about[0]
	r.dir = r.chosen.Dir
	for _, other := range about[1:] {
		if err := agree(r.chosen, other); err != nil {
			return resolved{}, err
		}
	}
	return r, nil
}

// unfit says why a file cannot be a plugin, empty when it can.
func unfit(path string, info fs.FileInfo) string {
	switch {
	case !info.Mode().IsRegular():
		return "it is no regular file"
	case leadsToPython(path) || executable(path, info):
		return ""
	}
	return "it does not end in .py and is not executable"
}

func isPython(path string) bool { return strings.EqualFold(filepath.Ext(path), ".py") }

// leadsToPython tells whether path is a .py file by its own name or, as a link, by
// that of what it leads to.
func leadsToPython(path string) bool {
	if isPython(path) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && isPython(real)
}

func executable(path string, info fs.FileInfo) bool {
	if runtime.GOOS == "windows" {
		return slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, strings.ToLower(filepath.Ext(path)))
	}
	return info.Mode().Perm()&0o111 != 0
}
