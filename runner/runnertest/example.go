package runnertest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
)

const goPlugin = "github.com/hashicorp/go-plugin"

// Example returns the directory of go-plugin's gRPC examples, in the version that go.mod requires.
// The directory is in the module cache, which is read-only.
func Example(t testing.TB) string {
	t.Helper()
	return filepath.Join(goTool(t, "list", "-m", "-f", "{{.Dir}}", goPlugin), "examples", "grpc")
}

// GoExample builds go-plugin's example of a gRPC plugin in Go, with the
// dependencies of this module, and returns the path of the program.
func GoExample(t testing.TB) string {
	t.Helper()
	return GoExampleOf(t, "grpc/plugin-go-grpc")
}

// GoExampleOf builds one of go-plugin's examples and returns the path of the program.
func GoExampleOf(t testing.TB, example string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(example))
	goTool(t, "build", "-o", program, goPlugin+"/examples/"+example)
	return program
}

// ExamplePort reserves the port of go-plugin's Python example, 1234, for this test.
// Tests in other processes wait until it ends.
func ExamplePort(t testing.TB) {
	t.Helper()
	const lock = "127.0.0.1:12340" // a listener at this address holds the lock
	var l net.Listener
	Until(t, "the lock of the example's port", func() bool {
		var err error
		l, err = net.Listen("tcp", lock)
		return err == nil
	})
	t.Cleanup(func() { l.Close() })
}

// goTool runs the go command in this module and returns its output.
func goTool(t testing.TB, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	out, err := output(root, path, args...)
	if err != nil {
		t.Fatal("go ", err)
	}
	return out
}

// ports counts the ports that this process has returned.
var ports atomic.Int64

// FixedPort returns a free port for a plugin that always listens at the same port. The system and
// go-plugin's hosts do not assign it to other programs.
func FixedPort(t testing.TB) string {
	t.Helper()
	const first, number, each = 25001, 7000, 16 // above go-plugin's ports, below Linux's ephemeral ports
	for range each {
		port := strconv.Itoa(first + (os.Getpid()*each+int(ports.Add(1))%each)%number)
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}
