//go:build linux

package commands_test

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// marking is a program that creates a file in the plugin's directory, and then runs the Python of
// the machine.
const marking = "#!/bin/sh\n: > \"$ROOT/ran\"\nexec \"$PYTHON\" \"$@\"\n"

// choosing are projects whose files choose the program that runs the plugin p.py. The keys are the
// paths of the files. A file in bin is a program. $ROOT is the project.
var choosing = map[string]map[string]string{
	"a .venv":                   {".venv/bin/python": marking, ".venv/pyvenv.cfg": ""},
	"a .venv of a version":      {".venv/bin/python": marking, ".venv/pyvenv.cfg": "version = 3.11.7"},
	"venv":                      {"venv/bin/python": marking, "venv/pyvenv.cfg": ""},
	".conda":                    {".conda/bin/python": marking, ".conda/conda-meta/history": ""},
	"a file .venv":              {".venv": "tools/one", "tools/one/bin/python": marking, "tools/one/pyvenv.cfg": ""},
	".python-version":           {".python-version": "$ROOT/bin/python", "bin/python": marking},
	"mise.toml, a path":         {"mise.toml": "[tools]\npython = \"path:$ROOT/mise\"", "mise/bin/python": marking},
	"mise.toml, an environment": {"mise.toml": "[env]\n_.python.venv = \"own\"", "own/bin/python": marking, "own/conda-meta/history": ""},
	"poetry.toml": {
		"poetry.lock": "", "pyproject.toml": "[tool.poetry]\nname = \"p\"", "poetry.toml": "[virtualenvs]\npath = \"$ROOT/envs\"",
		"envs/p-HASH-py3.11/bin/python": marking, "envs/p-HASH-py3.11/pyvenv.cfg": "",
	},
	".pdm-python":               {".pdm-python": "$ROOT/pdm/bin/python", "pdm/bin/python": marking, "pdm/pyvenv.cfg": ""},
	"the #! line":               {"p.py": "#!$ROOT/own/bin/python\ndef f(): pass", "own/bin/python": marking, "own/pyvenv.cfg": ""},
	"python in the manifest":    {"pyplug.toml": "entry = \"p.py\"\npython = \"./bin/python\"", "bin/python": marking},
	"python, an environment":    {"pyplug.toml": "entry = \"p.py\"\npython = \"own\"", "own/bin/python": marking},
	"variables of a manifest":   {"pyplug.toml": "entry = \"p.py\"\nenv = {PYTHONPATH = \"$ROOT/lib\"}", "lib/sitecustomize.py": "open('$ROOT/ran', 'w')"},
	"a shim of PATH":            {".python-version": "path:$ROOT/own", "own/bin/python3": marking, "home/shims/python3": "#!/bin/sh\nexec pyenv exec"},
	"a shim, by .tool-versions": {".tool-versions": "python path:$ROOT/own", "own/bin/python3": marking, "home/shims/python3": "#!/bin/sh\nexec asdf exec"},
	"the #! line of a program":  {"p.py": "def f(): pass", "prog": "#!$ROOT/bin/python\n", "bin/python": marking},
}

// TestUntrusted checks that commands that only read a plugin start no program that its files
// choose, and that completion still knows its hooks.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	python := runnertest.Python(t)
	strace, _ := exec.LookPath("strace")
	if strace != "" && exec.Command(strace, "true").Run() != nil {
		strace = "" // this system does not allow strace
	}
	self := filepath.Join(t.TempDir(), "pyplug")
	if err := os.Symlink(program(t), self); err != nil {
		t.Fatal(err)
	}
	for name, files := range choosing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			path := layOut(t, root, python, files)
			ran := filepath.Join(root, "ran")
			pyplug := func(words ...string) (string, error) {
				trace := filepath.Join(t.TempDir(), "trace")
				cmd := exec.Command(self, words...)
				if strace != "" && words[len(words)-1] != "json" { // the check of the module json runs without strace: this halves the time
					cmd = exec.Command(strace, append([]string{"-f", "-qq", "-e", "trace=execve", "-o", trace, self}, words...)...)
				}
				cmd.Dir = root
				cmd.Env = bare(root, path)
				out, err := cmd.Output()
				calls, _ := os.ReadFile(trace) // empty without strace
				for line := range strings.Lines(string(calls)) {
					if strings.Contains(line, `execve("`+root) {
						t.Errorf("%q started %.100s", words, line)
					}
				}
				if _, err := os.Stat(ran); err == nil {
					t.Errorf("%q ran what the project chose", words)
				}
				return string(out), err
			}
			plugin := "p.py"
			if _, ok := files["prog"]; ok {
				plugin = "prog"
			} else if out, err := pyplug("__complete", "run", "p.py", ""); err != nil || out != "f\n" {
				t.Errorf("completed %q (%v), want f", out, err)
			}
			for _, words := range [][]string{
				{"__complete", "call", plugin, ""}, {"__complete", "run", "-m", "p", ""}, {"__complete", "run", "-m", "json", ""},
				{"check", "--skip", "launch", plugin}, {"check", "--skip", "launch", "-m", "json"}, {"python", "why", plugin}, {"python", "list"},
			} {
				_, _ = pyplug(words...) // the output for such a project is tested elsewhere
			}
		})
	}
}

// bare returns an environment whose only Python is on PATH.
func bare(root, path string) []string {
	home := filepath.Join(root, "home")
	return []string{"PATH=" + path, "HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_RUNTIME_DIR=" + root}
}

// layOut makes a project. It returns a PATH with the Python of the machine, and before it the
// directory of the shims if files has any.
func layOut(t *testing.T, root, python string, files map[string]string) (path string) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bin")
	sum := sha256.Sum256([]byte(root)) // as in poetry
	hash := base64.URLEncoding.EncodeToString(sum[:])[:8]
	path = bin + ":/usr/bin:/bin"
	write := func(path, text string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if special(t, path, text) {
			return
		}
		if err := os.WriteFile(path, []byte(strings.NewReplacer("$ROOT", root, "$PYTHON", python).Replace(text)), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, "p.py"), "def f(): pass\n", 0o644)
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") && !strings.HasSuffix(name, ".py") {
			mode = 0o755
		}
		file := filepath.Join(root, strings.ReplaceAll(name, "HASH", hash))
		write(file, text, mode)
		if filepath.Base(filepath.Dir(file)) == "shims" {
			path = filepath.Dir(file) + ":" + path
		}
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(python, filepath.Join(bin, "python3")); err != nil {
		t.Fatal(err)
	}
	return path
}
