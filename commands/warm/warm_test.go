//go:build linux || darwin

package warm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// binary is pyplug itself, built once for all tests: the test binary is not.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "warm")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "pyplug")
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs,grpcnotrace", "-o", path, "github.com/pyplug/pyplug")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return path, build.Run()
})

// built is the directory that binary has made.
var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// outcome is what a run of pyplug says.
type outcome struct {
	stdout, stderr string
	code           int
}

// pyplug runs the binary with nothing in its environment that would keep it from
// the warm way, but for what env has.
func pyplug(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool { return !ordinary([]string{entry}) }), env...)
	_ = cmd.Run() // the code is looked at
	if cmd.ProcessState == nil {
		t.Fatalf("%q did not start", args)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// TestOrder holds what all of this is for: that init runs before what takes time.
func TestOrder(t *testing.T) {
	trace := pyplug(t, []string{"GODEBUG=inittrace=1"}, "version").stderr
	before, after, found := strings.Cut(trace, "init github.com/pyplug/pyplug/commands/warm @")
	if !found {
		t.Fatalf("no trace of this package:\n%s", trace)
	}
	if n := strings.Count(before, "init "); n > 32 { // 29, of about 170
		t.Errorf("%d packages initialise before this one:\n%s", n, before)
	}
	for _, heavy := range []string{
		"encoding/gob", "google.golang.org/protobuf/reflect/protodesc", "google.golang.org/protobuf/types/descriptorpb",
		"github.com/bufbuild/protocompile/linker", "github.com/hashicorp/go-plugin", "github.com/urfave/cli/v2",
		"google.golang.org/grpc", "crypto/tls", "net/http", "github.com/pyplug/pyplug/commands",
	} {
		if strings.Contains(trace, "init "+heavy+" @") && !strings.Contains(after, "init "+heavy+" @") {
			t.Errorf("%s initialises before this package", heavy)
		}
	}
}

func TestReadHealth(t *testing.T) {
	for line, want := range map[string]health{
		"--address a:1":                          {address: "a:1"},
		"--address=a:1":                          {address: "a:1"},
		"-address a:1":                           {address: "a:1"},
		"-address=a:1":                           {address: "a:1"},
		"--addr a:1":                             {address: "a:1"},
		"-addr=a:1":                              {address: "a:1"},
		"--address a:1 --service s":              {"a:1", "s"},
		"--service=s=t -addr a:1":                {"a:1", "s=t"},
		"--service= --addr a:1":                  {address: "a:1"},
		"--probe-codes --addr a:1":               {address: "a:1"},
		"--addr a:1 -probe-codes --service x":    {"a:1", "x"},
		"--service --address --addr a:1":         {"a:1", "--address"}, // a value may look like a flag
		"--addr --service --service --address":   {"--service", "--address"},
		"--addr a:1 --service " + text(127):      {"a:1", text(127)},
		"--addr a:1 --service " + text(128):      {},
		"--addr a:1 --service \xff":              {},
		"--addr a:1 --addr a:1":                  {},
		"--addr a:1 --address a:1":               {},
		"--addr a:1 --service s --service s":     {},
		"--addr a:1 --probe-codes --probe-codes": {},
		"--addr a:1 --probe-codes=true":          {},
		"--addr a:1 --timeout 1":                 {},
		"--addr a:1 --json":                      {},
		"--addr a:1 --watch":                     {},
		"--addr a:1 -v":                          {},
		"--addr a:1 --tls":                       {},
		"--addr a:1 --help":                      {},
		"--addr a:1 plugin.py":                   {},
		"--addr a:1 --":                          {},
		"--addr a:1 -":                           {},
		"---addr a:1":                            {},
		"address a:1":                            {},
		"--Address a:1":                          {},
		"--addr":                                 {},
		"--addr a:1 --service":                   {},
		"plugin.py":                              {},
	} {
		words := strings.Split(line, " ")
		got, ok := readHealth(words)
		if ok != (want != health{}) || ok && got != want {
			t.Errorf("%q: %+v, %v, want %+v", line, got, ok, want)
		}
	}
}

// text is one of some length.
func text(n int) string { return strings.Repeat("x", n) }

func TestOrdinary(t *testing.T) {
	for entry, want := range map[string]bool{
		"PATH=/bin": true, "NO_COLOR=1": true, "TERM=dumb": true, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=/x": true,
		"PYPLUG_RUN_DIR=/run/ci": true, "PYPLUG_PYTHON=3.12": true, "PYPLUG_COLOR=always": false, "PYPLUG_LOG_FORMAT=json": false, "PYPLUG_DEBUG=wire": false, "PYPLUG_START_TIMEOUT=1": false,
		"FORCE_COLOR=1": false, "CLICOLOR_FORCE=1": false, "GRPC_GO_LOG_SEVERITY_LEVEL=info": false, "GODEBUG=http2debug=2": false,
	} {
		if got := ordinary([]string{"HOME=/", entry}); got != want {
			t.Errorf("%s: %v, want %v", entry, got, want)
		}
	}
}

func TestColourless(t *testing.T) {
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	files := map[*os.File]bool{pipe: true}
	for name, want := range map[string]bool{os.DevNull: true, "doc.go": true, "/dev/zero": false} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		files[f] = want
	}
	for f, want := range files {
		if got := colourless(f); got != want {
			t.Errorf("%s: %v, want %v", f.Name(), got, want)
		}
		f.Close()
	}
	if colourless(pipe) {
		t.Error("a closed file is colourless")
	}
}
