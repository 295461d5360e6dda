package interp

import (
	"cmp"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// manager is a version manager. It has one directory for each installed version.
type manager struct {
	name string
	// install is the command line that installs a version.
	install string
	// installs returns the directory that contains the versions, or "".
	installs func(f *finder) string
}

// managers lists the version managers, in the order in which their Pythons are suggested.
var managers = []manager{
	{"pyenv", "pyenv install %s", (*finder).pyenvVersions},
	{"uv", "uv python install %s", (*finder).uvVersions},
}

func (f *finder) pyenvVersions() string {
	root := below(f.home(), ".pyenv")
	if runtime.GOOS == "windows" {
		root = below(root, "pyenv-win")
	}
	return below(f.directory("PYENV_ROOT", cmp.Or(f.pyenvRoot, root)), "versions")
}

func (f *finder) uvVersions() string {
	data := f.directory("XDG_DATA_HOME", below(f.home(), ".local", "share"))
	if runtime.GOOS == "windows" {
		data = f.vars["APPDATA"]
	}
	return f.directory("UV_PYTHON_INSTALL_DIR", below(data, "uv", "python"))
}

// directory returns the absolute directory that a variable names, or else the usual directory.
func (f *finder) directory(variable, usual string) string {
	if dir := f.vars[variable]; filepath.IsAbs(dir) {
		return dir
	}
	return usual
}

// below joins names to a directory. It returns "" if the directory is "".
func below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// shimAt reports whether the program at path is a shim, which starts the version that a manager
// selects. real is the resolved path. pyenv is the root of the pyenv that made the shim. It is
// empty for other managers, because their shims do not say what they start.
func shimAt(path, real string) (pyenv string, isShim bool) {
	dir := filepath.Dir(path)
	if filepath.Base(dir) != "shims" {
		dir = filepath.Dir(real)
	}
	if filepath.Base(dir) != "shims" {
		return "", false
	}
	isScript := isBatch(path)
	if text, _ := bounded.Head(path, 2048); (isScript || strings.HasPrefix(text, "#!")) && strings.Contains(text, "pyenv") {
		return filepath.Dir(dir), true
	}
	return "", true
}

// shim examines the Python that a shim starts. It follows a shim of pyenv by reading the files that
// pyenv would read. The Python of any other shim is unknown until it runs.
func (f *finder) shim(path, pyenv string, source Source) (Interpreter, *Attempt) {
	if pyenv == "" {
		if f.Untrusted && !source.Named() { // files of the working directory may select the version
			return Interpreter{}, problem(ShimUnresolved, path, "is a shim: the Python that it starts is unknown until it runs").from(source)
		}
		if broken := program(path); broken != nil {
			return Interpreter{}, broken.from(source)
		}
		return f.judge(Interpreter{Path: path, Source: source})
	}
	f.pyenvRoot = pyenv
	python, broken := f.follow(path)
	defer func() { f.shimmed = false }()
	if broken != nil {
		return Interpreter{}, broken.from(source)
	}
	about := "is a shim of pyenv for " + python
	found, broken := f.inspect(python, bounded.Real(python), source)
	if broken != nil {
		broken.Path, broken.Reason = path, about+", which "+broken.Reason
	} else {
		f.skip(Shim, path, source, about)
	}
	return found, broken
}

// appleStub is a program of macOS that starts the Python of Apple's developer tools. If they are
// missing, it opens a window that offers to install them.
const appleStub = "/usr/bin/python3"

// stub examines the Python that the stub of macOS at path starts. python is its path, or "" if the
// tools are missing.
func (f *finder) stub(path, python string, source Source) (Interpreter, *Attempt) {
	if python == "" {
		broken := problem(ShimUnresolved, path, "is a stub that starts no python: Apple's developer tools are not installed")
		broken.Fix = schema.Hintf("run `%s` to install them", schema.EnvLine("xcode-select --install"))
		return Interpreter{}, broken.from(source)
	}
	f.skip(Shim, path, source, "is a stub of macOS for "+python)
	return f.inspect(python, bounded.Real(python), source)
}

// developerPython returns the Python of Apple's developer tools, or "". The selected tools come
// first.
func developerPython(root string, vars map[string]string) string {
	for _, dir := range [...]string{
		vars["DEVELOPER_DIR"], filepath.Join(root, "var/db/xcode_select_link"),
		filepath.Join(root, "Applications/Xcode.app/Contents/Developer"), filepath.Join(root, "Library/Developer/CommandLineTools"),
	} {
		if python := filepath.Join(bounded.Real(dir), "usr/bin/python3"); filepath.IsAbs(dir) && bounded.Exists(python) {
			return python
		}
	}
	return ""
}

// follow finds the program that a shim of pyenv at path would run.
func (f *finder) follow(path string) (python string, broken *Attempt) {
	versions, origin := f.selected()
	name := filepath.Base(path)
	for _, version := range versions {
		dir := installed(f.pyenvVersions(), version)
		python := filepath.Join(dir, "bin", name)
		if isBatch(path) {
			python = filepath.Join(dir, exe(strings.TrimSuffix(name, batch)))
		}
		if dir != "" && bounded.Exists(python) {
			return python, nil
		}
	}
	broken = problem(ShimUnresolved, path, "is a shim that starts no python: pyenv selects no version")
	if len(versions) > 0 {
		broken.Reason = "is a shim that starts no python: pyenv has no " + name + " of " + strings.Join(versions, ", ") + ", which " + origin + " selects"
	}
	broken.Fix = schema.Hintf("install that version with pyenv, or select another one")
	return "", broken
}

// selected returns the versions that pyenv would use, and the variable or file that selects them.
func (f *finder) selected() (versions []string, origin string) {
	const variable = "PYENV_VERSION"
	if value := f.vars[variable]; value != "" {
		return strings.Fields(strings.ReplaceAll(value, ":", " ")), variable
	}
	for _, dir := range parents(f.Cwd) {
		file := filepath.Join(dir, pinFile)
		if pins, _ := pinsIn(file); len(pins) > 0 { // like pyenv, ignore a file that cannot be read
			f.shimmed = true
			return textsOf(pins), file
		}
	}
	file := filepath.Join(filepath.Dir(f.pyenvVersions()), "version")
	pins, _ := pinsIn(file)
	return textsOf(pins), file
}

// installed returns the directory of a version: the directory with that name, or the newest release
// whose name begins with it. It rejects names that lead out of the directory.
func installed(installs, version string) string {
	version = strings.TrimPrefix(version, "python-")
	if version == "" || version == "." || version == ".." || strings.ContainsAny(version, `/\`) {
		return ""
	}
	names := newestFirst(installs)
	if slices.Contains(names, version) {
		return filepath.Join(installs, version)
	}
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, version); ok && releaseRest().MatchString(rest) {
			return filepath.Join(installs, name)
		}
	}
	return ""
}

// releaseRest matches the rest of a release's name after the prefix. It contains only numbers: not
// "rc1", "-dev" or "t".
var releaseRest = expression(`^[.\-]\d+([.\-]\d+)*$`)

// managed returns the newest Python of a version manager that satisfies the requirements, even if
// another version is selected. It records all unsuitable versions of a manager as one attempt.
func (f *finder) managed() Interpreter {
	for _, m := range managers {
		dir := m.installs(f)
		var others []string
		for _, name := range newestFirst(dir) {
			python, broken := envPython(filepath.Join(dir, name))
			if broken != nil {
				continue
			}
			found, broken := f.consider(python, Source(m.name))
			if broken != nil {
				others = append(others, name)
			} else if found.Env == "" && f.unusual(found, name) == "" {
				return found
			}
		}
		if len(others) > 0 {
			f.skip(OtherVersion, dir, Source(m.name), "has no suitable version, only "+strings.Join(others, ", "))
		}
	}
	return Interpreter{}
}

// newestFirst lists the names in a directory. The names with the highest numbers come first.
func newestFirst(dir string) []string {
	entries, _ := bounded.Dir(dir)
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	slices.SortStableFunc(names, func(a, b string) int { return slices.Compare(numbers(b), numbers(a)) })
	return names
}

// numbers returns the numbers in a text.
func numbers(text string) (list []int) {
	for digits := range strings.FieldsFuncSeq(text, func(c rune) bool { return c < '0' || c > '9' }) {
		n, _ := strconv.Atoi(digits)
		list = append(list, n)
	}
	return list
}

// parents returns dir and the directories above it.
func parents(dir string) []string {
	if !filepath.IsAbs(dir) {
		return nil
	}
	dirs := []string{filepath.Clean(dir)}
	for {
		up := filepath.Dir(dirs[len(dirs)-1])
		if up == dirs[len(dirs)-1] {
			return dirs
		}
		dirs = append(dirs, up)
	}
}
