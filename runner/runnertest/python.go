package runnertest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/proc"
)

// Python returns the absolute path of a real Python, never of a shim. A test
// that needs one skips where there is none, and fails when
// PYPLUG_TEST_REQUIRE lists "python". PYPLUG_TEST_PYTHON names one.
func Python(t testing.TB) string {
	t.Helper()
	path, why := findPython()
	if path == "" {
		Lacks(t, "python", why)
	}
	return path
}

// Lacks skips a test that needs what the machine does not have, or fails it
// when PYPLUG_TEST_REQUIRE lists that.
func Lacks(t testing.TB, what, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("PYPLUG_TEST_REQUIRE"), ","), what) {
		t.Fatalf("needs %s, which PYPLUG_TEST_REQUIRE wants: %s", what, why)
	}
	t.Skipf("needs %s: %s", what, why)
}

var findPython = sync.OnceValues(func() (path, why string) {
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
		if path := realPython(candidate); path != "" {
			return path, ""
		}
		why = "not a working Python 3.8 or later: " + candidate
	}
	if why == "" {
		why = "no " + name + " on PATH"
	}
	return "", why
})

// realPython asks a Python, or a shim, for its path; empty when it is none or
// older than 3.8.
func realPython(path string) string {
	out, err := proc.Run(context.Background(), proc.Tool{
		Path: path, Env: os.Environ(),
		Args: []string{"-c", "import sys; assert sys.version_info >= (3, 8); print(sys.executable)"},
	})
	if err != nil || out.Exit.Code != 0 || out.Exit.Signal != "" {
		return ""
	}
	return strings.TrimSpace(string(out.Stdout))
}

// Pythons returns every real Python 3.8 or later that the machine has: those of
// PATH and those of pyenv.
func Pythons(t testing.TB) []string {
	t.Helper()
	found := []string{Python(t)}
	root := os.Getenv("PYENV_ROOT")
	if root == "" {
		home, _ := os.UserHomeDir() // without one there is nothing of pyenv
		root = filepath.Join(home, ".pyenv")
	}
	candidates, _ := filepath.Glob(filepath.Join(root, "versions", "3.*", "bin", "python3")) // the pattern is right
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !strings.Contains(dir, "shims") {
			more, _ := filepath.Glob(filepath.Join(dir, "python3.*"))
			candidates = append(candidates, more...)
		}
	}
	for _, c := range candidates {
		if path := realPython(c); path != "" && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found
}
