package interp

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/schema"
)

// pinFiles lists the files that pin a Python, in the order in which a directory's are read.
var pinFiles = []string{".python-version", ".tool-versions", "mise.local.toml", "mise.toml", ".mise.toml", ".config/mise/config.toml"}

// pinned looks for the Python that a file of the project pins. It must be installed and satisfy
// the requirements. Another minor version never replaces a missing one.
func (f *finder) pinned(ctx context.Context) (Interpreter, error) {
	for dir := range f.levels {
		for _, name := range pinFiles {
			file := filepath.Join(dir, filepath.FromSlash(name))
			versions, err := versionsIn(file)
			if err != nil {
				f.skip(BadRequirement, file, Source(filepath.Base(file)), "cannot be read: "+err.Error()).Fix = schema.Hintf("correct %s", file)
			}
			if len(versions) > 0 && versions[0] != "system" {
				return f.pinnedTo(ctx, versions, file)
			}
		}
	}
	return Interpreter{}, nil
}

// pinnedTo returns the first of the versions that is installed. It skips versions that the
// requirements exclude, names without a version, and missing versions before system.
func (f *finder) pinnedTo(ctx context.Context, versions []string, file string) (Interpreter, error) {
	source, wanted := Source(filepath.Base(file)), ""
	for _, version := range versions {
		if version == "system" {
			return Interpreter{}, nil
		}
		if broken := f.distrust(file); broken != nil && filepath.IsAbs(version) {
			f.skip(broken.Code, version, source, "is pinned by "+broken.Path+", which "+broken.Reason)
			continue
		}
		r, isVersion := f.parsePin(version, source)
		if isVersion && f.excludes(r) {
			f.skip(OtherVersion, version, source, "is pinned by "+file+", and requires-python excludes it").Fix = schema.Hintf("change %s or requires-python", file)
			continue
		}
		found, err := f.install(ctx, version, r, isVersion, source)
		if err != nil || found.Path != "" {
			return found, err
		}
		switch {
		case !isVersion:
			f.skip(PinNotInstalled, version, source, "is pinned by "+file+", and no version manager has it").Fix = schema.Hintf("make it with a version manager, or change %s", file)
		case slices.Contains(versions, "system"):
			f.skip(PinNotInstalled, version, source, "is pinned by "+file+", and not installed: the system's takes its place").wanted = r.name
		case wanted == "":
			wanted = r.name
		}
	}
	if wanted == "" {
		return Interpreter{}, nil
	}
	broken := problem(PinNotInstalled, file, "pins Python %s, which is not installed", strings.Join(versions, ", "))
	broken.Source, broken.Tried, broken.wanted = source, f.tried, wanted
	return Interpreter{}, broken
}

// excludes reports whether the requirements exclude every Python of r.
func (f *finder) excludes(r request) bool {
	return !satisfiable(append(f.clauses(), r.bound("").clauses...))
}

// install looks for a version: as a path, by its name among the versions of a manager, on PATH,
// then any patch of the same minor version. Unlike pyenv it accepts another patch: packages work
// with every patch, and files name the patch that somebody once had.
func (f *finder) install(ctx context.Context, version string, r request, isVersion bool, source Source) (Interpreter, error) {
	if filepath.IsAbs(version) {
		found, err := f.named(ctx, version, "", source)
		if err != nil {
			err = f.skipError(err)
		}
		return found, err
	}
	for _, m := range managers {
		installs := f.installsOf(m)
		dir := installed(installs, version)
		if dir == "" || installs == "" {
			continue
		}
		if python, broken := envPython(dir); broken == nil {
			found, err := f.consider(ctx, python, source)
			if err == nil {
				return found, nil
			}
			if err := f.skipError(err); err != nil {
				return Interpreter{}, err
			}
		}
	}
	if !isVersion {
		return Interpreter{}, nil
	}
	if r.version.Patch >= 0 {
		if found, err := f.anywhere(ctx, r, source); err != nil || found.Path != "" {
			return found, err
		}
	}
	exact := r.version.Patch
	r.version = r.version.minor()
	found, err := f.anywhere(ctx, r, source)
	if found.Path != "" && exact >= 0 {
		f.skip(PinNotInstalled, version, source, "is pinned, and not installed: "+found.Version.String()+" takes its place").wanted = r.name
	}
	return found, err
}

// anywhere looks for r on PATH, then among the installed Pythons.
func (f *finder) anywhere(ctx context.Context, r request, source Source) (Interpreter, error) {
	f.pathDirs() // which skips entries of PATH
	bounds, wanted, lookup, tried := f.bounds, f.wanted, f.lookup, f.tried
	defer func() { f.bounds, f.wanted, f.lookup, f.tried = bounds, wanted, lookup, tried }()
	f.bounds, f.wanted, f.lookup = append(f.bounds, r.bound(source)), r, true
	found, err := f.search(ctx, f.names(), source)
	if err == nil && found.Path == "" {
		found, err = f.installed(ctx)
		found = found.by(source)
	}
	return found, err
}

// usualDirs lists the directories of Pythons that may be missing in PATH.
var usualDirs = map[string][]string{
	"linux":  {"/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin", "/usr/bin"},
	"darwin": {"/opt/homebrew/bin", "/usr/local/bin", "/Library/Frameworks/Python.framework/Versions/Current/bin", "/usr/bin"},
}

// systemDirs returns directories that are not on PATH: that of an activated base of conda, and
// those of the system.
func (f *finder) systemDirs() []string {
	var dirs []string
	if env := f.vars["CONDA_PREFIX"]; env != "" && f.isCondaBase(env) {
		dirs = append(dirs, filepath.Join(env, "bin"))
	}
	for _, dir := range usualDirs[runtime.GOOS] {
		dirs = append(dirs, filepath.Join(f.systemRoot, dir))
	}
	return slices.DeleteFunc(existing(dirs), func(dir string) bool {
		return slices.ContainsFunc(f.pathDirs(), func(searched string) bool { return SamePath(searched, dir) })
	})
}

// system looks in the directories that are not on PATH.
func (f *finder) system(ctx context.Context) Interpreter {
	saved := f.pathDirs()
	defer func() { f.dirs = saved }()
	f.dirs = f.systemDirs()
	found, _ := f.search(ctx, f.names(), SourceSystem) // ctx is asked by who looks next
	return found
}

// installed looks at the versions of managers, then at the system's Pythons.
func (f *finder) installed(ctx context.Context) (Interpreter, error) {
	for _, look := range []func(context.Context) Interpreter{f.managed, f.fromRegistry} {
		if found := look(ctx); found.Path != "" {
			return found, nil
		}
	}
	return f.system(ctx), ctx.Err()
}
