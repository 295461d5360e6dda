package interp

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// tell runs a real Python and reads the JSON that it prints.
func tell(t *testing.T, python string, to any, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", python, args, err)
	}
	check(t, json.Unmarshal(out, to))
}

// chosen is a Python of this machine as Find has it.
func chosen(t *testing.T, path string) Interpreter {
	t.Helper()
	found, err := Find(t.Context(), Request{Flag: path, Environ: os.Environ(), Cwd: t.TempDir(), Run: run})
	check(t, err)
	return found
}

// TestRealSites holds the directories that files tell against the search path of
// the Pythons of this machine, and of environments made by them.
func TestRealSites(t *testing.T) {
	for _, path := range runnertest.Pythons(t) {
		for _, option := range []string{"none", "", "--system-site-packages"} {
			t.Run(path+" "+option, func(t *testing.T) {
				program := path
				if option != "none" {
					program = makeVenv(t, path, option)
				}
				from := chosen(t, program)
				var says []string
				tell(t, from.Path, &says, "-c", "import sys, json, os\n"+
					"print(json.dumps([p for p in sys.path if os.path.isdir(p) and p.endswith('-packages')]))")
				if got := from.sites(variables(os.Environ())); !slices.Equal(got, present(says)) {
					t.Errorf("files tell %q, it says %q", got, says)
				}
			})
		}
	}
}

// makeVenv makes an environment, without pip because that takes seconds, and
// returns its Python.
func makeVenv(t *testing.T, python, option string) string {
	t.Helper()
	env := filepath.Join(t.TempDir(), "env")
	args := slices.DeleteFunc([]string{"-m", "venv", "--without-pip", option, env}, func(s string) bool { return s == "" })
	if out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput(); err != nil {
		runnertest.Lacks(t, "venv", string(out))
	}
	made, broken := envPython(env)
	if broken != nil {
		t.Fatal(broken)
	}
	return made
}

// TestRealEditable installs two projects as editable with pip, one whose packages
// are where setuptools adds a directory, one that needs a finder, and holds what
// is found against what Python finds.
func TestRealEditable(t *testing.T) {
	root := tree(t,
		"f src/pyproject.toml "+project("a"),
		"f src/src/in_src/__init__.py", "f src/src/in_src/sub.py",
		"f flat/pyproject.toml "+project("b")+
			`[tool.setuptools]\npackages = ["flat", "moved", "space.deep"]\npy-modules = ["single"]\n`+
			`[tool.setuptools.package-dir]\nmoved = "other/moved"\n"space.deep" = "other/deep"\n`,
		"f flat/flat/__init__.py", "f flat/flat/sub.py", "f flat/single.py",
		"f flat/other/moved/__init__.py", "f flat/other/deep/__init__.py", "f flat/other/deep/x.py")
	path := makeVenv(t, runnertest.Python(t), "--system-site-packages") // that setuptools is there without a network
	pip := exec.CommandContext(t.Context(), path, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps",
		"--disable-pip-version-check", "-e", filepath.Join(root, "src"), "-e", filepath.Join(root, "flat"))
	if out, err := pip.CombinedOutput(); err != nil {
		runnertest.Lacks(t, "setuptools", string(out[max(0, len(out)-500):]))
	}
	names := []string{"in_src", "in_src.sub", "flat", "flat.sub", "moved", "space.deep", "space.deep.x", "single"}
	plant(t, root, "f plug/main.py import "+strings.Join(names, ", "))
	found := map[string]bool{}
	m := chosen(t, path).Modules([]string{filepath.Join(root, "plug")}, os.Environ())
	for file := range m.Walk(filepath.Join(root, "plug", "main.py")) {
		found[file.Path] = true
	}
	var origins map[string]string
	tell(t, path, &origins, append([]string{"-c", "import sys, json, importlib.util as u\n" +
		"print(json.dumps({n: u.find_spec(n).origin for n in sys.argv[1:]}))"}, names...)...)
	for name, origin := range origins {
		if !found[origin] {
			t.Errorf("%s: %s was not found", name, origin)
		}
	}
	if len(found) != len(names)+1 && runtime.GOOS != "windows" {
		t.Errorf("found %v, want %v", found, origins)
	}
}

// project is a pyproject.toml that setuptools builds.
func project(name string) string {
	return `[project]\nname = "` + name + `"\nversion = "1"\n` +
		`[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n`
}
