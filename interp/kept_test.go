package interp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestKeptEnvironments checks that Find chooses the same Python as the tools themselves, for
// environments that they keep in the project or elsewhere.
func TestKeptEnvironments(t *testing.T) {
	python := runnertest.Packages(t, "poetry==2.5.1", "pipenv==2026.10.3", "pdm==2.29.3")
	const (
		poetry = "[tool.poetry]\nname = \"My_Proj.x\"\npackage-mode = false\n"
		pdm    = "[project]\nname = \"x\"\nversion = \"1\"\nrequires-python = \">=3.8\"\n[tool.pdm]\ndistribution = false\n"
	)
	for _, c := range []struct {
		name, file, text, set string
		make, ask             []string
	}{
		{"poetry", "pyproject.toml", poetry, "POETRY_VIRTUALENVS_IN_PROJECT=false", []string{"poetry", "env", "use", "--quiet", python}, []string{"poetry", "env", "info", "--executable"}},
		{"poetry in the project", "pyproject.toml", "[project]\nname = \"p\"\nversion = \"1\"\n", "POETRY_VIRTUALENVS_IN_PROJECT=true", []string{"poetry", "env", "use", "--quiet", python}, []string{"poetry", "env", "info", "--executable"}},
		{"pipenv in the project", "Pipfile", "", "PIPENV_VENV_IN_PROJECT=1", []string{"pipenv", "--quiet", "--python", python}, []string{"pipenv", "--py"}},
		{"pdm", "pyproject.toml", pdm, "PDM_VENV_IN_PROJECT=0", nil, []string{"pdm", "info", "--python"}},
		{"pdm in the project", "pyproject.toml", pdm, "PDM_VENV_IN_PROJECT=1", nil, []string{"pdm", "info", "--python"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(root, "mein Prøject [1]")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			environ := []string{"HOME=" + root, "PATH=" + filepath.Dir(python) + string(filepath.ListSeparator) + os.Getenv("PATH"),
				"VIRTUALENV_NO_SEED=1", "PDM_CHECK_UPDATE=0", "LC_ALL=C.UTF-8", c.set}
			var want string
			for _, command := range [][]string{c.make, c.ask} {
				if command == nil {
					continue
				}
				cmd := exec.Command(filepath.Join(filepath.Dir(python), command[0]), command[1:]...)
				cmd.Dir, cmd.Env = dir, environ
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%q: %v\n%s", command, err, err.(*exec.ExitError).Stderr)
				}
				want = strings.TrimSpace(string(out))
			}
			found, err := interp.Find(t.Context(), interp.Request{Dirs: []string{dir}, Cwd: root, Environ: environ})
			if err != nil || found.Path != want {
				t.Errorf("got %s, %v; %s says %s", found.Path, err, c.ask[0], want)
			}
		})
	}
}
