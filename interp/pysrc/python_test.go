package pysrc

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// findPython returns the Python for comparisons: the one that PYPLUG_TEST_PYTHON names, or python3.
func findPython(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("PYPLUG_TEST_PYTHON"); named != "" {
		return named
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		if strings.Contains(os.Getenv("PYPLUG_TEST_REQUIRE"), "python") {
			t.Fatal("no python3, but PYPLUG_TEST_REQUIRE names it")
		}
		t.Skip("no python3 to compare with")
	}
	return path
}

// ask runs a Python with input and returns the lines of its output.
func ask(t *testing.T, python string, input []byte, args ...string) [][]byte {
	t.Helper()
	cmd := exec.Command(python, args...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.Bytes())
	}
	out = bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n"))
	return bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
}
