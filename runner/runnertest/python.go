package runnertest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Python returns the absolute path of a real Python, never of a shim: the one of
// PYPLUG_TEST_PYTHON, or python3. Without a Python, the test is skipped, or fails if
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

// skipWithout skips a test because this machine lacks something, or fails it if PYPLUG_TEST_REQUIRE
// lists that.
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
		why = "not a working Python 3.9 or later: " + candidate
	}
	if why == "" {
		why = "no " + name + " on PATH"
	}
	return found, why
})

// realPython runs a Python or a shim to find out its real path and version. The result is empty if
// it is not a Python or is older than 3.9.
func realPython(path string) python {
	out, err := output("", path, "-c", "import sys; v = sys.version_info; assert v >= (3, 9); print('%d.%d.%d' % v[:3], sys.executable)")
	if err != nil {
		return python{}
	}
	version, path, _ := strings.Cut(out, " ")
	return python{path, version}
}

// Pythons returns a real Python of each version, such as 3.12, from 3.9 on, that is on PATH or in
// pyenv: the result of [Python], then the others from the oldest to the newest.
func Pythons(t testing.TB) []string {
	t.Helper()
	paths := []string{Python(t)}
	root := os.Getenv("PYENV_ROOT")
	if root == "" {
		home, _ := os.UserHomeDir() // without a home there is no pyenv
		root = filepath.Join(home, ".pyenv")
	}
	candidates, _ := filepath.Glob(filepath.Join(root, "versions", "3.*", "bin", "python3")) // the pattern is valid
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !strings.Contains(dir, "shims") {
			more, _ := filepath.Glob(filepath.Join(dir, "python3.*"))
			candidates = append(candidates, more...)
		}
	}
	first, _ := findPython()
	others := map[int]string{}
	for _, c := range candidates {
		if p := realPython(c); p.path != "" && p.minor() != first.minor() && others[p.minor()] == "" {
			others[p.minor()] = p.path
		}
	}
	for _, minor := range slices.Sorted(maps.Keys(others)) {
		paths = append(paths, others[minor])
	}
	return paths
}

// minor is the second number of the version.
func (p python) minor() (minor int) {
	_, _ = fmt.Sscanf(p.version, "3.%d", &minor) // 0 if there is none
	return minor
}

// requirements lists the packages that the tests' gRPC plugins import. They have no
// versions: no release supports both the oldest and the newest Python.
var requirements = []string{"grpcio", "grpcio-health-checking", "grpcio-reflection", "grpcio-tools", "protobuf"}

// GRPCIO returns a Python that has grpcio with health and reflection: the Python of a venv in
// testdata, which the first test creates from PyPI, or else one of the system. Without either, the
// test is skipped, or fails if PYPLUG_TEST_REQUIRE lists "grpcio".
func GRPCIO(t T) string {
	t.Helper()
	path, why := findGRPCIO()
	if path == "" {
		skipWithout(t, "grpcio", why)
	}
	return path
}

var findGRPCIO = sync.OnceValues(func() (path, why string) {
	python, why := findPython()
	if python.path == "" {
		return "", why
	}
	own, err := venvOf(python, "grpcio", requirements, imports)
	if err == nil {
		return own, ""
	}
	for _, system := range []string{python.path, "/usr/bin/python3"} {
		if imports(system) == nil {
			return system, ""
		}
	}
	return "", fmt.Sprintf("no Python here has it, and a venv cannot be created: %v", err)
})

func imports(python string) error {
	return tool(python, "-c", "import grpc, grpc_health.v1.health, grpc_reflection.v1alpha.reflection")
}

// together lists packages that share a venv, because each venv takes seconds to create.
var together = [][]string{
	{"numpy==2.4.6", "pandas==3.1.1", "sqlalchemy==2.1.9", "pydantic==2.10.6", "attrs==25.1.0", "msgspec==0.19.0", "click==8.5.1", "typer==0.29.2", "fastapi==0.165.0", "packaging==26.0", "virtualenv==20.29.3", "uv==0.13.9"},
	{
		"uv==0.13.9", "virtualenv==21.15.8", "poetry==2.5.1", "pipenv==2026.10.3",
		"pdm==2.29.3", "hishel==1.2.1", "httpx==0.28.1", "unearth==0.18.2", // pdm fails with newer versions
	},
	{"python-plugin==0.1.0", "hc-go-plugin-server==0.1.1", "funppy==0.5.2", "betterproto==2.0.0b7", "saturn-bot==0.7.0"},
}

// Packages returns a Python that has packages from PyPI, such as "tf==1.2.0": the Python of a venv
// in testdata, which the first test creates. If they cannot be installed, the test is skipped, or
// fails if PYPLUG_TEST_REQUIRE lists "pypi".
func Packages(t T, packages ...string) string {
	t.Helper()
	for _, set := range together {
		if !slices.ContainsFunc(packages, func(p string) bool { return !slices.Contains(set, p) }) {
			packages = set
			break
		}
	}
	python, why := findPython()
	if python.path != "" {
		own, err := venvOf(python, strings.Join(packages, "+"), packages, func(string) error { return nil })
		if err == nil {
			return own
		}
		why = err.Error()
	}
	skipWithout(t, "pypi", why)
	return ""
}

// venvOf returns the Python of a venv with these packages. check must accept the venv after it was
// created. Concurrent test processes wait for the one that creates it.
func venvOf(p python, name string, packages []string, check func(python string) error) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	home := filepath.Join(root, "testdata", ".venv")
	venv := filepath.Join(home, name+"-py"+p.version)
	own := pythonIn(venv)
	if isComplete(venv, packages) {
		return own, nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(venv + ".lock").Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	if isComplete(venv, packages) {
		return own, nil
	}
	if err = createVenv(p.path, venv, packages); err == nil {
		err = check(own)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(venv, contents), []byte(strings.Join(packages, "\n")), 0o644)
	}
	if err != nil {
		os.RemoveAll(venv)
		return "", err
	}
	return own, nil
}

// contents is the file that marks a complete venv.
const contents = "pyplug-contents"

func isComplete(venv string, packages []string) bool {
	text, err := os.ReadFile(filepath.Join(venv, contents))
	return err == nil && string(text) == strings.Join(packages, "\n")
}

func createVenv(python, venv string, packages []string) error {
	own := pythonIn(venv)
	install := []string{"-m", "pip", "--python", own, "install", "--quiet", "--retries=2", "--disable-pip-version-check"}
	bare := []string{python, "-m", "venv", "--without-pip", venv} // a venv without pip saves seconds
	ways := [][][]string{
		{bare, slices.Concat([]string{python}, install, packages)},
		{{python, "-m", "venv", venv}, slices.Concat([]string{own}, install, packages)},
	}
	if i := slices.IndexFunc(packages, isUV); i >= 0 { // uv installs many packages in a tenth of pip's time
		uv := []string{filepath.Join(filepath.Dir(own), "uv"), "pip", "install", "--quiet", "--python", own}
		ways = slices.Insert(ways, 0, [][]string{bare, slices.Concat([]string{python}, install, packages[i:i+1]), append(uv, packages...)})
	}
	var err error
	for _, way := range ways {
		err = os.RemoveAll(venv) // the venv may be incomplete
		for _, command := range way {
			if err == nil {
				err = tool(command[0], command[1:]...)
			}
		}
		if err == nil {
			return nil
		}
	}
	return err
}

func isUV(name string) bool { return strings.HasPrefix(name, "uv==") }

// pythonIn returns the path of a venv's Python.
func pythonIn(venv string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venv, "Scripts", "python.exe")
	}
	return filepath.Join(venv, "bin", "python3")
}

// tool runs a program. Its error contains the output of the program on one line, without pip's
// warnings.
func tool(path string, args ...string) error {
	_, err := output("", path, args...)
	return err
}

// output runs a program in a directory and returns its standard output. It does not use proc, which
// would treat processes that other tests left running as its orphans.
func output(dir, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, errs strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &errs, time.Minute
	if err := cmd.Run(); err != nil {
		lines := strings.Split(out.String()+errs.String(), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "WARNING:") })
		return "", fmt.Errorf("%s: %w: %.300s", strings.Join(args[:min(3, len(args))], " "), err, strings.Join(lines, " "))
	}
	return strings.TrimSpace(out.String()), nil
}
