package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// isPlugin reports whether a directory is a plugin, even one with a mistake.
func isPlugin(dir string) bool {
	abs, err := filepath.Abs(dir)
	if err != nil || hasInit(abs) {
		return true
	}
	f, err := readDirectory(abs)
	return err != nil || len(f.manifests) > 0
}

// Expand lists the plugins that a path names. If the path is a pattern of [filepath.Match], these
// are its matches. If it is a directory that is not a plugin itself, these are its plugin
// directories and Python files. Otherwise it is the path itself. Expand skips hidden files. In a
// directory it also skips private and generated files, tests and setup.py. It starts no process.
func Expand(path string) []string {
	info, err := os.Stat(path)
	if err != nil && strings.ContainsAny(path, "*?[") {
		matches, _ := filepath.Glob(path) // none if the pattern is malformed
		matches = slices.DeleteFunc(matches, func(match string) bool {
			info, err := os.Stat(match)
			return err != nil || info.IsDir() && !isPlugin(match) || strings.HasPrefix(filepath.Base(match), ".")
		})
		if len(matches) > 0 {
			return matches
		}
	}
	if _, isModule := ModuleOf(path); isModule || err != nil || !info.IsDir() || isPlugin(path) {
		return []string{path}
	}
	entries, _ := bounded.Dir(path) // none if it cannot be read, which Resolve reports
	var all []string
	for _, entry := range entries {
		name := entry.Name()
		path := filepath.Join(path, name)
		switch info, err := os.Stat(path); {
		case err != nil, strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"):
		case info.IsDir() && isPlugin(path), info.Mode().IsRegular() && isPython(name) && !isHelper(name):
			all = append(all, path)
		}
	}
	if len(all) == 0 {
		return []string{path}
	}
	return all
}

// isHelper reports whether a file has a name that plugins never have, such as the name of a test.
func isHelper(name string) bool {
	for _, pattern := range []string{"test_*", "*_test.py", "conftest.py", "setup.py", "*_pb2.py", "*_pb2_grpc.py"} {
		if ok, _ := filepath.Match(pattern, name); ok {
			return true
		}
	}
	return false
}
