package runnertest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Python returns the absolute path of a real Python, never of a shim: that of
// PYPLUG_TEST_PYTHON, or python3. Without one, the test skips, or fails if
// PYPLUG_TEST_REQUIRE lists "python".
func Python(t T) string {
	t.Helper()
	found, why := findPython()
	if found.path == "" {
		skipWithout(t, "python", why)
	}
	return found.path
}

// T is a test of package testing or of testscript.
type T interface {
	Helper()
	Skip(...any)
	Fatal(...any)
}

// skipWithout skips a test that needs what this machine does not have, or fails it
// if PYPLUG_TEST_REQUIRE lists that.
func skipWithout(t T, what, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("PYPLUG_TEST_REQUIRE"), ","), what) {
		t.Fatal(fmt.Sprintf("needs %s, which PYPLUG_TEST_REQUIRE requires: %s", what, why))
	}
	t.Skip(fmt.Sprintf("needs %s: %s", what, why))
}

// Root returns the root directory of this module, above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir, err
		}
	}
}

// python is the absolute path of a Python and its version, such as 3.11.2.
type python struct{ path, version string }

var findPython = sync.OnceValues(func() (found python, why string) {
	name := os.Getenv("PYPLUG_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	for _, dir := range append([]string{""}, filepath.SplitList(os.Getenv("PATH"))...) {
		candidate := filepath.Join(dir, name)
		if !filepath.IsAbs(candidate) {
			continue
		}
		if info, err := os.Stat(candidate); err != nil || info.IsDir() {
			continue
		}
		if found = realPython(candidate); found.path != "" {
			return found, ""
		}
		why = "not a working Python 3.8 or later: " + candidate
	}
	if why == "" {
		why = "no " + name + " on PATH"
	}
	return found, why
})

// realPython runs a Python or a shim to find out its real path and version. The
// result is empty if it is no Python or older than 3.8.
func realPython(path string) python {
	out, err := output("", path, "-c", "import sys; v = sys.version_info; assert v >= (3, 8); print('%d.%d.%d' % v[:3], sys.executable)")
	if err != nil {
		return python{}
	}
	version, path, _ := strings.Cut(out, " ")
	return python{path, version}
}

// Pythons returns a real Python of each version 3.8 or later, such as 3.12, that is on
// PATH or in pyenv.
func Pythons(t testing.TB) []string {
	t.Helper()
	paths := []string{Python(t)}
	root := os.Getenv("PYENV_ROOT")
	if root == "" {
		home, _ := os.UserHomeDir() // without a home there is no pyenv
		root = filepath.Join(home, ".pyenv")
	}
	candidates, _ := filepath.Glob(filepath.Join(root, "versions", "3.*", "bin", "python3")) // the pattern is right
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !strings.Contains(dir, "shims") {
			more, _ := filepath.Glob(filepath.Join(dir, "python3.*"))
			candidates = append(candidates, more...)
		}
	}
	first, _ := findPython()
	versions := []string{first.minor()}
	for _, c := range candidates {
		p := realPython(c)
		if p.path != "" && !slices.Contains(versions, p.minor()) {
			paths, versions = append(paths, p.path), append(versions, p.minor())
		}
	}
	return paths
}

// minor is the version without its last number.
func (p python) minor() string { return p.version[:max(0, strings.LastIndexByte(p.version, '.'))] }
