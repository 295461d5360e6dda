package interp

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

// facts is what files say about one Python.
type facts struct {
	env            string
	implementation string
	version        Version
}

// examine reads what files say about the program at path, whose links lead to
// real. An error has no Source yet.
func examine(path, real string) (facts, *Error) {
	var out facts
	if broken := program(path); broken != nil {
		return out, broken
	}
	cfg, env, inVenv := findConfig(path)
	out.implementation = cfg.implementation
	out.env = env
	binary := installation(real)
	if binary.implementation != "" {
		out.implementation = binary.implementation
	}
	out.version = binary.version
	if !inVenv {
		return out, nil
	}
	if broken := mismatch(env, cfg.version, binary.version); broken != nil {
		return out, broken
	}
	if !out.version.Known() || out.version.Patch < 0 && cfg.version.Known() {
		out.version = cfg.version
	}
	return out, nil
}

// program returns why path cannot be started, nil if it can. It follows links.
func program(path string) *Error {
	info, err := os.Stat(path)
	if err != nil {
		return statError(path, err)
	}
	switch {
	case info.IsDir():
		return notStarted(path, "is a directory, want a program")
	case !info.Mode().IsRegular():
		return problem(path, "is not a program: it is a %s", info.Mode().Type())
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return notStarted(path, "is not executable")
	case info.Size() == 0:
		return problem(path, "is not a program: it is empty")
	}
	head, err := readHead(path, 4)
	// What may be run but not read is left to the system to judge.
	if err == nil && !isProgram(head) {
		return problem(path, "is not a program: its first bytes are of no known format")
	}
	return nil
}

// isProgram knows ELF, Mach-O of both byte orders and universal, PE, and scripts.
// A shell would run anything else as a script of its own, the system does not.
func isProgram(head string) bool {
	for _, magic := range [...]string{"\x7fELF", "#!", "MZ", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xfe\xed\xfa\xcf",
		"\xfe\xed\xfa\xce", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf"} {
		if strings.HasPrefix(head, magic) {
			return true
		}
	}
	return false
}

// statError reports a path that cannot be looked at.
func statError(path string, err error) *Error {
	_, lerr := os.Lstat(path)
	missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	var broken *Error
	var perr *fs.PathError
	switch {
	case errors.Is(err, syscall.ELOOP):
		broken = notStarted(path, "is a loop of symbolic links: %s", chain(path))
	case missing && lerr == nil:
		broken = notStarted(path, "is a broken symbolic link: %s, which does not exist", chain(path))
	case missing:
		broken = notStarted(path, "does not exist")
	case errors.As(err, &perr):
		broken = problem(path, "cannot be read: %v", perr.Err)
	default:
		broken = problem(path, "cannot be read: %v", err)
	}
	broken.Err = err
	return broken
}

// chain writes the links from path on, as "python -> python3 -> /gone/python3".
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

// pythonName reads the file name of a Python, or that of a directory below lib
// that belongs to one: python3.12, python3.13t, pypy3.9.exe. There may be no
// version, as in python3, which is then empty.
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
		version := strings.TrimRight(rest, "td") // free-threaded, for debugging
		major, minor, _ := strings.Cut(version, ".")
		return implementation, version, len(major) == 1 && isNumber(major) && len(minor) <= 3 && isNumber(minor)
	}
	return "", "", false
}

// installDirs are the names of the directories in which version managers keep
// one directory per version: pyenv, asdf and mise, uv and rye, Apple's frameworks.
var installDirs = []string{"versions", "python", "py", "Versions"}

// installation is what the place of the resolved program says.
func installation(real string) facts {
	var out facts
	prefix := filepath.Dir(filepath.Dir(real))
	if runtime.GOOS == "windows" {
		prefix = filepath.Dir(real)
	}
	implementation, version, ok := pythonName(filepath.Base(real))
	if !ok {
		// The place says nothing of a program that need not be the Python there.
		return out
	}
	if implementation == "pypy" {
		out.implementation = "pypy"
	}
	out.version = parseVersion(version)
	var managed Version
	if slices.Contains(installDirs, filepath.Base(filepath.Dir(prefix))) {
		name := filepath.Base(prefix)
		if strings.HasPrefix(name, "pypy") {
			out.implementation = "pypy"
		}
		managed = parseVersion(strings.TrimPrefix(strings.TrimPrefix(name, "pypy"), "cpython-"))
	}
	if !out.version.Known() {
		out.version = managed.minor()
	}
	if !out.version.Known() {
		out.version = landmark(prefix)
	}
	if !out.version.Known() {
		return out
	}
	full, implementation := patchLevel(prefix, out.version)
	switch {
	case implementation != "":
		out.implementation = implementation
	case out.implementation == "":
		out.implementation = "cpython"
	}
	switch {
	case full.Known():
		out.version = full
	case managed.sameMinor(out.version):
		out.version = managed
	}
	return out
}

// libVersions lists the versions that have a directory under prefix/lib.
func libVersions(prefix string, holds string) []Version {
	entries, _ := os.ReadDir(filepath.Join(prefix, "lib"))
	var out []Version
	for _, entry := range entries {
		_, version, ok := pythonName(entry.Name())
		if !ok || version == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(prefix, "lib", entry.Name(), holds)); err == nil {
			out = append(out, parseVersion(version))
		}
	}
	return out
}

// landmark finds the version by the standard library, when there is one only:
// a system's lib often has several.
func landmark(prefix string) Version {
	found := libVersions(prefix, "os.py")
	if len(found) != 1 {
		return Version{}
	}
	return found[0]
}

// mismatch returns an error if env was made for another minor version than the Python in
// it has now. Python itself would run, without any packages.
func mismatch(env string, made, now Version) *Error {
	if !now.Known() {
		now = made
	}
	if !now.Known() {
		return nil
	}
	libs := libVersions(env, "site-packages")
	if len(libs) > 0 && !slices.ContainsFunc(libs, now.sameMinor) {
		made = libs[0]
	}
	if !made.Known() || made.sameMinor(now) {
		return nil
	}
	broken := problem(env, "was made for another python: made for %s, its python is now %s", made.minor(), now.minor())
	broken.env = env
	return broken
}
