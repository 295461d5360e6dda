package interp

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/pyplug/pyplug/interp/bounded"
)

// inspect reads what files say about a Python that is not a shim, and judges it. real is path with
// its links resolved.
func (f *finder) inspect(path, real string, source Source) (Interpreter, *Attempt) {
	cfg, env := findConfig(path)
	version, implementation := installation(real)
	broken := program(path)
	switch {
	case broken != nil:
	case cfg.denied != nil: // Python would run without the environment's packages
		broken = statError(filepath.Join(env, "pyvenv.cfg"), cfg.denied)
	case cfg.version.Known() && version.Known() && !cfg.version.sameMinor(version): // Python would run without the environment's packages
		broken = problem(OtherMinor, env, "was made for another python: made for %s, its python is now %s",
			cfg.version.minor(), version.minor())
	}
	if broken != nil {
		return Interpreter{}, broken.in(env).from(source)
	}
	found := Interpreter{
		Path: path, Source: source, Version: version, Env: env,
		Variant: variant(real, version), Implementation: cmp.Or(implementation, cfg.implementation),
	}
	if !version.Known() || version.Patch < 0 && cfg.version.Known() {
		found.Version = cfg.version
	}
	lib := filepath.Join(env, "lib", "python"+found.Version.minor().String())
	if found.Implementation == "" && env != "" && bounded.Exists(lib) {
		found.Implementation = "cpython" // a copy of CPython; PyPy has another directory
	}
	return f.judge(found)
}

// program returns an attempt that says why path cannot be started, or nil. It follows links.
func program(path string) *Attempt {
	info, err := os.Stat(path)
	if err != nil {
		return statError(path, err)
	}
	switch {
	case runtime.GOOS == "windows" && info.Mode()&fs.ModeIrregular != 0:
		return nil // the alias of an app, such as a Python of Microsoft's store
	case info.IsDir():
		return problem(IsDirectory, path, "is a directory, expected a program")
	case !info.Mode().IsRegular() || info.Size() == 0:
		return problem(BadFormat, path, "is not a program: it is empty, or a pipe or a device")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return problem(NotExecutable, path, "is not executable")
	}
	return nil
}

// statError returns an attempt that says why a path cannot be examined.
func statError(path string, err error) *Attempt {
	_, lerr := os.Lstat(path)
	missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return problem(SymlinkLoop, path, "is a loop of symbolic links: %s", chain(path))
	case missing && lerr == nil:
		return problem(BrokenSymlink, path, "is a broken symbolic link: %s, which does not exist", chain(path))
	case missing:
		return problem(Missing, path, "does not exist")
	}
	return problem(Unreadable, path, "cannot be read: %v", cmp.Or(errors.Unwrap(err), err)) // the message has the path already
}

// chain formats the links that begin at path: "python -> python3 -> /gone/python3".
func chain(path string) string {
	hops := []string{filepath.Base(path)}
	for len(hops) < 10 {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		hops = append(hops, target)
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return strings.Join(hops, " -> ")
}

// pythonName parses the name of a Python, or of its directory below lib: python3.12, python3.13t,
// pypy3.9.exe. The version of "python3" is empty.
func pythonName(name string) (implementation, version string, ok bool) {
	name = strings.TrimSuffix(name, ".exe")
	for _, implementation := range [...]string{"python", "pypy"} {
		rest, ok := strings.CutPrefix(name, implementation)
		if !ok {
			continue
		}
		if rest == "" || len(rest) == 1 && isDigit(rest[0]) {
			return implementation, "", true
		}
		version := strings.TrimRight(rest, "td") // the letters mean free-threaded and debug build
		major, minor, _ := strings.Cut(version, ".")
		return implementation, version, len(major) == 1 && isNumber(major) && len(minor) <= 3 && isNumber(minor)
	}
	return "", "", false
}

// installation returns the version and the implementation that the location of the resolved
// program shows.
func installation(real string) (version Version, implementation string) {
	prefix := prefixOf(real)
	name, text, ok := pythonName(filepath.Base(real))
	if !ok {
		// A program with another name may not be the Python of its directory.
		return Version{}, ""
	}
	version = parseVersion(text)
	// Version managers name directories by versions.
	managed := parseVersion(strings.TrimPrefix(strings.TrimPrefix(filepath.Base(prefix), "pypy"), "cpython-"))
	switch {
	case version.Known():
	case managed.Major == 3:
		version = managed.minor()
	default:
		version = landmark(prefix)
	}
	if full := patchLevel(prefix, version); full.Known() {
		version = full
	} else if managed.sameMinor(version) {
		version = managed
	}
	switch {
	case name == "pypy":
		implementation = "pypy"
	case version.Known():
		implementation = "cpython"
	}
	return version, implementation
}

// libraryVersion returns the version of the only python3N.dll or python3Nt.dll in a directory.
func libraryVersion(dir string) (version Version) {
	entries, _ := bounded.Dir(dir)
	for _, entry := range entries {
		name, isLibrary := strings.CutSuffix(strings.ToLower(entry.Name()), ".dll")
		minor, isPython := strings.CutPrefix(strings.TrimSuffix(name, "t"), "python3")
		switch {
		case !isLibrary || !isPython || !isNumber(minor):
		case version.Known():
			return Version{}
		default:
			version = parseVersion("3." + minor)
		}
	}
	return version
}

// landmark returns the version of the standard library in prefix. On Windows it is the version of a
// DLL such as python311.dll. landmark returns the zero Version if there are several, as is common
// for the Python of a system.
func landmark(prefix string) (version Version) {
	if runtime.GOOS == "windows" {
		return libraryVersion(prefix)
	}
	entries, _ := bounded.Dir(filepath.Join(prefix, "lib"))
	for _, entry := range entries {
		_, text, ok := pythonName(entry.Name())
		if !ok || text == "" || !bounded.Exists(filepath.Join(prefix, "lib", entry.Name(), "os.py")) {
			continue
		}
		if version.Known() {
			return Version{}
		}
		version = parseVersion(text)
	}
	return version
}
