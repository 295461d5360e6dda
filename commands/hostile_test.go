//go:build linux

package commands_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// Special files: a FIFO that nobody writes to, and a sparse file.
const pipe, sparse = "a pipe", "20 GiB"

// hostile returns projects whose files would make their reader wait, compute for minutes, or
// allocate gigabytes.
func hostile() map[string]map[string]string {
	return map[string]map[string]string{
		"a pipe beside a lock file":     {"uv.lock": "", "pyproject.toml": pipe},
		"pipes as sources":              {"uv.lock": pipe, "requirements.txt": pipe, "p.py.lock": pipe, "plugin.json": pipe, "pyplug.toml": pipe},
		"a pipe in .venv":               {".venv/pyplug-env.json": pipe, ".venv/pyvenv.cfg": "", "requirements.txt": "x"},
		"pipes that pin":                {".python-version": pipe, ".venv/pyvenv.cfg": pipe},
		"sparse files":                  {"uv.lock": sparse, "pyproject.toml": sparse},
		"a sparse file beside a lock":   {"pylock.toml": "", "pyproject.toml": sparse},
		"keys in pyproject.toml":        {"pyproject.toml": rows(300000, "k%d = 1")},
		"keys in a small one":           {"pyproject.toml": rows(80000, "k%d=1")},
		"keys in pyplug.toml":           {"pyplug.toml": "[env]\n" + rows(300000, "k%d = '1'")},
		"keys in the script":            {"p.py": "# /// script\n" + rows(300000, "# k%d = 1") + "# ///\ndef f(): pass\n"},
		"clauses of requires-python":    {"pyproject.toml": "[project]\nrequires-python = '" + strings.Repeat("!=3.1.1,", 100000) + ">=3.20,<3.0'"},
		"versions in .python-version":   {".python-version": rows(100000, ">=3.%d,<3.0")},
		"included files of 4 MiB":       included(40),
		"lines that include":            {"requirements.txt": rows(300000, "-r %d.txt")},
		"files that include each other": {"requirements.txt": "-r a.txt", "a.txt": strings.Repeat("-r requirements.txt\n", 200000)},
	}
}

// rows returns n lines of a format with the number of the line.
func rows(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

func included(n int) map[string]string {
	files := map[string]string{"requirements.txt": rows(n, "-r r%d.txt")}
	text := strings.Repeat("x\n", 2<<20)
	for i := range n {
		files[fmt.Sprintf("r%d.txt", i)] = text
	}
	return files
}

// TestHostileFiles checks that no file of a project makes a command that reads it wait, or use much
// memory. The output of the command does not matter.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	python := runnertest.Python(t)
	self := filepath.Join(t.TempDir(), "pyplug")
	if err := os.Symlink(program(t), self); err != nil {
		t.Fatal(err)
	}
	for name, files := range hostile() {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := layOut(t, root, python, files)
			for _, words := range [][]string{
				{"python", "why", "p.py"}, {"python", "why"}, {"sync", "--dry-run", "p.py"}, {"__complete", "run", "p.py", ""}, {"run", "p.py", "f"},
				{"check", "--skip", "launch", "p.py"},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), longest)
				cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", `ulimit -d 500000 && exec "$0" "$@"`, self}, words...)...)
				cmd.Dir, cmd.Env = root, bare(root, path)
				if out, _ := cmd.CombinedOutput(); ctx.Err() != nil || bytes.Contains(out, []byte("out of memory")) {
					t.Errorf("%q does not end within its limits: %.1000s", words, out)
				}
				cancel()
			}
		})
	}
}

// special creates the special file that what names. It returns false if what names none.
func special(t *testing.T, file, what string) bool {
	t.Helper()
	var err error
	switch what {
	case pipe:
		err = syscall.Mkfifo(file, 0o600)
	case sparse:
		if err = os.WriteFile(file, nil, 0o600); err == nil {
			err = os.Truncate(file, 20<<30)
		}
	default:
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}
