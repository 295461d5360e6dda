package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// errNoManifest marks the error of a directory that is not a plugin.
var errNoManifest = errors.New("no manifest")

// Expand lists the plugins that a path names. The path may be a pattern of [filepath.Match], or a
// directory of plugins. Expand starts no process.
func Expand(path string) ([]string, error) {
	if _, isModule := ModuleOf(path); isModule {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return inDirectory(path), nil
	}
	if err == nil || !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return nil, &Error{Message: fmt.Sprintf("pattern %q: %v", path, err)}
	}
	var all []string
	for _, match := range matches {
		if isHidden(match) && !isHidden(path) {
			continue
		}
		if info, err := os.Stat(match); err == nil && (!info.IsDir() || isPlugin(match)) {
			all = append(all, match)
		}
	}
	if len(all) == 0 {
		return nil, &Error{Message: fmt.Sprintf("no plugin matches %q", path)}
	}
	return all, nil
}

func isHidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// isPlugin reports whether a directory is a plugin, even one with a mistake.
func isPlugin(dir string) bool {
	abs, err := filepath.Abs(dir)
	if err == nil {
		_, err = resolveDir(abs)
	}
	return !errors.Is(err, errNoManifest)
}

// inDirectory lists the plugins in a directory: the directory if it is a plugin, else its plugin
// directories and Python files. It skips hidden, private and generated files, tests and setup.py.
// If nothing is left, it returns the directory.
func inDirectory(dir string) []string {
	if isPlugin(dir) {
		return []string{dir}
	}
	entries, _ := bounded.Dir(dir) // none if it cannot be read, which Resolve reports
	var all []string
	for _, entry := range entries {
		name := entry.Name()
		path := filepath.Join(dir, name)
		switch info, err := os.Stat(path); {
		case err != nil, isHidden(name), strings.HasPrefix(name, "_"):
		case info.IsDir() && isPlugin(path), info.Mode().IsRegular() && isPython(name) && !isHelper(name):
			all = append(all, path)
		}
	}
	if len(all) == 0 {
		return []string{dir}
	}
	return all
}

// isHelper reports whether plugins never have a file's name.
func isHelper(name string) bool {
	for _, pattern := range []string{"test_*", "*_test.py", "conftest.py", "setup.py", "*_pb2.py", "*_pb2_grpc.py"} {
		if ok, _ := filepath.Match(pattern, name); ok {
			return true
		}
	}
	return false
}
