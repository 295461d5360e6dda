//go:build linux

package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// benthos is the program of a module that has the components of Redpanda Connect's example.
const benthos = `package main

import (
	"context"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

func main() { service.RunCLI(context.Background()) }
`

// TestPipeline runs the example of docs/recipes.md for Redpanda Connect with a real Benthos, which
// takes minutes to build. Each message gets its own answer, even after messages that fail.
func TestPipeline(t *testing.T) {
	if os.Getenv("PYPLUG_TEST_LONG") == "" {
		t.Skip("runs with PYPLUG_TEST_LONG=1")
	}
	page, err := os.ReadFile("docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("testdata/plugins/greeter.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": benthos, "go.mod": "module benthos\n\nrequire github.com/redpanda-data/benthos/v4 v4.60.0\n", "greeter.py": string(source),
		"pipeline.yaml": regexp.MustCompile("(?s)```yaml\n# pipeline.yaml\n(.*?)```").FindStringSubmatch(string(page))[1],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "pyplug"))
	}
	if err != nil {
		t.Fatal(err)
	}
	in := func(program string, words ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program, words...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "PYPLUG_PYTHON="+runnertest.Python(t), "GOFLAGS=-mod=mod")
		return cmd
	}
	if out, err := in("go", "build", "-o", "benthos", ".").CombinedOutput(); err != nil {
		t.Skipf("Benthos cannot be built: %v\n%s", err, out)
	}
	pipeline := in(filepath.Join(dir, "benthos"), "-c", "pipeline.yaml")
	pipeline.Stdin = strings.NewReader(`{"a": 1, "b": 2}
{"a": 1, "b": 0}
{"a": 6, "b": 2}
no JSON
{"a": 9, "b": 3, "c": 1}
{"a": 9, "b": 2}
`)
	var errs strings.Builder
	pipeline.Stderr = &errs
	out, err := pipeline.Output()
	if want := []string{"0.5", "3.0", "4.5"}; err != nil || !slices.Equal(strings.Fields(string(out)), want) || !strings.Contains(errs.String(), "ZeroDivisionError: float division by zero") {
		t.Errorf("got %q, %v, want %q, and the error on standard error:\n%s", out, err, want, &errs)
	}
}
