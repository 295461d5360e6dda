package interp

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// SearchPath lists the directories in which i looks for modules after the script's own directory.
// First come those of PYTHONPATH, then those of installed packages and the directories that their
// .pth files name. environ is shaped like os.Environ(). SearchPath omits the standard library and
// editable installs that map modules by code. If the Version is unknown, it lists only PYTHONPATH.
func (i Interpreter) SearchPath(environ []string) []string {
	vars := Variables(environ)
	dirs := slices.DeleteFunc(filepath.SplitList(vars["PYTHONPATH"]), func(dir string) bool { return !filepath.IsAbs(dir) })
	if !i.Version.Known() {
		return dirs
	}
	for _, dir := range existing(i.sites(vars)) {
		dirs = append(append(dirs, dir), pathFiles(dir)...)
	}
	return dirs
}

// sites lists the directories of installed packages in the order of Python's site module.
func (i Interpreter) sites(vars map[string]string) []string {
	real := bounded.Real(i.Path)
	var dirs []string
	if cfg, env := findConfig(i.Path); env != "" {
		dirs = i.packages(env)
		if !cfg.system {
			return dirs
		}
		real = bounded.Real(filepath.Join(cfg.home, filepath.Base(real)))
	}
	if vars["PYTHONNOUSERSITE"] == "" {
		dirs = append(dirs, i.userPackages(vars)...)
	}
	return append(dirs, i.packages(prefixOf(real))...)
}

// packages lists the package directories of an environment or installation. Debian's Python uses
// dist-packages, Fedora's lib64. A free-threaded Python has a t after its version.
func (i Interpreter) packages(prefix string) []string {
	minor := i.Version.minor().String()
	names := []string{"local/lib/python" + minor + "/dist-packages", "lib/python3/dist-packages"}
	switch {
	case runtime.GOOS == "windows":
		names = []string{"Lib/site-packages"}
	case i.Implementation == "pypy":
		names = []string{"lib/pypy" + minor + "/site-packages", "lib64/pypy" + minor + "/site-packages"}
	default:
		for _, lib := range [...]string{"lib", "lib64"} {
			python := lib + "/python" + minor
			names = append(names, python+"/dist-packages", python+"/site-packages", python+"t/site-packages")
		}
	}
	dirs := make([]string, len(names))
	for i, name := range names {
		dirs[i] = filepath.Join(prefix, filepath.FromSlash(name))
	}
	return dirs
}

// userPackages lists the directories of the user's own packages.
func (i Interpreter) userPackages(vars map[string]string) []string {
	base, minor := vars["PYTHONUSERBASE"], i.Version.minor().String()
	switch {
	case runtime.GOOS == "windows":
		if base == "" {
			base = below(vars["APPDATA"], "Python")
		}
		return []string{below(base, "Python"+strings.ReplaceAll(minor, ".", ""), "site-packages")}
	case base != "":
		return i.packages(base)
	case runtime.GOOS == "darwin": // framework builds have their own directory
		return append(i.packages(below(vars["HOME"], ".local")),
			below(vars["HOME"], "Library", "Python", minor, "lib", "python", "site-packages"))
	}
	return i.packages(below(vars["HOME"], ".local"))
}

// existing returns the directories that exist, each once even if several links lead there.
func existing(dirs []string) []string {
	found := []string{}
	var seen []os.FileInfo
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if err == nil && info.IsDir() && filepath.IsAbs(dir) && !slices.ContainsFunc(seen, same) {
			found, seen = append(found, dir), append(seen, info)
		}
	}
	return found
}

// maxPathFiles bounds how many .pth files of a directory are read.
const maxPathFiles = 300

// pathFiles returns the directories that the .pth files of dir name, one per line. It skips lines
// that Python would execute.
func pathFiles(dir string) []string {
	entries, _ := bounded.Dir(dir) // sorted; if there is an error, the entries read before it
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return !strings.HasSuffix(e.Name(), ".pth") || e.Name()[0] == '.'
	})
	var found []string
	for _, entry := range entries[:min(len(entries), maxPathFiles)] {
		text, _ := bounded.Head(filepath.Join(dir, entry.Name()), maxFile) // if there is an error, the text read before it
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, " \t\r\n")
			if line == "" || line[0] == '#' || strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "import\t") {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(dir, line)
			}
			if info, err := os.Stat(line); err == nil && info.IsDir() {
				found = append(found, filepath.Clean(line))
			}
		}
	}
	return found
}
