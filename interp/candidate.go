package interp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// isSpec reports whether a value starts like a specifier set.
func isSpec(value string) bool {
	return strings.ContainsAny(value[:1], "<>=!") || strings.HasPrefix(value, "~=")
}

// isVersion reports whether a value consists of one to three numbers with dots between them.
func isVersion(value string) bool {
	numbers := strings.Split(value, ".")
	return len(numbers) <= 3 && !slices.ContainsFunc(numbers, func(n string) bool { return !isNumber(n) })
}

// explicit returns a function that looks at an explicit source. If the source has a value, it
// decides the search.
func (f *finder) explicit(value, dir string, source Source) look {
	return func() (Interpreter, *Attempt) {
		if value == "" || f.Making != "" && within(f.Making, f.under(dir, value)) {
			return Interpreter{}, nil
		}
		return f.named(value, dir, source)
	}
}

// named resolves the value of an explicit source: a path, a directory, a version or a name on
// PATH.
func (f *finder) named(value, dir string, source Source) (Interpreter, *Attempt) {
	if isSpec(value) {
		b, broken := readRequirement(Requirement{Spec: value, From: string(source)})
		if broken != nil {
			return Interpreter{}, broken
		}
		return f.version(value, b, source)
	}
	wanted, isVersion := parseRequest(value)
	if isVersion && !strings.HasPrefix(value, "python") { // python3.12 means the program of that name first
		f.wanted = wanted
		return f.version(value, wanted.bound(source), source)
	}
	path := f.under(dir, value)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return f.inEnv(path, source)
	case hasSlash(value), value[0] == '.', value[0] == '~':
		return f.consider(path, source)
	}
	found := f.search([]string{value}, f.pathDirs(), source)
	switch {
	case found.Path != "":
		return found, nil
	case isVersion && wanted.version.Minor >= 0:
		f.wanted = wanted
		return f.version(value, wanted.bound(source), source)
	}
	return Interpreter{}, f.notInstalled(value, source, "is not on PATH")
}

// inEnv examines the Python of an environment or installation.
func (f *finder) inEnv(env string, source Source) (Interpreter, *Attempt) {
	python, broken := envPython(env)
	if broken != nil {
		return Interpreter{}, broken.from(source)
	}
	return f.consider(python, source)
}

// version resolves a version that an explicit source names: first in the environment that pyplug
// made for the plugin, then among the installed Pythons.
func (f *finder) version(value string, b bound, source Source) (Interpreter, *Attempt) {
	f.bounds = append(f.bounds, b)
	if broken := f.conflict(); broken != nil {
		return Interpreter{}, broken
	}
	if f.Making == "" { // a sync may have made an environment with this version
		found, broken := f.synced()
		if found.Path != "" {
			return found, nil
		}
		if broken != nil {
			f.skipBroken(broken)
		}
	}
	f.lookup = true
	found := f.lookUp(source)
	if found.Path == "" {
		return found, f.notInstalled(value, source, "is not on PATH, and no version manager has installed it")
	}
	found.AnyOf = true
	return found, nil
}

// lookUp looks on PATH, then among the installed Pythons, for one that satisfies the requirements.
func (f *finder) lookUp(source Source) Interpreter {
	found := f.search(f.names(), f.pathDirs(), source)
	if found.Path == "" {
		found = f.anyInstalled().by(source)
	}
	return found
}

func hasSlash(s string) bool {
	return strings.ContainsRune(s, '/') || runtime.GOOS == "windows" && strings.ContainsAny(s, `\:`)
}

// envAt returns the environment at a path: a directory with a pyvenv.cfg or a Python, or the
// directory that a file .venv names (PEP 832). It returns "" if there is none. It skips a directory
// that has only the name of an environment.
func (f *finder) envAt(path string, source Source) (env string, broken *Attempt) {
	if _, err := os.Lstat(path); err != nil && !errors.Is(err, fs.ErrPermission) { // without permission, the path may still exist
		return "", nil
	}
	info, err := os.Stat(path)
	text, _ := bounded.Head(path, maxFile) // text is empty for a directory
	if named, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); named != "" && filepath.Base(path) == ".venv" {
		file := path
		path = f.under(filepath.Dir(path), filepath.FromSlash(strings.TrimSpace(named)))
		if info, err = os.Stat(path); err != nil && !hasSlash(named) {
			f.skip(ToolRuns, file, source, "names an environment that pipenv keeps").Fix = schema.Hintf("run `pipenv run pyplug …` to use it")
			return "", nil
		}
	}
	if err != nil {
		return "", statError(path, err).in(path)
	}
	cfg := filepath.Join(path, "pyvenv.cfg")
	if _, err := os.Stat(cfg); errors.Is(err, fs.ErrPermission) {
		return "", statError(cfg, err)
	} else if err == nil {
		return path, nil
	}
	python, none := envPython(path)
	switch {
	case !info.IsDir() || none != nil:
		f.skip(NotEnvironment, path, source, "has neither pyvenv.cfg nor python").Fix = schema.Hintf("rename it, or make an environment in its place")
		return "", nil
	case !landmark(path).Known() && !bounded.Exists(filepath.Join(path, "conda-meta")) && runtime.GOOS != "windows": // Python would run without the environment's packages
		return "", problem(NoConfig, path, "has a python but no pyvenv.cfg: its python is %s", python)
	}
	return path, nil
}

// envPython returns the path of the Python of an environment or installation. The Python may be
// broken.
func envPython(env string) (string, *Attempt) {
	names := []string{"bin/python", "bin/python3"}
	if runtime.GOOS == "windows" {
		names = []string{`Scripts\python.exe`, "python.exe", `bin\python.exe`}
	}
	for _, name := range names {
		path := filepath.Join(env, name)
		_, err := os.Lstat(path)
		switch {
		case err == nil:
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			return "", statError(path, err)
		}
	}
	if _, err := os.Stat(env); err != nil {
		return "", statError(env, err)
	}
	return "", problem(EnvWithoutPython, env, "has no python in it: no %s", filepath.FromSlash(names[0])).in(env)
}

// consider examines one Python.
func (f *finder) consider(path string, source Source) (Interpreter, *Attempt) {
	real := bounded.Real(path)
	if pyenv, isShim := shimAt(path, real); isShim {
		return f.shim(path, pyenv, source)
	}
	if runtime.GOOS == "darwin" && real == appleStub {
		return f.stub(path, developerPython("/", f.vars), source)
	}
	return f.inspect(path, real, source)
}

// judge checks a Python against the requirements. If files do not say enough about the version, it
// runs the Python to ask.
func (f *finder) judge(found Interpreter) (Interpreter, *Attempt) {
	found.OfProject = f.shimmed
	found = found.by(found.Source)
	refused, open := f.against(found.Version)
	var broken *Attempt
	if refused == nil && open && f.ask != nil && !(f.Untrusted && found.OfProject) {
		found.Version, found.Implementation, broken = f.ask(found.Path)
		refused, open = f.against(found.Version)
	}
	switch {
	case broken != nil:
	case refused != nil:
		broken = problem(OtherVersion, found.Path, "is %s, expected %s", found.Version, refused.Text())
		if found.Version.Major == 2 {
			broken.Code = Python2
		}
	case f.wanted.free && !strings.Contains(found.Variant, "t"):
		broken = problem(OtherImplementation, found.Path, "is not free-threaded")
	case open && !f.accepts(found.Source):
		broken = problem(UnknownVersion, found.Path, "has an unknown version: no file states it, and it was not run")
	}
	if broken != nil {
		return Interpreter{}, broken.in(found.Env).from(found.Source)
	}
	return found, nil
}

// accepts reports whether a Python of unknown version may be chosen from a source. If assume is
// set, every source may choose one; otherwise only an explicit source that names a path.
func (f *finder) accepts(source Source) bool {
	return f.assume || !f.lookup && source.Named()
}

// against returns the first requirement that v fails. open reports whether the answer depends on
// the patch, which is unknown.
func (f *finder) against(v Version) (refused *Requirement, open bool) {
	for _, b := range f.bounds {
		switch b.allows(v) {
		case no:
			return &b.Requirement, false
		case unknown:
			open = true
		}
	}
	return nil, open
}
