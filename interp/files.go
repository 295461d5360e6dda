package interp

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// maxFile bounds the bytes that are read from a small file.
const maxFile = 64 << 10

// config contains the keys of a pyvenv.cfg that pyplug uses.
type config struct {
	version        Version
	implementation string
	home           string // the directory of the base Python
	system         bool   // the environment also has the packages of the base Python
	denied         error  // why the file cannot be read
}

// findConfig looks for pyvenv.cfg as Python does: in the program's directory without following
// links, then one directory up (PEP 405). env is the directory that contains it, or "".
func findConfig(path string) (cfg config, env string) {
	dir := filepath.Dir(path)
	for _, env := range [...]string{dir, filepath.Dir(dir)} {
		text, err := bounded.Head(filepath.Join(env, "pyvenv.cfg"), maxFile)
		switch {
		case err == nil:
			return parseConfig(text), env
		case errors.Is(err, fs.ErrPermission):
			return config{denied: err}, env
		}
	}
	return config{}, ""
}

// systemPackages is the only key whose last occurrence counts, as in Python's site module.
const systemPackages = "include-system-site-packages"

// parseConfig reads a pyvenv.cfg and ignores mistakes, as Python does. For other keys the
// first occurrence counts, because the value of "command" may span lines that look like keys. Two
// keys name the version: version (venv) and version_info (virtualenv, uv).
func parseConfig(text string) config {
	keys := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if _, twice := keys[key]; ok && (!twice || key == systemPackages) {
			keys[key] = strings.TrimSpace(value)
		}
	}
	system, found := keys[systemPackages]
	cfg := config{
		implementation: strings.ToLower(keys["implementation"]),
		home:           keys["home"],
		system:         !found || strings.EqualFold(system, "true"), // site.py has the same rule
	}
	cfg.version = parseVersion(cmp.Or(keys["version"], keys["version_info"]))
	return cfg
}

// patchLevel returns the full version of the installation at prefix, from the C header. minor is
// its known minor version.
func patchLevel(prefix string, minor Version) Version {
	name := "python" + minor.minor().String()
	dirs := []string{name, name + "t"}
	if runtime.GOOS == "windows" {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		if v := headerVersion(filepath.Join(prefix, "include", dir, "patchlevel.h")); v.sameMinor(minor) {
			return v
		}
	}
	return Version{}
}

// headerVersion reads PY_VERSION from a patchlevel.h.
func headerVersion(path string) Version {
	text, err := bounded.Head(path, maxFile)
	if err != nil {
		return Version{}
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "#define" && words[1] == "PY_VERSION" {
			return parseVersion(strings.Trim(words[2], `"`))
		}
	}
	return Version{}
}
