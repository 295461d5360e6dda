package interp

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// explain adds to an error what a hint needs: which versions would do, which
// Pythons of this machine, whether the environment can be made again.
func (f *finder) explain(err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	e.Remake = remakable(e.Env, e.Source, e.Reason)
	switch {
	case e.Reason == ReasonVersion:
	case e.Reason != ReasonNotFound:
		return e
	case e.wanted != "" && !f.lookup:
		_, version, ok := pythonName(e.wanted)
		if !ok {
			return e // a program was asked for, and no version would do
		}
		if version != "" {
			wanted, _ := readRequirement(Requirement{Spec: "==" + version + ".*", From: string(e.Source)})
			f.bounds = append(f.bounds, wanted)
		}
	}
	e.Needs, e.Elsewhere = f.needs(), f.elsewhere()
	return e
}

// remakable reports whether env may be emptied and made again.
func remakable(env string, source Source, reason string) bool {
	info, err := os.Lstat(env)
	if env == "" || err != nil || !info.IsDir() {
		return false
	}
	if reason == ReasonNoConfig {
		return strings.HasSuffix(string(source), " beside the plugin")
	}
	_, err = os.Stat(filepath.Join(env, "pyvenv.cfg"))
	return err == nil
}

// newestKnown is the last minor version that needs tries; there is none yet.
const newestKnown = 59

// needs says in words which versions satisfy the requirements.
func (f *finder) needs() string {
	if text := f.versions(); text != "" {
		return text
	}
	specs := make([]string, len(f.Requires))
	for i, r := range f.Requires {
		specs[i] = r.Spec
	}
	return strings.Join(specs, " and ")
}

// versions says it as a first and a last version, empty if they are not one range.
func (f *finder) versions() string {
	var first, last Version
	gap := false
	for minor := range newestKnown + 1 {
		v, ok := f.leastPatch(minor)
		switch {
		case !ok:
			gap = first.Known()
		case gap:
			return ""
		case !first.Known():
			first, last = v, v
		default:
			last = v
		}
	}
	from := first.minor().String()
	if first.Patch > 0 {
		from = first.String()
	}
	switch {
	case !first.Known():
		return ""
	case last.Minor == newestKnown:
		return from + " or later"
	case last.Minor == first.Minor:
		return from
	}
	return from + " to " + last.minor().String()
}

// leastPatch is the first version of Python 3.minor that satisfies them.
func (f *finder) leastPatch(minor int) (Version, bool) {
	for patch := range 50 {
		if v := (Version{Major: 3, Minor: minor, Patch: patch}); allAllow(f.bounds, v) {
			return v, true
		}
	}
	return Version{}, false
}

// elsewhere lists the Pythons that would do, as far as files say.
func (f *finder) elsewhere() []Interpreter {
	const most = 10
	var out []Interpreter
	var seen []string
	take := func(path string, source Source) {
		real := resolve(path)
		if len(out) >= most || shimOf(path, real) != "" {
			return
		}
		known, broken := examine(path, real)
		if broken != nil || known.env != "" || slices.Contains(seen, real) {
			return
		}
		if refused, open := f.against(known.version); refused != nil || open || known.version.Pre != "" {
			return
		}
		seen = append(seen, real)
		out = append(out, Interpreter{Path: path, Version: known.version, Source: source, Implementation: known.implementation})
	}
	names := f.names()
	for _, dir := range f.pathDirs() {
		for _, name := range names {
			take(filepath.Join(dir, exe(name)), SourcePath)
		}
	}
	for _, m := range f.managers() {
		entries, _ := os.ReadDir(m.installs)
		slices.SortFunc(entries, func(a, b os.DirEntry) int {
			switch {
			case newer(a.Name(), b.Name()):
				return -1
			case newer(b.Name(), a.Name()):
				return 1
			}
			return strings.Compare(a.Name(), b.Name())
		})
		for _, entry := range entries {
			if python, broken := envPython(filepath.Join(m.installs, entry.Name())); broken == nil {
				take(python, m.source)
			}
		}
	}
	return out
}

// manager is a version manager that keeps a directory for each of its versions.
type manager struct {
	source   Source
	installs string
}

// managers are the directories that the variables name, and the usual ones.
func (f *finder) managers() []manager {
	data := f.vars["XDG_DATA_HOME"]
	if !filepath.IsAbs(data) {
		data = below(f.home(), ".local", "share")
	}
	uv := below(data, "uv")
	if runtime.GOOS == "windows" {
		uv = below(f.vars["APPDATA"], "uv")
	}
	or := func(variable, usual string) string {
		if dir := f.vars[variable]; filepath.IsAbs(dir) {
			return dir
		}
		return usual
	}
	all := []manager{
		{"pyenv", below(or("PYENV_ROOT", below(f.home(), ".pyenv")), "versions")},
		{"uv", or("UV_PYTHON_INSTALL_DIR", below(uv, "python"))},
		{"asdf", below(or("ASDF_DATA_DIR", below(f.home(), ".asdf")), "installs", "python")},
		{"mise", below(or("MISE_DATA_DIR", below(data, "mise")), "installs", "python")},
	}
	for _, dir := range f.pathDirs() {
		// The shims that are on PATH lead to the manager's own place.
		shim := filepath.Join(dir, "python3")
		if shimOf(shim, resolve(shim)) == "pyenv" {
			all = append(all, manager{"pyenv", filepath.Join(f.pyenvRoot(shim), "versions")})
		}
	}
	return slices.DeleteFunc(all, func(m manager) bool { return m.installs == "" })
}

// below joins names to a directory, and is empty where that is.
func below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// String is the Python for a message: "/usr/bin/python3.12 (3.12.4, PATH)".
func (i Interpreter) String() string { return fmt.Sprintf("%s (%s, %s)", i.Path, i.Version, i.Source) }
