package grpcplugin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// requirements are what the plugins of the tests import.
var requirements = []string{"grpcio", "grpcio-health-checking", "grpcio-reflection", "protobuf"}

// grpcio returns a Python that has grpcio: that of a venv under testdata, which
// is made once, else one of the system's. A test that needs one skips where
// neither can be had, and fails when PYPLUG_TEST_REQUIRE lists "grpcio".
func grpcio(t testing.TB) string {
	t.Helper()
	python := runnertest.Python(t)
	once.Do(func() { found, why = findGRPCIO(python) })
	if found == "" {
		runnertest.Lacks(t, "grpcio", why)
	}
	return found
}

var (
	once       sync.Once
	found, why string
)

func findGRPCIO(python string) (path, why string) {
	home, err := filepath.Abs("../../testdata/.venv")
	if err != nil {
		return "", err.Error()
	}
	venv := filepath.Join(home, "grpcio-"+strings.ReplaceAll(versionOf(python), ".", "-"))
	path = filepath.Join(venv, "bin", "python3")
	if imports(path) {
		return path, ""
	}
	venvErr := makeVenv(python, home, venv)
	if venvErr == nil && imports(path) {
		return path, ""
	}
	for _, system := range []string{python, "/usr/bin/python3"} {
		if imports(system) {
			return system, ""
		}
	}
	return "", fmt.Sprintf("no Python here has it, and a venv cannot be made: %v", venvErr)
}

// makeVenv makes the venv elsewhere and puts it into its place, so that several
// tests at once do not disturb each other.
func makeVenv(python, home, venv string) error {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(home, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := tool(python, "-m", "venv", temp); err != nil {
		return err
	}
	install := append([]string{"-m", "pip", "install", "--quiet"}, requirements...)
	if err := tool(filepath.Join(temp, "bin", "python3"), install...); err != nil {
		return err
	}
	if err := os.Rename(temp, venv); err != nil && !imports(filepath.Join(venv, "bin", "python3")) {
		return err
	}
	return nil
}

func tool(path string, args ...string) error {
	out, err := proc.Run(context.Background(), proc.Tool{Path: path, Args: args, Env: os.Environ(), Limit: 5 * time.Minute})
	if err != nil {
		return err
	}
	if out.Exit.Code != 0 {
		return fmt.Errorf("%s %s: exit code %d: %.500s", path, strings.Join(args, " "), out.Exit.Code, out.Stderr)
	}
	return nil
}

func imports(python string) bool {
	if _, err := os.Stat(python); err != nil {
		return false
	}
	return tool(python, "-c", "import grpc, grpc_health.v1, grpc_reflection.v1alpha") == nil
}

func versionOf(python string) string {
	out, err := proc.Run(context.Background(), proc.Tool{Path: python, Env: os.Environ(),
		Args: []string{"-c", "import platform; print(platform.python_version(), end='')"}})
	if err != nil {
		return "unknown"
	}
	return string(out.Stdout)
}
