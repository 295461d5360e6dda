package runnertest

import (
	"fmt"
	"testing"
)

// TestMachine says what this machine has, and what the tests do without. `make
// test` runs it first, in this directory, where go test shows what is printed.
func TestMachine(t *testing.T) {
	python, why := findPython()
	if python.path == "" {
		fmt.Println("skipped: all that runs Python. There is none:", why)
		Lacks(t, "python", why)
	}
	fmt.Println("python", python.version, python.path)
	path, why := findGRPCIO()
	if path == "" {
		fmt.Println("skipped: all gRPC plugins in Python. There is no grpcio:", why)
		Lacks(t, "grpcio", why)
	}
	fmt.Println("grpcio", path)
}
