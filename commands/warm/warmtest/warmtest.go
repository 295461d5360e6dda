//go:build linux || darwin

package warmtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/commands/warm"
)

// build builds pyplug in a directory of its own.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "warm")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "pyplug")
	cmd := exec.Command("go", "build", "-tags", "urfave_cli_no_docs,grpcnotrace", "-o", path, "github.com/pyplug/pyplug")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// built is the directory that build has made.
var built string

// Main runs the tests of a package and removes what [Binary] built for them. It
// returns the code for os.Exit.
func Main(m *testing.M) int {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	return code
}

// Binary is the path of pyplug itself, which is built once for all tests of a
// package: the test binary is not it. It is safe for concurrent use.
func Binary(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Outcome is what a run of pyplug says.
type Outcome struct {
	Stdout, Stderr string
	Code           int
}

// Run runs pyplug with nothing in its environment that would keep it from the warm
// way, but for what env has.
func Run(t *testing.T, env []string, args ...string) Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(Binary(t), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool { return !warm.Ordinary([]string{entry}) }), env...)
	_ = cmd.Run() // the code is looked at
	if cmd.ProcessState == nil {
		t.Fatalf("%q did not start", args)
	}
	return Outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Inits are the packages of pyplug that initialise before one and after it, each in
// order.
func Inits(t *testing.T, room string) (before, after []string) {
	t.Helper()
	trace := Run(t, []string{"GODEBUG=inittrace=1"}, "version").Stderr
	var all []string
	for line := range strings.Lines(trace) {
		if rest, ok := strings.CutPrefix(line, "init "); ok {
			name, _, _ := strings.Cut(rest, " @")
			all = append(all, name)
		}
	}
	i := slices.Index(all, "github.com/pyplug/pyplug/"+room)
	if i < 0 {
		t.Fatalf("%s does not initialise:\n%s", room, trace)
	}
	return all[:i], all[i+1:]
}
