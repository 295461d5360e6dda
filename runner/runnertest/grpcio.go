package runnertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/pyplug/pyplug/runner/proc"
)

// requirements lists the packages that the tests' gRPC plugins import. They have no
// versions: no release supports both the oldest and the newest Python.
var requirements = []string{"grpcio", "grpcio-health-checking", "grpcio-reflection", "protobuf"}

// GRPCIO returns a Python that has grpcio with health and reflection. It is that of
// a venv in testdata, which the first test creates from PyPI, or else one of the
// system. Without either, the test skips, or fails if PYPLUG_TEST_REQUIRE lists
// "grpcio".
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
	venv, err := venvOf(python)
	if err == nil {
		return pythonIn(venv), ""
	}
	for _, system := range []string{python.path, "/usr/bin/python3"} {
		if imports(system) == nil {
			return system, ""
		}
	}
	return "", fmt.Sprintf("no Python here has it, and a venv cannot be created: %v", err)
})

// venvOf returns the venv of a Python, and creates it if necessary. Concurrent test
// processes wait for the one that creates it.
func venvOf(p python) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	home := filepath.Join(root, "testdata", ".venv")
	venv := filepath.Join(home, "grpcio-py"+p.version)
	if complete(venv) {
		return venv, nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(home, "lock")).Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	if complete(venv) {
		return venv, nil
	}
	if err := createVenv(p.path, venv); err != nil {
		os.RemoveAll(venv)
		return "", err
	}
	return venv, nil
}

// contents is the file that createVenv writes last. Importing grpc instead would
// take each test process longer than most of its tests.
const contents = "pyplug-contents"

func complete(venv string) bool {
	text, err := os.ReadFile(filepath.Join(venv, contents))
	return err == nil && string(text) == strings.Join(requirements, "\n")
}

func createVenv(python, venv string) error {
	if err := os.RemoveAll(venv); err != nil { // perhaps incomplete
		return err
	}
	if err := tool(python, "-m", "venv", venv); err != nil {
		return err
	}
	own := pythonIn(venv)
	install := append([]string{"-m", "pip", "install", "--quiet", "--retries=2", "--disable-pip-version-check"}, requirements...)
	if err := tool(own, install...); err != nil {
		return err
	}
	if err := imports(own); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(venv, contents), []byte(strings.Join(requirements, "\n")), 0o644)
}

// pythonIn returns the path of a venv's Python.
func pythonIn(venv string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venv, "Scripts", "python.exe")
	}
	return filepath.Join(venv, "bin", "python3")
}

func imports(python string) error {
	return tool(python, "-c", "import grpc, grpc_health.v1.health, grpc_reflection.v1alpha.reflection")
}

// tool runs a program. Its error has the output of the program in one line, without
// the warnings of pip.
func tool(path string, args ...string) error {
	out, err := proc.Run(context.Background(), proc.Tool{Path: path, Args: args, Env: os.Environ(), Limit: 5 * time.Minute})
	if err != nil {
		return err
	}
	if out.Exit.Code != 0 || out.Exit.Signal != "" {
		lines := strings.Split(string(append(out.Stdout, out.Stderr...)), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "WARNING:") })
		return fmt.Errorf("%s: %.300s", strings.Join(args[:min(3, len(args))], " "), strings.Join(lines, " "))
	}
	return nil
}
