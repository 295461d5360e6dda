package interp

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// manager is a version manager, which keeps a directory for each version that it has
// installed. Its shims are small programs that start the version that is selected.
type manager struct {
	name string
	// install is the command line that installs a version.
	install string
	// variable names the root; usual is the root without it, where ~ is the home
	// directory, ~data and ~config those of XDG.
	variable, usual string
	// versions is the directory of the versions, below the root.
	versions string
	// selects is the variable that selects versions, files are those that do in the
	// working directory and above, global is the user's own. uv and rye have none that
	// select by them.
	selects string
	files   []string
	global  string
}

// miseFiles are the files of a directory that mise reads.
var miseFiles = []string{"mise.local.toml", "mise.toml", ".mise.toml", ".config/mise/config.toml"}

// managers lists the version managers, in the order in which their Pythons are
// suggested.
var managers = []manager{
	{
		name: "pyenv", install: "pyenv install %s", variable: "PYENV_ROOT", usual: "~/.pyenv", versions: "versions",
		selects: "PYENV_VERSION", files: []string{".python-version"}, global: "~root/version",
	},
	{name: "uv", install: "uv python install %s", variable: "UV_PYTHON_INSTALL_DIR", usual: "~data/uv/python"},
	{
		name: "asdf", install: "asdf install python %s", variable: "ASDF_DATA_DIR", usual: "~/.asdf", versions: "installs/python",
		selects: "ASDF_PYTHON_VERSION", files: []string{".tool-versions"}, global: "~/.tool-versions",
	},
	{
		name: "mise", install: "mise install python@%s", variable: "MISE_DATA_DIR", usual: "~data/mise", versions: "installs/python",
		selects: "MISE_PYTHON_VERSION", global: "~config/mise/config.toml",
		files: append(miseFiles[:len(miseFiles):len(miseFiles)], ".tool-versions"),
	},
	{name: "rye", install: "rye fetch %s", variable: "RYE_HOME", usual: "~/.rye", versions: "py"},
}

// place replaces the first part of a path of the table. root is the manager's.
func (f *finder) place(path, root string) string {
	first, rest, _ := strings.Cut(path, "/")
	dir := f.home()
	switch first {
	case "~root":
		dir = root
	case "~data":
		dir = f.directory("XDG_DATA_HOME", below(dir, ".local", "share"))
		if runtime.GOOS == "windows" {
			dir = f.vars["APPDATA"]
		}
	case "~config":
		dir = f.directory("XDG_CONFIG_HOME", below(dir, ".config"))
	}
	return below(dir, filepath.FromSlash(rest))
}

// directory is what a variable names, or else the usual one.
func (f *finder) directory(variable, usual string) string {
	if dir := f.vars[variable]; filepath.IsAbs(dir) {
		return dir
	}
	return usual
}

// below joins names to a directory, and is empty where that is.
func below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// shim is a program of a version manager that starts another Python.
type shim struct {
	manager
	root string // the manager's, as far as the shim says
}

// String is the manager's name.
func (s shim) String() string { return cmp.Or(s.name, "an unknown manager") }

// shimAt reports whether the program at path, whose links lead to real, is a shim. One
// of an unknown manager has no name.
func shimAt(path, real string) (shim, bool) {
	dir := filepath.Dir(path)
	if filepath.Base(dir) != "shims" {
		dir = filepath.Dir(real)
	}
	isMise := filepath.Base(real) == "mise" // its shims are links to itself
	if filepath.Base(dir) != "shims" && !isMise {
		return shim{}, false
	}
	s := shim{root: filepath.Dir(dir)}
	text, _ := bounded.Head(path, 2048)
	for _, m := range managers {
		script := strings.HasPrefix(text, "#!") && strings.Contains(text, m.name)
		if m.selects != "" && (isMise && m.name == "mise" || !isMise && script) {
			s.manager = m
			break
		}
	}
	return s, true
}

// follow finds the program that a shim at path would run, or why there is none.
func (f *finder) follow(s shim, path string) (python string, broken *Error) {
	nowhere := func(code Code, format string, args ...any) *Error {
		e := problem(code, path, "is a shim that leads to no python: %s", fmt.Sprintf(format, args...))
		if s.name != "" {
			e.Fix = "select another version with " + s.name
		}
		return e
	}
	if s.name == "" {
		return "", nowhere(ShimUnresolved, "where it leads cannot be known without running it")
	}
	root := f.directory(s.variable, s.root)
	installs := filepath.Join(root, filepath.FromSlash(s.versions))
	f.installs[s.name] = installs
	versions, origin := f.selected(s.manager, root)
	f.shimmed = origin != s.selects && origin != f.place(s.global, root)
	if len(versions) == 0 {
		return "", nowhere(ShimUnresolved, "%s selects no version", s.name)
	}
	name := filepath.Base(path)
	for _, version := range versions {
		if version == "system" {
			return "", nowhere(ShimUnresolved, "%s selects the system's python (%s)", s.name, origin)
		}
		dir := installed(installs, version)
		if dir == "" {
			broken = nowhere(PinNotInstalled, "%s has no %s, which %s asks for", s.name, version, origin)
			if r, isVersion := parseRequest(version); isVersion {
				broken.Fix, broken.wanted = "", r.name
			}
			return "", broken
		}
		python := filepath.Join(dir, "bin", name)
		if _, err := os.Stat(python); err == nil {
			return python, nil
		}
	}
	return "", nowhere(ShimNoVersion, "%s selects %s (%s), which has no %s", s.name, strings.Join(versions, ", "), origin, name)
}

// selected reads which versions a manager would use, and where it says so.
func (f *finder) selected(m manager, root string) (versions []string, origin string) {
	if value := f.vars[m.selects]; value != "" {
		return strings.Fields(strings.ReplaceAll(value, ":", " ")), m.selects
	}
	var files []string
	for _, dir := range parents(f.Cwd) {
		for _, name := range m.files {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	for _, file := range append(files, f.place(m.global, root)) {
		if versions, _ := versionsIn(file); len(versions) > 0 {
			return versions, file
		}
	}
	return nil, ""
}

// mostVersions bounds how many versions of a file count.
const mostVersions = 20

// versionsIn reads the versions of Python that a manager's file selects. The error is that of a
// file that does not parse.
func versionsIn(path string) (versions []string, err error) {
	defer func() { versions = versions[:min(len(versions), mostVersions)] }()
	text, err := bounded.Head(path, maxFile)
	if err != nil {
		return nil, nil
	}
	if filepath.Ext(path) == ".toml" {
		versions, _, err := miseConfig(text)
		return versions, err
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

// miseConfig reads [tools] python, which is a text, a list, or a table with a version, and
// [env] _.python.venv, which is a text or a table with a path.
func miseConfig(text string) (versions []string, venv string, err error) {
	var file struct {
		Tools map[string]any `toml:"tools"`
		Env   any            `toml:"env"`
	}
	if err := bounded.TOML([]byte(text), &file); err != nil {
		return nil, "", err
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
	made := file.Env
	for _, key := range [...]string{"_", "python", "venv"} {
		table, _ := made.(map[string]any)
		made = table[key]
	}
	if table, ok := made.(map[string]any); ok {
		made = table["path"]
	}
	venv, _ = made.(string)
	return versions, venv, nil
}

// installed is the directory of a version: the one of that name, or else the
// newest release that begins with it, as pyenv and mise have it. A name that
// would leave the directory is none.
func installed(installs, version string) string {
	if path, ok := strings.CutPrefix(version, "path:"); ok && filepath.IsAbs(path) {
		return path
	}
	version = strings.Replace(version, "ref:", "ref-", 1)
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

// managed finds the newest Python among what version managers have installed that
// satisfies the requirements, whichever is selected. Those that do not are one attempt.
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

// newestFirst lists the names in a directory, by the numbers in them.
func newestFirst(dir string) []string {
	entries, _ := bounded.Dir(dir)
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	slices.SortStableFunc(names, func(a, b string) int { return slices.Compare(numbers(b), numbers(a)) })
	return names
}

// numbers are the numbers in a text.
func numbers(text string) (list []int) {
	for digits := range strings.FieldsFuncSeq(text, func(c rune) bool { return c < '0' || c > '9' }) {
		n, _ := strconv.Atoi(digits)
		list = append(list, n)
	}
	return list
}

// parents are dir and the directories above it.
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
