//go:build unix

package commands_test

import (
	"io"
	"os/exec"
	"testing"
)

// reading starts a command and returns a pipe with its standard output.
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

// talking is like reading, but standard input is also a pipe.
func talking(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, reading(t, cmd)
}
