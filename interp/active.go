package interp

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/pyplug/pyplug/interp/bounded"
)

// activated returns the activated environments, without the base of conda, which is active in
// every shell.
func (f *finder) activated() (all []Attempt) {
	if env := f.vars["VIRTUAL_ENV"]; env != "" {
		all = append(all, Attempt{Path: f.under(f.Cwd, env), Source: SourceActive})
	}
	if env := f.vars["CONDA_PREFIX"]; env != "" && !f.isCondaBase(env) {
		all = append(all, Attempt{Path: f.under(f.Cwd, env), Source: SourceConda})
	}
	return all
}

// isCondaBase reports whether env is conda's base environment: _CONDA_ROOT names it, or
// CONDA_DEFAULT_ENV is "base", or it is set, but to neither the path nor the name of env. The last
// rule does not apply in a directory called envs, because pixi sets other names there.
func (f *finder) isCondaBase(env string) bool {
	name := f.vars["CONDA_DEFAULT_ENV"]
	unnamed := name != "" && name != env && name != filepath.Base(env) && filepath.Base(filepath.Dir(env)) != "envs"
	return env == f.vars["_CONDA_ROOT"] || name == "base" || unnamed
}

// activeFirst returns the Python of an activated environment that takes precedence over the
// plugin's own environment. If Active is set, every activated environment does. Otherwise the
// environment must exist and belong to the plugin's project.
func (f *finder) activeFirst() (Interpreter, *Attempt) {
	for _, active := range f.unjudged() {
		if f.Active || bounded.Exists(active.Path) && f.related(active.Path) {
			f.judged = append(f.judged, active.Source)
			return f.inEnv(active.Path, active.Source)
		}
	}
	return Interpreter{}, nil
}

// unjudged returns the activated environments that the search may still choose or note.
func (f *finder) unjudged() []Attempt {
	return slices.DeleteFunc(f.activated(), func(a Attempt) bool {
		return f.NoActive || slices.Contains(f.judged, a.Source)
	})
}

// related reports whether an activated environment is in the plugin's project.
func (f *finder) related(env string) bool {
	return slices.ContainsFunc(f.Dirs, func(dir string) bool {
		root := f.Project.roots[dir]
		return within(root, env) || within(bounded.Real(root), bounded.Real(env))
	})
}

// SamePath reports whether two paths lead to one file.
func SamePath(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// active examines the activated environments that activeFirst did not examine. It also accepts the
// prefix of an installation, because container images activate one. It skips an environment that
// cannot be used, but reports an error if an environment of the project does not exist.
func (f *finder) active() (Interpreter, *Attempt) {
	for _, active := range f.unjudged() {
		found, broken := f.inEnv(active.Path, active.Source)
		if broken == nil || !bounded.Exists(active.Path) && f.related(active.Path) { // another Python would lack the project's packages
			return found, broken
		}
		f.skipBroken(broken)
	}
	return Interpreter{}, nil
}

// noteActive records activated environments that are not used because the plugin has its own.
func (f *finder) noteActive(own Interpreter) {
	for _, active := range f.unjudged() {
		if bounded.Exists(active.Path) && !SamePath(active.Path, cmp.Or(own.Env, filepath.Dir(filepath.Dir(own.Path)))) {
			f.judged = append(f.judged, active.Source)
			f.skip(UnrelatedActive, active.Path, active.Source, "is activated, but the plugin has its own environment; --active prefers the activated one")
		}
	}
}
