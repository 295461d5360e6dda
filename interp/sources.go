package interp

import (
	"context"
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

// The explicit sources: the first that is set decides.

func (f *finder) flag(ctx context.Context) (Interpreter, error) {
	return f.named(ctx, f.Flag, f.Cwd, SourceFlag)
}

func (f *finder) variable(ctx context.Context) (Interpreter, error) {
	return f.named(ctx, f.vars["PYPLUG_PYTHON"], f.Cwd, SourceVariable)
}

func (f *finder) manifest(ctx context.Context) (Interpreter, error) {
	return f.named(ctx, f.Manifest, f.ManifestDir, SourceManifest)
}

// isSpec reports whether a value starts like a specifier set.
func isSpec(value string) bool {
	return strings.ContainsAny(value[:1], "<>=!") || strings.HasPrefix(value, "~=")
}

// isVersion reports whether a value consists of one to three numbers with dots between them.
func isVersion(value string) bool {
	numbers := strings.Split(value, ".")
	return len(numbers) <= 3 && !slices.ContainsFunc(numbers, func(n string) bool { return !isNumber(n) })
}

// named resolves the value of an explicit source: a path, a directory, a version or a name on
// PATH.
func (f *finder) named(ctx context.Context, value, dir string, source Source) (Interpreter, error) {
	switch {
	case value == "":
		return Interpreter{}, nil
	case isSpec(value):
		b, err := readRequirement(Requirement{Spec: value, From: string(source)})
		if err != nil {
			return Interpreter{}, err
		}
		return f.version(ctx, value, b, source)
	case !strings.HasPrefix(value, "python"): // python3.12 is the name of a program first
		if wanted, ok := parseRequest(value); ok {
			f.wanted = wanted
			return f.version(ctx, value, wanted.bound(source), source)
		}
	}
	path := f.under(dir, value)
	info, err := os.Stat(path)
	isDir := err == nil && info.IsDir()
	if !isDir && !hasSlash(value) && value[0] != '.' && value[0] != '~' {
		return f.which(ctx, value, source)
	}
	if isDir {
		return f.inEnv(ctx, path, source)
	}
	return f.consider(ctx, path, source)
}

// inEnv examines the Python of an environment or installation.
func (f *finder) inEnv(ctx context.Context, env string, source Source) (Interpreter, error) {
	python, broken := envPython(env)
	if broken != nil {
		return Interpreter{}, broken.from(source)
	}
	return f.consider(ctx, python, source)
}

// version resolves a version that an explicit source names: first in the environment of sync,
// then among the installed Pythons.
func (f *finder) version(ctx context.Context, value string, b bound, source Source) (Interpreter, error) {
	f.bounds = append(f.bounds, b)
	if err := f.conflict(); err != nil {
		return Interpreter{}, err
	}
	if !f.Base { // sync made it with such a version
		found, err := f.synced(ctx)
		if e := (*Error)(nil); errors.As(err, &e) {
			f.skip(e.Code, f.Synced, SourceSync, e.Reason)
		}
		f.Synced = "" // do not look at it again
		if err == nil && found.Path != "" {
			return found, nil
		}
	}
	f.lookup = true
	found, err := f.lookUp(ctx, source)
	if err == nil && found.Path == "" {
		return found, f.notInstalled(value, source, "is not on PATH, and no version manager has installed it")
	}
	found.AnyOf = true
	return found, err
}

// lookUp looks for a Python that satisfies the requirements on PATH, then among the installed ones.
func (f *finder) lookUp(ctx context.Context, source Source) (Interpreter, error) {
	found, err := f.search(ctx, f.names(), source)
	if err == nil && found.Path == "" {
		found, err = f.installed(ctx)
		found = found.by(source)
	}
	return found, err
}

func hasSlash(s string) bool {
	return strings.ContainsRune(s, '/') || runtime.GOOS == "windows" && strings.ContainsAny(s, `\:`)
}

// envAt returns the environment that decides at a path: a directory with a pyvenv.cfg or a Python, or
// the one that a file .venv names (PEP 832). It returns "" if there is none; a directory that only
// happens to be called venv is skipped.
func (f *finder) envAt(path string, source Source) (env string, err error) {
	if _, err := os.Lstat(path); err != nil && !errors.Is(err, fs.ErrPermission) { // what may not be looked at may be there
		return "", nil
	}
	info, err := os.Stat(path)
	text, _ := bounded.Head(path, maxFile) // none of a directory
	if named, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); named != "" && filepath.Base(path) == ".venv" {
		file := path
		path = f.under(filepath.Dir(path), filepath.FromSlash(strings.TrimSpace(named)))
		if info, err = os.Stat(path); err != nil && !hasSlash(named) {
			f.skip(ToolRuns, file, source, "names an environment that pipenv keeps").Fix = schema.Hintf("`pipenv run pyplug …` uses it")
			return "", nil
		}
	}
	if err != nil {
		broken := statError(path, err)
		broken.env = path
		return "", broken.from(source)
	}
	cfg := filepath.Join(path, "pyvenv.cfg")
	if _, err := os.Stat(cfg); errors.Is(err, fs.ErrPermission) {
		return "", statError(cfg, err).from(source)
	} else if err == nil {
		return path, nil
	}
	python, none := envPython(path)
	switch {
	case !info.IsDir() || none != nil:
		f.skip(NotEnvironment, path, source, "has neither pyvenv.cfg nor python").Fix = schema.Hintf("rename it, or make an environment in its place")
		return "", nil
	case !landmark(path).Known() && !exists(filepath.Join(path, "conda-meta")) && runtime.GOOS != "windows": // it would run without its packages
		return "", problem(NoConfig, path, "has a python but no pyvenv.cfg: its python is %s", python).from(source)
	}
	return path, nil
}

// envPython returns the path of the Python of an environment or installation. The Python may be
// broken.
func envPython(env string) (string, *Error) {
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
	broken := problem(EnvWithoutPython, env, "has no python in it: no %s", filepath.FromSlash(names[0]))
	broken.env = env
	return "", broken
}

// consider examines one Python. The error is an *Error or ctx's.
func (f *finder) consider(ctx context.Context, path string, source Source) (Interpreter, error) {
	real := resolve(path)
	if pyenv, isShim := shimAt(path, real); isShim {
		return f.shim(ctx, path, pyenv, source)
	}
	return f.inspect(ctx, path, real, source)
}

// resolve follows the links of a path. It returns the path if that fails.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// inspect examines a Python that is not a shim. real is path with its links resolved.
func (f *finder) inspect(ctx context.Context, path, real string, source Source) (Interpreter, error) {
	found, broken := examine(path, real)
	if broken != nil {
		_, broken.env, _ = findConfig(path)
		return Interpreter{}, broken.from(source)
	}
	found.Source = source
	return f.judge(ctx, found)
}

// judge checks a Python against the requirements. If files do not say enough about the version,
// it asks the Python.
func (f *finder) judge(ctx context.Context, found Interpreter) (Interpreter, error) {
	found.OfProject = f.shimmed
	found = found.by(found.Source)
	refused, open := f.against(found.Version)
	if refused == nil && open && f.Run != nil && !(f.Untrusted && found.OfProject) {
		v, implementation, broken := ask(ctx, f.Run, found.Path)
		if err := ctx.Err(); err != nil {
			return Interpreter{}, err
		}
		if broken != nil {
			broken.env = found.Env
			return Interpreter{}, broken.from(found.Source)
		}
		found.Version, found.Implementation = v, implementation
		refused, open = f.against(v)
	}
	var broken *Error
	switch {
	case refused != nil:
		broken = problem(OtherVersion, found.Path, "is %s, want %s (%s)", found.Version, refused.Spec, refused.From)
		if found.Version.Major == 2 {
			broken.Code = Python2
		}
	case f.wanted.free && !strings.Contains(found.Variant, "t"):
		broken = problem(OtherImplementation, found.Path, "is not free-threaded")
	case open && !f.accepts(found.Source):
		broken = problem(UnknownVersion, found.Path, "has an unknown version: no file states it, and it was not run")
	}
	if broken != nil {
		broken.env = found.Env
		return Interpreter{}, broken.from(found.Source)
	}
	return found, nil
}

// accepts reports whether a Python of unknown version may be chosen from a source: with assume
// from any, otherwise only from an explicit source that names a path.
func (f *finder) accepts(source Source) bool {
	return f.assume || !f.lookup && (source == SourceFlag || source == SourceVariable || source == SourceManifest)
}

// against returns the first requirement that v fails. open reports that the answer depends on the
// patch, which is unknown.
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
