//go:build unix

package commands_test

import (
	"io"
	"os/exec"
	"testing"
)

// reading starts a command and returns what it prints on standard output, which
// comes through a pipe.
func reading(t testing.TB, cmd *exec.Cmd) io.ReadCloser {
	t.Helper()
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return out
}

// talking is reading of a command whose standard input is a pipe, too.
func talking(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, reading(t, cmd)
}
