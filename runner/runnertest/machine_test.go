package runnertest

import (
	"fmt"
	"testing"
)

// TestMachine prints which tools this machine has and which tests are skipped. `make test` runs it
// first, in this directory, so that go test shows the output.
func TestMachine(t *testing.T) {
	python, why := findPython()
	if python.path == "" {
		fmt.Println("skipped: every test that runs Python:", why)
		skipWithout(t, "python", why)
	}
	fmt.Println("python", python.version, python.path)
	path, why := findGRPCIO()
	if path == "" {
		fmt.Println("skipped: every test of a gRPC plugin in Python, because there is no grpcio:", why)
		skipWithout(t, "grpcio", why)
	}
	fmt.Println("grpcio", path)
}
