package interp

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// manager is a version manager, which keeps a directory for each version that it has installed.
type manager struct {
	name string
	// install is the command line that installs a version.
	install string
	// variable names the root. Without it the root is usual, below the home directory, or
	// below that for data if it begins with ~data.
	variable, usual string
	// versions is the directory of the versions, below the root.
	versions string
}

// managers lists the version managers, in the order in which their Pythons are suggested. The
// files that pin versions for asdf and mise name what those have installed.
var managers = []manager{
	{"pyenv", "pyenv install %s", "PYENV_ROOT", ".pyenv", "versions"},
	{"uv", "uv python install %s", "UV_PYTHON_INSTALL_DIR", "~data/uv/python", ""},
	{"asdf", "asdf install python %s", "ASDF_DATA_DIR", ".asdf", "installs/python"},
	{"mise", "mise install python@%s", "MISE_DATA_DIR", "~data/mise", "installs/python"},
}

// installsOf returns the directory in which a manager keeps its versions.
func (f *finder) installsOf(m manager) string {
	dir := f.home()
	usual, isData := strings.CutPrefix(m.usual, "~data/")
	if isData {
		dir = f.directory("XDG_DATA_HOME", below(dir, ".local", "share"))
		if runtime.GOOS == "windows" {
			dir = f.vars["APPDATA"]
		}
	}
	root := below(dir, filepath.FromSlash(usual))
	if m.name == "pyenv" && f.pyenvRoot != "" {
		root = f.pyenvRoot
	}
	return below(f.directory(m.variable, root), filepath.FromSlash(m.versions))
}

// directory returns the directory that a variable names, or usual.
func (f *finder) directory(variable, usual string) string {
	if dir := f.vars[variable]; filepath.IsAbs(dir) {
		return dir
	}
	return usual
}

// below joins names to a directory. It returns "" for the directory "".
func below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// shimAt reports whether the program at path is a shim, which starts the version that a
// manager selects. real is where its links lead. pyenv is the root of the pyenv that made the
// shim; it is empty for other managers, whose shims do not say what they start.
func shimAt(path, real string) (pyenv string, isShim bool) {
	dir := filepath.Dir(path)
	if filepath.Base(dir) != "shims" {
		dir = filepath.Dir(real)
	}
	if filepath.Base(dir) != "shims" {
		return "", filepath.Base(real) == "mise" // whose shims are links to it
	}
	if text, _ := bounded.Head(path, 2048); strings.HasPrefix(text, "#!") && strings.Contains(text, "pyenv") {
		return filepath.Dir(dir), true
	}
	return "", true
}

// shim examines the Python that a shim starts. A shim of pyenv is followed by reading what
// pyenv would read. Only running another one tells its Python.
func (f *finder) shim(ctx context.Context, path, pyenv string, source Source) (Interpreter, error) {
	if _, env, ok := findConfig(path); ok {
		// The shim would start a Python that knows nothing of the environment.
		broken := problem(ShimUnresolved, path, "is a shim that leads to no python: the python of %s is a link to it", env)
		broken.env = env
		return Interpreter{}, broken.from(source)
	}
	if pyenv == "" {
		unknown := problem(ShimUnresolved, path, "is a shim: the Python that it starts is unknown until it runs").from(source)
		if f.Untrusted && !source.Named() { // files of the working directory may select what it starts
			return Interpreter{}, unknown
		}
		if broken := program(path); broken != nil {
			return Interpreter{}, broken.from(source)
		}
		found, err := f.judge(ctx, Interpreter{Path: path, Source: source})
		if e, ok := err.(*Error); ok && e.Code == UnknownVersion {
			return found, unknown
		}
		return found, err
	}
	f.pyenvRoot = pyenv
	python, broken := f.follow(path)
	defer func() { f.shimmed = false }()
	if broken != nil {
		return Interpreter{}, broken.from(source)
	}
	about := "is a shim of pyenv for " + python
	found, err := f.inspect(ctx, python, resolve(python), source)
	if e, ok := err.(*Error); ok {
		e.Path, e.Reason = path, about+", which "+e.Reason
	} else if err == nil {
		f.skip(Shim, path, source, about)
	}
	return found, err
}

// follow finds the program that a shim of pyenv at path would run.
func (f *finder) follow(path string) (python string, broken *Error) {
	nowhere := func(code Code, format string, args ...any) *Error {
		e := problem(code, path, "is a shim that leads to no python: pyenv %s", fmt.Sprintf(format, args...))
		e.Fix = schema.Hintf("select another version with pyenv")
		return e
	}
	versions, origin := f.selected()
	if len(versions) == 0 {
		return "", nowhere(ShimUnresolved, "selects no version")
	}
	name := filepath.Base(path)
	for _, version := range versions {
		if version == "system" {
			return "", nowhere(ShimUnresolved, "selects the system's python (%s)", origin)
		}
		dir := installed(f.installsOf(managers[0]), version)
		if dir == "" {
			broken = nowhere(PinNotInstalled, "has no %s, which %s asks for", version, origin)
			if r, isVersion := parseRequest(version); isVersion {
				broken.Fix, broken.wanted = schema.Hint{}, r.name
			}
			return "", broken
		}
		python := filepath.Join(dir, "bin", name)
		if exists(python) {
			return python, nil
		}
	}
	return "", nowhere(ShimNoVersion, "selects %s (%s), which has no %s", strings.Join(versions, ", "), origin, name)
}

// selected reads which versions pyenv would use, and where it says so.
func (f *finder) selected() (versions []string, origin string) {
	const variable = "PYENV_VERSION"
	if value := f.vars[variable]; value != "" {
		return strings.Fields(strings.ReplaceAll(value, ":", " ")), variable
	}
	var files []string
	for _, dir := range parents(f.Cwd) {
		files = append(files, filepath.Join(dir, ".python-version"))
	}
	for _, file := range append(files, filepath.Join(filepath.Dir(f.installsOf(managers[0])), "version")) {
		if versions, _ := versionsIn(file); len(versions) > 0 {
			f.shimmed = filepath.Base(file) == ".python-version"
			return versions, file
		}
	}
	return nil, ""
}

// mostVersions bounds how many versions of a file count.
const mostVersions = 20

// versionsIn reads the versions of Python that a file pins. The error says that the file does not
// parse.
func versionsIn(path string) (versions []string, err error) {
	defer func() { versions = versions[:min(len(versions), mostVersions)] }()
	text, err := bounded.Head(path, maxFile)
	if err != nil {
		return nil, nil
	}
	if filepath.Ext(path) == ".toml" {
		return miseConfig(text)
	}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case filepath.Base(path) == ".tool-versions":
			if words[0] == "python" {
				return words[1:], nil
			}
		case isSpec(words[0]), filepath.IsAbs(words[0]):
			versions = append(versions, strings.TrimSpace(line))
		default:
			versions = append(versions, words[0])
		}
	}
	return versions, nil
}

// miseConfig reads [tools] python: a text, a list, or a table with a version.
func miseConfig(text string) (versions []string, err error) {
	var file struct {
		Tools map[string]any `toml:"tools"`
	}
	if err := bounded.TOML([]byte(text), &file); err != nil {
		return nil, err
	}
	values, isList := file.Tools["python"].([]any)
	if !isList {
		values = []any{file.Tools["python"]}
	}
	for _, value := range values {
		if table, ok := value.(map[string]any); ok {
			value = table["version"]
		}
		if version, ok := value.(string); ok {
			versions = append(versions, version)
		}
	}
	return versions, nil
}

// installed returns the directory of a version: the one of that name, or the newest release that
// begins with it. It rejects names that leave the directory.
func installed(installs, version string) string {
	if version == "" || version == "." || version == ".." || strings.ContainsAny(version, `/\`) {
		return ""
	}
	names := newestFirst(installs)
	for _, wanted := range [...]string{version, strings.TrimPrefix(version, "python-")} {
		if slices.Contains(names, wanted) {
			return filepath.Join(installs, wanted)
		}
		for _, name := range names {
			rest, ok := strings.CutPrefix(name, wanted)
			if ok && releaseRest().MatchString(rest) {
				return filepath.Join(installs, name)
			}
		}
	}
	return ""
}

// releaseRest matches what may follow a prefix: numbers, no "rc1", "-dev" or "t".
var releaseRest = expression(`^[.\-]\d+([.\-]\d+)*$`)

// managed returns the newest Python of a version manager that satisfies the requirements,
// whichever version is selected. It records all others of a manager as one attempt.
func (f *finder) managed(ctx context.Context) Interpreter {
	for _, m := range managers {
		dir := f.installsOf(m)
		var others []string
		for _, name := range newestFirst(dir) {
			python, broken := envPython(filepath.Join(dir, name))
			if broken != nil {
				continue
			}
			found, err := f.consider(ctx, python, Source(m.name))
			if err == nil && found.Env == "" && f.secondChoice(found, name) == "" {
				return found
			}
			if err != nil {
				others = append(others, name)
			}
		}
		if len(others) > 0 {
			f.skip(OtherVersion, dir, Source(m.name), "has none that would do: "+strings.Join(others, ", "))
		}
	}
	return Interpreter{}
}

// newestFirst lists the names in a directory, those with the highest numbers first.
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
