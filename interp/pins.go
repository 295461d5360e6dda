package interp

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/schema"
)

// pinFile is the file that pins the Python of a directory.
const pinFile = ".python-version"

// pinned looks for the Python that a file of the project pins. It must be installed and satisfy
// the requirements. Another minor version never replaces a missing one.
func (f *finder) pinned() (Interpreter, *Error) {
	for _, dir := range f.Project.Dirs {
		file := filepath.Join(dir, pinFile)
		if versions := versionsIn(file); len(versions) > 0 {
			return f.pinnedTo(versions, file)
		}
	}
	return Interpreter{}, nil
}

// pinnedTo returns the first of the versions that is installed. It skips versions that the
// requirements exclude and names that no version manager has. If a later entry is system, it also
// skips versions that are not installed.
func (f *finder) pinnedTo(versions []string, file string) (Interpreter, *Error) {
	wanted := ""
	for _, version := range versions {
		if version == "system" {
			return Interpreter{}, nil
		}
		r, isVersion := parsePin(version)
		if isVersion && f.excludes(r) {
			f.skip(OtherVersion, version, SourcePin, "is pinned by "+file+", and requires-python excludes it").Fix = schema.Hintf("change %s or requires-python", file)
			continue
		}
		if found := f.install(version, r, isVersion); found.Path != "" {
			return found, nil
		}
		if isVersion && wanted == "" && !slices.Contains(versions, "system") {
			wanted = r.name
			continue
		}
		f.skip(PinNotInstalled, version, SourcePin, "is pinned by "+file+" but not installed").Fix = schema.Hintf("make it with a version manager, or change %s", file)
	}
	if wanted == "" {
		return Interpreter{}, nil
	}
	broken := problem(PinNotInstalled, file, "pins Python %s, which is not installed", strings.Join(versions, ", "))
	broken.Source, broken.Tried, broken.wanted = SourcePin, f.tried, wanted
	return Interpreter{}, broken
}

// excludes reports whether the requirements exclude every Python of r.
func (f *finder) excludes(r request) bool {
	return !satisfiable(append(f.clauses(), r.bound("").clauses...))
}

// install looks for a version: by its name among the versions of pyenv, on PATH, then any patch of
// the same minor version. Unlike pyenv it accepts another patch: packages work with every patch,
// and files name the patch that somebody once had.
func (f *finder) install(version string, r request, isVersion bool) Interpreter {
	if dir := installed(f.pyenvVersions(), version); dir != "" {
		found, broken := f.inEnv(dir, SourcePin)
		if broken == nil {
			return found
		}
		f.skipBroken(broken)
	}
	if !isVersion {
		return Interpreter{}
	}
	found := f.anywhere(r, SourcePin)
	if found.Path == "" && r.version.Patch >= 0 {
		r.version = r.version.minor()
		if found = f.anywhere(r, SourcePin); found.Path != "" {
			why := "is pinned but not installed; using " + found.Version.String()
			f.skip(PinNotInstalled, version, SourcePin, why).wanted = r.name
		}
	}
	return found
}

// anywhere looks for r on PATH, then among the installed Pythons.
func (f *finder) anywhere(r request, source Source) Interpreter {
	f.pathDirs() // records skipped entries of PATH before tried is saved
	bounds, wanted, lookup, tried := f.bounds, f.wanted, f.lookup, f.tried
	defer func() { f.bounds, f.wanted, f.lookup, f.tried = bounds, wanted, lookup, tried }()
	f.bounds, f.wanted, f.lookup = append(f.bounds, r.bound(source)), r, true
	return f.lookUp(source)
}

// usualDirs lists the directories of Pythons that may be missing in PATH.
var usualDirs = map[string][]string{
	"linux":  {"/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin", "/usr/bin"},
	"darwin": {"/opt/homebrew/bin", "/usr/local/bin", "/Library/Frameworks/Python.framework/Versions/Current/bin", "/usr/bin"},
}

// systemDirs returns the directories of the system that are not on PATH.
func (f *finder) systemDirs() []string {
	var dirs []string
	for _, dir := range usualDirs[runtime.GOOS] {
		dirs = append(dirs, filepath.Join(f.systemRoot, dir))
	}
	return slices.DeleteFunc(existing(dirs), func(dir string) bool {
		return slices.ContainsFunc(f.pathDirs(), func(searched string) bool { return SamePath(searched, dir) })
	})
}

// anyInstalled looks at the versions of managers, then at the system's Pythons.
func (f *finder) anyInstalled() Interpreter {
	if found := f.managed(); found.Path != "" {
		return found
	}
	return f.search(f.names(), f.systemDirs(), SourceSystem)
}

// installed looks for any Python that is not on PATH.
func (f *finder) installed() (Interpreter, *Error) { return f.anyInstalled(), nil }
