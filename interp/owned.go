package interp

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// EnvMarker is the name of a file in each environment that pyplug made. The file lists the plugins
// and projects that use the environment.
const EnvMarker = "pyplug-env.json"

// synced looks for the environment that pyplug made for the plugin.
func (f *finder) synced() (Interpreter, *Attempt) {
	for i, dir := range f.Project.Dirs {
		env := filepath.Join(dir, ".venv")
		if bounded.Exists(filepath.Join(env, EnvMarker)) && !f.forOthers(env) {
			return f.environment(env, Source(".venv"+f.where(i)))
		}
	}
	return Interpreter{}, nil
}

// where returns the words for a directory of the project, for a [Source].
func (f *finder) where(i int) string {
	if i < len(f.Dirs) {
		return " next to the plugin"
	}
	return " of the project"
}

func (f *finder) forOthers(env string) bool { return f.ForOthers != nil && f.ForOthers(env) }

// owned looks for the plugin's own environment. If there is one, it decides.
func (f *finder) owned() (found Interpreter, broken *Attempt) {
	for _, look := range []look{f.near, f.kept, f.enclosing} {
		if found, broken = look(); found.Path != "" || broken != nil {
			break
		}
	}
	if found.Path != "" {
		f.noteActive(found)
	} else if broken == nil && len(f.activated()) == 0 {
		f.noteTool()
	}
	return found, broken
}

// near looks in the plugin's directories, then up to the root of its project.
func (f *finder) near() (found Interpreter, broken *Attempt) {
	for i, dir := range f.Project.Dirs {
		if found, broken = f.ownedIn(dir, f.where(i)); found.Path != "" || broken != nil {
			break
		}
	}
	return found, broken
}

// ownedIn looks in dir for an environment with one of the known names, then for a single
// environment with any other name.
func (f *finder) ownedIn(dir, where string) (Interpreter, *Attempt) {
	for _, name := range [...]string{".venv", "venv", "env", ".conda"} {
		source := Source(name + where)
		path := filepath.Join(dir, name)
		if name == ".venv" && f.forOthers(path) {
			f.skip(ForOthers, path, source, "was made by pyplug for other plugins")
			continue
		}
		if name == ".venv" && bounded.Exists(filepath.Join(path, EnvMarker)) { // it decides even if a sync has not finished it
			return f.environment(path, source)
		}
		env, broken := f.envAt(path, source)
		if broken != nil {
			return Interpreter{}, broken.from(source)
		}
		if env != "" {
			return f.environment(env, source)
		}
	}
	return f.only(dir, where)
}

// environment examines the Python of an environment that nobody named.
func (f *finder) environment(env string, source Source) (Interpreter, *Attempt) {
	if broken := f.distrust(env); broken != nil {
		return Interpreter{}, broken.from(source)
	}
	return f.inEnv(env, source)
}

// notEnvs lists directories whose environments belong to tools, and .venv, which is examined
// earlier.
var notEnvs = []string{".venv", ".tox", ".nox", "node_modules", "site-packages", "__pypackages__", ".git"}

// only looks for a single environment whose name is not in notEnvs. More than one is an error.
func (f *finder) only(dir, where string) (Interpreter, *Attempt) {
	entries, err := bounded.Dir(dir)
	if errors.Is(err, fs.ErrPermission) {
		f.skip(Unreadable, dir, Source("environments"+where), "cannot be listed, and an environment of another name would not be found")
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); !slices.Contains(notEnvs, name) && bounded.Exists(filepath.Join(dir, name, "pyvenv.cfg")) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return Interpreter{}, nil
	case 1:
		return f.environment(filepath.Join(dir, names[0]), Source(names[0]+where))
	}
	broken := problem(AmbiguousEnvs, dir, "has %d environments, none of them .venv: %s", len(names), strings.Join(names, ", "))
	return Interpreter{}, broken.from(Source("environments" + where))
}

// enclosing looks for the environment that contains the plugin. An installed module is in such an
// environment.
func (f *finder) enclosing() (Interpreter, *Attempt) {
	for _, dir := range f.Dirs {
		for _, level := range f.above(dir) {
			if _, none := envPython(level); none != nil || !bounded.Exists(filepath.Join(level, "pyvenv.cfg")) {
				continue
			}
			found, broken := f.environment(level, "environment around the plugin")
			if broken != nil {
				broken.env = "" // a fix that makes it again would remove the plugin
			}
			return found, broken
		}
	}
	return Interpreter{}, nil
}
