//go:build unix

package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestReadme runs the README's examples.
func TestReadme(t *testing.T) { runExamples(t, "README.md", 6) }

// TestPythonPage runs the examples of docs/python.md.
func TestPythonPage(t *testing.T) { runExamples(t, "docs/python.md", 1) }

// runExamples runs the examples of a page, of which there are at least so many: in
// each console block a line that begins with "$ " is a command, and the lines below
// it are what it prints on standard output.
func runExamples(t *testing.T, page string, least int) {
	t.Helper()
	python := runnertest.Python(t)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program(t), filepath.Join(bin, "pyplug")); err != nil {
		t.Fatal(err)
	}
	run := runDir(t)
	examples := consoleExamples(string(text))
	if len(examples) < least {
		t.Fatalf("%d examples in %s, want at least %d", len(examples), page, least)
	}
	for _, e := range examples {
		t.Run(e.command, func(t *testing.T) {
			if strings.Contains(e.command, "plugins/grpc/") {
				python = runnertest.GRPCIO(t)
			}
			// What go run . would build has been built.
			cmd := exec.Command("sh", "-c", strings.Replace(e.command, "go run . ", "pyplug ", 1))
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "PYPLUG_PYTHON="+python, "PYPLUG_RUN_DIR="+run)
			var errs strings.Builder
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &errs)
			}
			if timeless(string(out)) != timeless(e.output) {
				t.Errorf("got\n%s\nwant\n%s\nstandard error\n%s", out, e.output, &errs)
			}
		})
	}
}

// timeless leaves out of an output what differs from run to run: how long things
// took, with the column that only long ones have, and which Python it was.
func timeless(output string) string {
	output = regexp.MustCompile(`(?m)  \d[\d.]*m?s$`).ReplaceAllString(output, "")
	output = regexp.MustCompile(`in \d[\d.]*m?s`).ReplaceAllString(output, "in Nms")
	return regexp.MustCompile(`python 3\.\d+\.\d+(, /\S+)?`).ReplaceAllString(output, "python 3.N")
}

type example struct{ command, output string }

func consoleExamples(text string) []example {
	var all []example
	inside := false
	for line := range strings.Lines(text) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.TrimSpace(line) == "```console"
		case !inside:
		case isCommand:
			all = append(all, example{command: strings.TrimSpace(command)})
		case len(all) > 0:
			all[len(all)-1].output += line
		}
	}
	return all
}
