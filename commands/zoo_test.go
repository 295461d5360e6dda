package commands_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// broken lists the plugins that are not valid Python 3 on purpose.
var broken = []string{"python2.py", "syntax_error.py"}

// parse prints, for each file named on standard input, the syntax error in Python 3.9, the oldest
// supported version, and whether the file has a docstring.
const parse = `
import ast, json, sys
found = {}
for name in json.load(sys.stdin):
    with open(name, "rb") as file:
        text = file.read()
    try:
        tree = ast.parse(text, name, feature_version=(3, 9))
    except SyntaxError as error:
        found[name] = "syntax: " + str(error)
    else:
        if not ast.get_docstring(tree):
            found[name] = "docstring: it has none"
json.dump(found, sys.stdout)
`

// TestPythonSources checks that every Python file of the repository parses on the oldest Python,
// except those that are broken on purpose, and that each plugin of the zoo has a docstring.
func TestPythonSources(t *testing.T) {
	python := runnertest.Python(t)
	var names []string
	for _, f := range sources(t, ".py") {
		names = append(names, f.path)
	}
	zoo := len(names)
	for _, pattern := range []string{"*.py", "*/*.py", "*/*/*.py"} {
		found, err := filepath.Glob(filepath.Join("testdata", "plugins", pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) == zoo {
		t.Fatal("testdata/plugins is empty")
	}
	input, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-B", "-X", "utf8", "-c", parse)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(input)), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var wrong map[string]string
	if err := json.Unmarshal(output, &wrong); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		kind, message, _ := strings.Cut(wrong[name], ": ")
		switch {
		case i >= zoo && slices.Contains(broken, filepath.Base(name)):
			if kind != "syntax" {
				t.Errorf("%s parses, and is there not to", name)
			}
		case kind == "syntax" || i >= zoo && kind == "docstring":
			t.Errorf("%s: %s", name, message)
		}
	}
}
