package interp

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// SearchPath lists the directories in which i looks for modules after the script's
// own, as far as files say: those of PYTHONPATH in environ, which is shaped like
// os.Environ(), and those of installed packages with what their .pth files name. The
// standard library is not among them, nor what editable installs map by code. Without
// a Version only PYTHONPATH is known.
func (i Interpreter) SearchPath(environ []string) []string {
	vars := variables(environ)
	var dirs []string
	for _, dir := range filepath.SplitList(vars["PYTHONPATH"]) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	for _, dir := range i.sites(vars) {
		dirs = append(append(dirs, dir), pathFiles(dir)...)
	}
	return dirs
}

// sites are the existing directories of installed packages of i, in the order in
// which Python's site module adds them to the search path.
func (i Interpreter) sites(vars map[string]string) []string {
	if !i.Version.Known() {
		return nil
	}
	cfg, env, inVenv := findConfig(i.Path)
	real := resolve(i.Path)
	var dirs []string
	if inVenv {
		dirs = i.packages(env)
		if !cfg.system {
			return present(dirs)
		}
		if isWithin(resolve(env), real) { // a copy of the Python that it was made from
			real = resolve(filepath.Join(cfg.home, filepath.Base(real)))
		}
	}
	prefix := filepath.Dir(real)
	if runtime.GOOS != "windows" {
		prefix = filepath.Dir(prefix)
	}
	if vars["PYTHONNOUSERSITE"] == "" {
		dirs = append(dirs, i.userPackages(vars)...)
	}
	dirs = append(dirs, i.packages(prefix)...)
	return present(append(dirs, i.debian(prefix)...))
}

// libs are the names that a directory of this version may have below lib.
func (i Interpreter) libs() []string {
	minor := i.Version.minor().String()
	if i.Implementation == "pypy" {
		return []string{"pypy" + minor}
	}
	return []string{"python" + minor, "python" + minor + "t"} // t: free-threaded
}

// packages are the directories that an environment or installation may have.
func (i Interpreter) packages(prefix string) []string {
	if runtime.GOOS == "windows" {
		return []string{filepath.Join(prefix, "Lib", "site-packages")}
	}
	var dirs []string
	for _, lib := range [...]string{"lib", "lib64"} { // the latter is Fedora's
		for _, name := range i.libs() {
			dirs = append(dirs, filepath.Join(prefix, lib, name, "site-packages"))
		}
	}
	return dirs
}

// debian are the directories that Debian's own Python has instead.
func (i Interpreter) debian(prefix string) []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	lib := "python" + i.Version.minor().String()
	return []string{
		filepath.Join(prefix, "local", "lib", lib, "dist-packages"),
		filepath.Join(prefix, "lib", "python3", "dist-packages"),
		filepath.Join(prefix, "lib", lib, "dist-packages"),
	}
}

// userPackages are the directories of what the user installed for himself alone.
func (i Interpreter) userPackages(vars map[string]string) []string {
	root, home := vars["PYTHONUSERBASE"], vars["HOME"]
	switch {
	case runtime.GOOS == "windows":
		if root == "" {
			root = below(vars["APPDATA"], "Python")
		}
		return []string{below(root, fmt.Sprintf("Python%d%d", i.Version.Major, i.Version.Minor), "site-packages")}
	case root == "":
		root = below(home, ".local")
	}
	var dirs []string
	for _, name := range i.libs() {
		dirs = append(dirs, below(root, "lib", name, "site-packages"))
	}
	if runtime.GOOS == "darwin" && vars["PYTHONUSERBASE"] == "" { // a framework's
		dirs = append(dirs, below(home, "Library", "Python", i.Version.minor().String(), "lib", "python", "site-packages"))
	}
	return dirs
}

// present are the directories that exist, each once, whatever links lead there.
func present(dirs []string) []string {
	var found []string
	var seen []os.FileInfo
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) { // a variable that it comes from is not set
			continue
		}
		info, err := os.Stat(dir)
		same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if err != nil || !info.IsDir() || slices.ContainsFunc(seen, same) {
			continue
		}
		found, seen = append(found, dir), append(seen, info)
	}
	return found
}

// isWithin reports whether path is in dir or deeper.
func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// mostPathFiles bounds how many .pth files of a directory are read.
const mostPathFiles = 300

// pathFiles are the directories that the .pth files of dir name, one on each line.
// Lines that Python would execute are skipped.
func pathFiles(dir string) []string {
	var found []string
	entries, _ := os.ReadDir(dir) // sorted, and what was read before an error counts
	read := 0
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".pth") || entry.Name()[0] == '.' || read == mostPathFiles {
			continue
		}
		read++
		file := filepath.Join(dir, entry.Name())
		info, err := os.Stat(file) // a pipe would keep its reader waiting
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, _ := readHead(file, maxFile) // what was read before an error counts
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
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
