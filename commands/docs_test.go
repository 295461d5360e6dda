//go:build unix

package commands_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// unproven lists the pages without examples.
var unproven = []string{"ARCHITECTURE.md", "BENCHMARKS.md", "compatibility.md", "install.md"}

// TestDocs runs the examples of the README and of every page in docs, as in a terminal. In each
// console block a line that begins with "$ " is a command, which continues on lines that begin with
// "> ". The lines below are its output. A block whose first line is a comment with a file's name is
// that file. A command that fails must print an error.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			steps := docSteps(string(text))
			if !slices.ContainsFunc(steps, func(s docStep) bool { return s.command != "" }) && !slices.Contains(unproven, filepath.Base(page)) {
				t.Error("the page has no example")
			}
			d := newDocRun(t)
			for _, step := range steps {
				d.run(t, step)
			}
		})
	}
}

// docStep is a file on a page, or a command and its output.
type docStep struct{ file, command, text string }

var fileName = regexp.MustCompile(`^(?:#|//) (\w[\w./-]*\.\w+)(?:$|: )`)

// docSteps returns the steps of a page in their order.
func docSteps(page string) []docStep {
	var steps []docStep
	for i, block := range strings.Split(page, "```") {
		language, text, _ := strings.Cut(block, "\n")
		switch name := fileName.FindStringSubmatch(strings.SplitN(text, "\n", 2)[0]); {
		case i%2 == 0:
		case language == "console":
			steps = append(steps, commandSteps(text)...)
		case name != nil:
			steps = append(steps, docStep{file: name[1], text: text})
		}
	}
	return steps
}

func commandSteps(block string) []docStep {
	var steps []docStep
	for line := range strings.Lines(block) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch last := len(steps) - 1; {
		case isCommand:
			steps = append(steps, docStep{command: command})
		case isMore && steps[last].text == "":
			steps[last].command += more
		default:
			steps[last].text += line
		}
	}
	return steps
}

// docRun is the directory and the environment of a page's examples.
type docRun struct{ dir, runDir, bin, python string }

func newDocRun(t *testing.T) *docRun {
	d := &docRun{dir: t.TempDir(), runDir: runDir(t), bin: t.TempDir(), python: runnertest.Python(t)}
	repository, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program(t), filepath.Join(d.bin, "pyplug")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(repository, "testdata"), filepath.Join(d.dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	greeter, err := os.ReadFile("testdata/plugins/greeter.py")
	if err != nil {
		t.Fatal(err)
	}
	d.run(t, docStep{file: "greeter.py", text: string(greeter)})
	return d
}

func (d *docRun) run(t *testing.T, step docStep) {
	if step.file != "" {
		file := filepath.Join(d.dir, step.file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Run(step.command, func(t *testing.T) {
		for _, tool := range []string{"bash", "curl", "jq"} {
			if _, err := exec.LookPath(tool); err != nil && (tool == "bash" || strings.Contains(step.command, tool)) {
				t.Skip(err)
			}
		}
		if strings.Contains(step.command, "plugins/grpc/") || strings.HasPrefix(step.command, ".venv/") {
			d.useGRPCIO(t)
		}
		cmd := exec.Command("bash", "-c", step.command)
		cmd.Dir = d.dir
		cmd.Env = append(os.Environ(), "PATH="+d.bin+":"+os.Getenv("PATH"), "PYPLUG_PYTHON="+d.python, "PYPLUG_RUN_DIR="+d.runDir, "PWD="+d.dir)
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(step.text, "error: ") && !strings.Contains(step.text, "\nfailed: ") {
			t.Errorf("%v, but the page shows no error", err)
		}
		if got, want := d.constant(string(out)), d.constant(step.text); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// useGRPCIO makes the venv with grpcio the Python of the page, and .venv.
func (d *docRun) useGRPCIO(t *testing.T) {
	d.python = runnertest.GRPCIO(t)
	venv := filepath.Dir(filepath.Dir(d.python))
	if err := os.Symlink(venv, filepath.Join(d.dir, ".venv")); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
}

// constant replaces what differs from run to run and from machine to machine.
func (d *docRun) constant(output string) string {
	output = strings.NewReplacer(d.runDir, "/run/user/1000/pyplug", d.dir, "/srv", d.python, "PYTHON").Replace(output)
	for _, r := range []struct{ pattern, by string }{
		{`(?m)  \d[\d.]*m?s$`, ""}, // the column of durations, which is empty for short ones
		{`(?m)^slowest: .*\n`, ""}, // cases on a busy machine
		{`(in|after) \d[\d.]*[mµ]?s`, "$1 Nms"},
		{`python 3\.\d+\.\d+(, [^\s)]+)?( \(\w+\))?`, "python 3.N"},
		{`("(?:\w+_ms|pid|daemon_pid|memory_bytes|per_second)":)[\d.]+`, "${1}N"},
		{`"(time|python|version|log)":"[^"]*"`, `"$1":"…"`},
		{`\(pid \d+\)`, "(pid N)"},
		{`(?m)^/\S*/python[\d.]*$`, "PYTHON"},
	} {
		output = regexp.MustCompile(r.pattern).ReplaceAllString(output, r.by)
	}
	return output
}

// TestErrorKeys checks that docs/json.md explains every key of an error.
func TestErrorKeys(t *testing.T) {
	text, err := os.ReadFile("docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	full, err := json.Marshal(&hook.Error{
		Kind: hook.Crash, Reason: "r", Hook: "h", Begun: true, Python: &hook.Raised{}, Status: &hook.RPCStatus{Code: "c", Message: "m", Details: []json.RawMessage{[]byte("{}")}},
		At: []hook.Frame{{}}, Place: "p", Unknown: "u", Word: 1, Exit: &hook.Exit{}, Tried: []string{"t"}, Hints: schema.Hints("h"), Drawing: []string{"d"}, Plugin: "p", Err: io.EOF,
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(full, &keys); err != nil {
		t.Fatal(err)
	}
	// message stands for Err. details and status_message are two more keys, of Status. Permanent,
	// Alone and Unanswered are not in the JSON.
	if len(keys) != reflect.TypeFor[hook.Error]().NumField()+2-3 {
		t.Errorf("the error has %d keys: %s", len(keys), full)
	}
	for key := range keys {
		if !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/json.md does not explain %s", key)
		}
	}
}

// TestDocLinks checks that the links of the pages lead to existing files and headings, and that the
// rows of their tables end on the line on which they begin.
func TestDocLinks(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md", "docs/findings/README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if row := regexp.MustCompile(`(?m)^\|.*[^|\n]$`).FindString(string(text)); row != "" {
			t.Errorf("%s: the row %q does not end with |", page, row)
		}
		for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(string(text), -1) {
			file, anchor, _ := strings.Cut(link[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			linked, err := os.ReadFile(target)
			if err != nil || anchor != "" && !slices.Contains(anchors(string(linked)), anchor) {
				t.Errorf("%s: the link %s leads nowhere", page, link[1])
			}
		}
	}
}

// anchors returns the names with which links lead to the headings of a page, in GitHub's form.
func anchors(page string) []string {
	var all []string
	for _, heading := range regexp.MustCompile(`(?m)^##* (.*)$`).FindAllStringSubmatch(page, -1) {
		kept := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(kept, " ", "-"))
	}
	return all
}

// TestExampleFile checks that the README's example file is in docs, for the first command of a new
// user.
func TestExampleFile(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("docs/invoice.py")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(example), "\n")
	if !strings.Contains(string(readme), "```python\n# invoice.py\n"+code+"```\n") {
		t.Error("docs/invoice.py is not the file that the README shows")
	}
}
