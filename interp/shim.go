package interp

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// shimOf names the version manager whose shim path is: "pyenv", "asdf", "mise",
// "an unknown manager", or empty when it is none.
func shimOf(path, real string) string {
	if filepath.Base(real) == "mise" {
		return "mise"
	}
	if filepath.Base(filepath.Dir(path)) != "shims" && filepath.Base(filepath.Dir(real)) != "shims" {
		return ""
	}
	text, err := readHead(path, 2048)
	switch {
	case err != nil || !strings.HasPrefix(text, "#!"):
		return "an unknown manager"
	case strings.Contains(text, "pyenv"):
		return "pyenv"
	case strings.Contains(text, "asdf"):
		return "asdf"
	case strings.Contains(text, "mise"):
		return "mise"
	}
	return "an unknown manager"
}

// selection is what a version manager is configured to use.
type selection struct {
	versions []string
	origin   string // the variable or file that says so
}

// followShim finds the program that the manager's shim at path would run. The
// reason says why there is none.
func (f *finder) followShim(manager, path string, loose bool) (python, reason string) {
	var installs string
	var chosen selection
	switch manager {
	case "pyenv":
		root := f.pyenvRoot(path)
		installs, chosen = filepath.Join(root, "versions"), f.pyenvSelection(root)
	case "asdf":
		installs, chosen = filepath.Join(f.dataDir("ASDF_DATA_DIR", path), "installs", "python"), f.asdfSelection()
	case "mise":
		installs, chosen = filepath.Join(f.dataDir("MISE_DATA_DIR", path), "installs", "python"), f.miseSelection()
	default:
		return "", "where it leads cannot be known without running it"
	}
	name := filepath.Base(path)
	python, reason = pick(installs, name, manager, chosen)
	if reason != "" && loose {
		if newest := f.newestInstalled(installs, name); newest != "" {
			return newest, ""
		}
	}
	return python, reason
}

// pick finds name in the first selected version that has it.
func pick(installs, name, manager string, chosen selection) (python, reason string) {
	if len(chosen.versions) == 0 {
		return "", manager + " selects no version"
	}
	for _, version := range chosen.versions {
		if version == "system" {
			return "", manager + " selects the system's python (" + chosen.origin + ")"
		}
		dir := installed(installs, version)
		if dir == "" {
			return "", manager + " has no " + version + ", which " + chosen.origin + " asks for"
		}
		python := filepath.Join(dir, "bin", name)
		if _, err := os.Stat(python); err == nil {
			return python, ""
		}
	}
	return "", manager + " selects " + strings.Join(chosen.versions, ", ") + " (" + chosen.origin + "), which has no " + name
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
	entries, _ := os.ReadDir(installs)
	for _, wanted := range [...]string{version, strings.TrimPrefix(version, "python-")} {
		newest := ""
		for _, entry := range entries {
			rest, ok := strings.CutPrefix(entry.Name(), wanted)
			switch {
			case !ok && wanted != "latest":
			case rest == "":
				return filepath.Join(installs, entry.Name())
			case releaseRest().MatchString(rest) && (newest == "" || newer(entry.Name(), newest)):
				newest = entry.Name()
			}
		}
		if newest != "" {
			return filepath.Join(installs, newest)
		}
	}
	return ""
}

// releaseRest matches what may follow a prefix: numbers, no "rc1", "-dev" or "t".
var releaseRest = expression(`^[.\-]\d+([.\-]\d+)*$`)

// newer compares the numbers in two names of versions.
func newer(a, b string) bool {
	numbers := func(s string) []int {
		var out []int
		for digits := range strings.FieldsFuncSeq(s, func(c rune) bool { return c < '0' || c > '9' }) {
			n, _ := strconv.Atoi(digits)
			out = append(out, n)
		}
		return out
	}
	return slices.Compare(numbers(a), numbers(b)) > 0
}

// newestInstalled is name in the newest installed release that satisfies the
// requirements: a user who asks for python3.12 by name wants it even if the manager has
// selected another.
func (f *finder) newestInstalled(installs, name string) string {
	entries, _ := os.ReadDir(installs)
	best := ""
	for _, entry := range entries {
		v := parseVersion(entry.Name())
		refused, _ := f.against(v)
		if !v.Known() || v.Pre != "" || v.Patch < 0 || refused != nil || best != "" && !newer(entry.Name(), best) {
			continue
		}
		if _, err := os.Stat(filepath.Join(installs, entry.Name(), "bin", name)); err == nil {
			best = entry.Name()
		}
	}
	if best == "" {
		return ""
	}
	return filepath.Join(installs, best, "bin", name)
}

// dataDir is a manager's directory: the variable, else the one that holds shims.
func (f *finder) dataDir(variable, path string) string {
	if dir := f.vars[variable]; filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Dir(filepath.Dir(path))
}
