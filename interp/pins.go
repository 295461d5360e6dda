package interp

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// pinFile is the file that pins the Python of a directory.
const pinFile = ".python-version"

// pin is an entry of a file that pins versions: a version, specifiers, the name of a version or an
// environment of a version manager, or "system".
type pin struct {
	text string
	line int // from 1
}

// system is the pin that selects the Python outside the version manager.
const system = "system"

// maxPins is the number of pins that are read from one file.
const maxPins = 20

// pinsIn reads the pins in a file. It returns none if the file does not exist.
func pinsIn(path string) (pins []pin, broken *Attempt) {
	text, err := bounded.Head(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, bounded.ErrIrregular) {
		return nil, statError(path, err).from(SourcePin)
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) > 0 && isSpec(words[0]) { // specifiers may have spaces between them
			words = []string{strings.TrimSpace(line)}
		}
		for _, word := range words[:min(len(words), maxPins-len(pins))] {
			pins = append(pins, pin{word, number})
		}
	}
	return pins, nil
}

// textsOf returns the texts of pins.
func textsOf(pins []pin) []string {
	texts := make([]string, len(pins))
	for i, p := range pins {
		texts[i] = p.text
	}
	return texts
}

// pinned looks for the Python that a file of the project pins. It must be installed and satisfy
// the requirements. Another minor version never replaces a missing one.
func (f *finder) pinned() (Interpreter, *Attempt) {
	for _, dir := range f.Project.Dirs {
		file := filepath.Join(dir, pinFile)
		pins, broken := pinsIn(file)
		if broken == nil {
			broken = f.unclear(pins, file)
		}
		switch {
		case broken != nil:
			return Interpreter{}, broken
		case len(pins) > 0:
			return f.pinnedTo(textsOf(pins), file)
		}
	}
	return Interpreter{}, nil
}

// pinName matches a pin that may be a name or a path, such as pyenv's 3.12.0/envs/NAME. No other
// text that starts like a version is a name or a path.
var pinName = expression(`^(?:[\pL_.]|~?/|\d+[\pL_@-]|[\d.]+/)[\pL\pN._+@/\\:-]*$`)

// unclear returns an error for the first pin that is not a version or a name, or nil.
func (f *finder) unclear(pins []pin, file string) *Attempt {
	for _, p := range pins {
		if _, isVersion := parsePin(p.text); isVersion || pinName().MatchString(p.text) || installed(f.pyenvVersions(), p.text) != "" {
			continue
		}
		broken := problem(BadPin, fmt.Sprintf("%s:%d", file, p.line), "is %q, expected a version such as 3.12, specifiers such as >=3.11, or a name", p.text)
		broken.Fix = schema.Hintf("correct the pin, or name a Python with %s", schema.Setting("python"))
		return broken.from(SourcePin)
	}
	return nil
}

// pinnedTo returns the first of the versions that is installed. It skips versions that the
// requirements exclude, and names that no version manager has. If a later entry is system, it also
// skips versions that are not installed.
func (f *finder) pinnedTo(versions []string, file string) (Interpreter, *Attempt) {
	wanted, orSystem := "", slices.Contains(versions, system)
	skip := func(code Code, version, why, fix string) {
		skipped := f.skip(code, version, SourcePin, "is pinned by "+file+why)
		skipped.Fix, skipped.surprise = schema.Hintf(fix, file), !orSystem
	}
	for _, version := range versions {
		if version == system {
			return Interpreter{}, nil
		}
		r, isVersion := parsePin(version)
		if isVersion && f.excludes(r) {
			skip(OtherVersion, version, ", and requires-python excludes it", "change %s or requires-python")
			continue
		}
		if found := f.install(version, r, isVersion); found.Path != "" {
			return found, nil
		}
		if isVersion && wanted == "" && !orSystem {
			wanted = r.name
			continue
		}
		skip(PinNotInstalled, version, " but not installed", "make it with a version manager, or change %s")
	}
	if wanted == "" {
		return Interpreter{}, nil
	}
	broken := problem(PinNotInstalled, file, "pins Python %s, which is not installed", strings.Join(versions, ", "))
	broken.Source, broken.wanted = SourcePin, wanted
	return Interpreter{}, broken
}

// excludes reports whether the requirements exclude every Python of r.
func (f *finder) excludes(r request) bool {
	return !satisfiable(append(f.clauses(), r.bound("").clauses...))
}

// install looks for a version: by its name among the versions of pyenv, on PATH, then any patch of
// the same minor version. Unlike pyenv it accepts another patch, because packages work with every
// patch, and files name the patch that somebody happened to have.
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

// usualDirs lists directories that contain Pythons and may be missing in PATH.
var usualDirs = map[string][]string{
	"linux":  {"/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin", "/usr/bin"},
	"darwin": {"/opt/homebrew/bin", "/usr/local/bin", "/Library/Frameworks/Python.framework/Versions/Current/bin", "/usr/bin"},
}

// systemDirs returns the directories of the system's Pythons that are not on PATH.
func (f *finder) systemDirs() []string {
	var dirs []string
	if f.systemRoot == "" {
		dirs = registered()
	}
	for _, dir := range usualDirs[runtime.GOOS] {
		dirs = append(dirs, filepath.Join(f.systemRoot, dir))
	}
	return slices.DeleteFunc(existing(dirs), func(dir string) bool {
		return slices.ContainsFunc(f.pathDirs(), func(searched string) bool { return SamePath(searched, dir) })
	})
}

// anyInstalled examines the versions of managers, then the system's Pythons.
func (f *finder) anyInstalled() Interpreter {
	if found := f.managed(); found.Path != "" {
		return found
	}
	return f.search(f.names(), f.systemDirs(), SourceSystem)
}

// installed looks for any Python that is not on PATH.
func (f *finder) installed() (Interpreter, *Attempt) { return f.anyInstalled(), nil }
