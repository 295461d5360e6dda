package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Resolve returns the plugin at path with its manifest. A relative path starts at the working
// directory. Resolve looks for a module, see [ModulePath], in the directory from. Resolve starts no
// process. The error is a [*hook.Error].
func Resolve(path, from string) (Plugin, error) {
	if module, ok := ModuleOf(path); ok {
		return resolveModule(path, module, from)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Plugin{}, unreadable(path, err)
	}
	if path == "" {
		return Plugin{}, wrong(`plugin "" does not exist: the path is empty`)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return Plugin{}, missing(abs, err)
	}
	var f found
	if info.IsDir() {
		f, err = findDir(abs)
	} else {
		f, err = findBeside(abs, true)
	}
	if err != nil {
		return Plugin{}, err
	}
	return f.plugin(path)
}

// findBeside finds the manifests of a file or package in its directory, or in the directory of a
// link's target.
func findBeside(entry string, isFile bool) (f found, err error) {
	f.entry = entry
	for _, dir := range slices.Compact([]string{filepath.Dir(entry), filepath.Dir(bounded.Real(entry))}) {
		all, err := readDirectory(dir)
		if err != nil {
			return found{}, err
		}
		if f.manifests, err = about(entry, isFile, all.manifests); err != nil {
			return found{}, err
		}
		if f.requires == nil && (isFile || len(f.manifests) > 0) {
			f.requires = all.requires
		}
		if len(f.manifests) > 0 {
			break
		}
	}
	return f, nil
}

// about returns the manifests that apply to an entry. These are the manifests that name it, and for
// a file also the TOML manifests that name no entry. A manifest that names a missing file is an
// error, because it was probably meant for this entry.
func about(entry string, isFile bool, all []Manifest) (about []Manifest, err error) {
	for _, m := range all {
		if isFile && m.Form != PluginJSON && m.entry != "" {
			if _, err := os.Stat(m.entry); err != nil {
				return nil, m.missingEntry()
			}
		}
		if isFile && m.entry == "" || same(m.entry, entry) {
			about = append(about, m)
		}
	}
	return about, nil
}

// same reports whether two paths are one file.
func same(a, b string) bool { return a == b || interp.SamePath(a, b) }

// findDir finds the entry of a directory: the entry of its manifests, or the package itself.
func findDir(dir string) (found, error) {
	f, err := readDirectory(dir)
	if err != nil {
		return found{}, err
	}
	for _, m := range f.manifests {
		f.entry = cmp.Or(f.entry, m.entry)
	}
	switch {
	case f.entry != "":
	case len(f.manifests) > 0:
		f.entry, err = obviousEntry(dir, f.manifests[0].File)
	case hasInit(dir):
		own := f.requires
		f, err = findBeside(dir, false)
		f.requires = append(own, f.requires...)
	default:
		err = noManifest(dir)
	}
	return f, err
}

// obviousEntry returns the default entry of a manifest.
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
	return "", wrong(short(manifest) + ": no entry: the directory has " + files + ", expected the file to run")
}

// noManifest returns the error for a directory without a manifest.
func noManifest(dir string) *hook.Error {
	hint := schema.Hintf("name a .py file, or the directory of a plugin")
	if files := pythonFiles(dir); len(files) > 0 {
		hint = schema.Hintf("name one of its files: %s", strings.Join(files[:min(len(files), 5)], ", "))
	}
	return wrong(fmt.Sprintf("directory %q is not a plugin: it has no __init__.py, and no manifest "+
		"(pyplug.toml, [tool.pyplug] in pyproject.toml, or a plugin.json with server)", short(dir)), hint)
}

// notPlugin returns the error for a file that cannot be a plugin.
func notPlugin(path, reason string) *hook.Error {
	return wrong(fmt.Sprintf("%q is not a plugin: %s, expected a .py file, an executable, a package or a directory with a manifest",
		short(path), reason))
}

// missing returns the error for a path that does not exist or cannot be accessed.
func missing(path string, err error) *hook.Error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return unreadable(path, err)
	}
	text, hints := fmt.Sprintf("plugin %q does not exist", short(path)), schema.DidYouMean(closest(path))
	if file, name, two := TwoWords(short(path)); two {
		hints = schema.Hints("write PLUGIN and HOOK as two words: %s", schema.QuoteLine([]string{file, name}))
	}
	if target, err := os.Readlink(path); err == nil {
		text += ": it is a symbolic link to " + target + ", which does not exist"
	}
	return wrong(text, hints...)
}

// TwoWords splits a path that is FILE.py:HOOK or FILE.py::HOOK, as other tools name a function. ok
// is false for any other path.
func TwoWords(path string) (file, hook string, ok bool) {
	file, hook, ok = strings.Cut(path, ".py:")
	file, hook = file+".py", strings.TrimPrefix(hook, ":")
	_, missing := os.Stat(file)
	_, err := os.Lstat(path)
	return file, hook, ok && hook != "" && missing == nil && err != nil
}

// closest returns an existing path that was probably meant instead of a missing path: the same with
// .py at the end, or the most similar name.
func closest(path string) string {
	if _, err := os.Lstat(path); err == nil {
		return ""
	}
	if info, err := os.Stat(path + ".py"); err == nil && info.Mode().IsRegular() {
		return short(path + ".py")
	}
	entries, _ := bounded.Dir(filepath.Dir(path))
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
