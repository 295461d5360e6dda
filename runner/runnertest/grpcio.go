package runnertest

import (
	"fmt"
	"sync"
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
