//go:build unix

package env

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestSource(t *testing.T) {
	const pyproject = "[project]\ndependencies = [\"b\", \"a\"]\n"
	for name, c := range map[string]struct {
		files map[string]string
		kind  string
		wants string
	}{
		"a script block":           {map[string]string{"p.py": "# /// script\n# dependencies = [\"six\"]\n# ///\n", "uv.lock": "", "requirements.txt": "x"}, "PEP 723", "six"},
		"a locked block":           {map[string]string{"p.py": "# /// script\n# dependencies = [\"six\"]\n# ///\n", "p.py.lock": "", "uv.lock": ""}, "PEP 723 lock", ""},
		"a lock without a block":   {map[string]string{"p.py": "", "p.py.lock": "", "requirements.txt": "x"}, "requirements.txt", ""},
		"a block without any":      {map[string]string{"p.py": "# /// script\n# requires-python = \">=3.8\"\n# ///\n", "requirements.txt": "x"}, "requirements.txt", ""},
		"uv before poetry":         {map[string]string{"uv.lock": "", "poetry.lock": "", "pyproject.toml": pyproject}, "uv.lock", ""},
		"poetry before pdm":        {map[string]string{"poetry.lock": "", "pdm.lock": ""}, "poetry.lock", ""},
		"pdm before pylock":        {map[string]string{"pdm.lock": "", "pylock.toml": ""}, "pdm.lock", ""},
		"pylock before pyproject":  {map[string]string{"pylock.toml": "", "pyproject.toml": pyproject}, "pylock.toml", ""},
		"pyproject":                {map[string]string{"pyproject.toml": pyproject, "requirements.txt": "x"}, "pyproject.toml", "a b"},
		"a pyproject without any":  {map[string]string{"pyproject.toml": "[project]\nname = \"p\"\n", "requirements.txt": "x"}, "requirements.txt", ""},
		"none of them wanted":      {map[string]string{"pyproject.toml": "[project]\ndependencies = []\n", "requirements.txt": "x"}, "pyproject.toml", ""},
		"setup.cfg":                {map[string]string{"setup.cfg": "[options]\ninstall_requires =\n  b>1\n  # x\n  a; python_version > '3'\n", "requirements.txt": "x"}, "setup.cfg", "a; python_version > '3' b>1"},
		"a setup.cfg without any":  {map[string]string{"setup.cfg": "[flake8]\ninstall_requires = a\n", "requirements.txt": "x"}, "requirements.txt", ""},
		"pyproject before setup":   {map[string]string{"setup.cfg": "[options]\ninstall_requires = x\n", "pyproject.toml": pyproject}, "pyproject.toml", "a b"},
		"the nearest directory":    {map[string]string{"requirements.txt": "x", "up/uv.lock": ""}, "requirements.txt", ""},
		"a project in a workspace": {map[string]string{"pyproject.toml": pyproject, "up/uv.lock": "", "up/pyproject.toml": "[tool.uv.workspace]"}, "uv.lock", ""},
		"a project below another":  {map[string]string{"pyproject.toml": pyproject, "up/uv.lock": "", "up/pyproject.toml": ""}, "pyproject.toml", "a b"},
		"the directory above":      {map[string]string{"up/uv.lock": ""}, "uv.lock", ""},
		"a directory of that name": {map[string]string{"uv.lock/x": "", "requirements.txt": "x"}, "requirements.txt", ""},
		"nothing":                  {map[string]string{"p.py": "import six\n"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, c.files)
			got, err := findSource(filepath.Join(dir, "p.py"), []string{dir, filepath.Join(dir, "up")})
			if wants := strings.Join(got.Requirements, " "); got.Kind != c.kind || wants != c.wants {
				t.Errorf("got %s with %q, want %s with %q (%v)", got.Kind, wants, c.kind, c.wants, err)
			}
			if (err != nil) != (c.kind == "") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestAsks checks that the same requirements in another order are equal.
func TestAsks(t *testing.T) {
	of := func(text string) []string {
		t.Helper()
		s, err := readSource("pyproject.toml", filepath.Join(write(t, map[string]string{"pyproject.toml": text}), "pyproject.toml"))
		if err != nil {
			t.Fatal(err)
		}
		return s.asks()
	}
	ab := of("[project]\ndependencies = [\"a\", \"b\"]")
	if other := of("[project]\nname = \"x\"\ndependencies = [\"b\", \"a\", \"b\"]"); !slices.Equal(other, ab) {
		t.Errorf("another order and name asks for %q, want %q", other, ab)
	}
	if index := of("[project]\ndependencies = [\"a\", \"b\"]\n[tool.uv]\nindex = [{url = \"x\"}]"); slices.Equal(index, ab) {
		t.Error("where packages come from does not count")
	}
	of2, err := readSource("requirements.txt", filepath.Join(write(t, map[string]string{"requirements.txt": "-r requirements.txt"}), "requirements.txt"))
	if err != nil || len(of2.asks()) != 1 { // it does not loop forever
		t.Errorf("a file that includes itself asks for %q (%v)", of2.asks(), err)
	}
}

// TestSettingsOfUV checks that requirements with uv's settings are left to uv.
func TestSettingsOfUV(t *testing.T) {
	const settings = "# [tool.uv.sources]\n# six = {path = \"six\"}\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"a script":          {"p.py", "# /// script\n# dependencies = [\"six\"]\n" + settings + "# ///\n", "--script p.py --active"},
		"a locked script":   {"p.py.lock", "", "--script p.py --locked --active"},
		"a project":         {"pyproject.toml", "project.dependencies = [\"six\"]\n" + strings.ReplaceAll(settings, "# ", ""), "-r P --"},
		"an ordinary one":   {"pyproject.toml", "project.dependencies = [\"six\"]\ntool.uv.package = false", "-- six"},
		"an ordinary block": {"p.py", "# /// script\n# dependencies = [\"six\"]\n# ///\n", "-- six"},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t)
			dir := write(t, map[string]string{"p.py": "# /// script\n# dependencies = []\n# ///\n"})
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			r.Entry, r.Dirs = filepath.Join(dir, "p.py"), []string{dir}
			if c.file == "pyproject.toml" {
				r.Entry = dir
			}
			p := plan(t, r)
			synced(t, r)
			log := r.log()
			got := log[len(log)-1]
			if want := strings.NewReplacer("P", p.Source.Path, "p.py", r.Entry).Replace(c.want); !strings.HasSuffix(got, want) {
				t.Errorf("uv %s, want %s at its end", got, want)
			}
			r.Environ = nil
			if _, err := NewPlan(r); (err != nil) != p.Source.needsUV {
				t.Errorf("without uv: %v", err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	files := func(name, text string) func(r *Request) {
		return func(r *Request) {
			dir := write(t, map[string]string{name: text})
			r.Entry, r.Dirs = filepath.Join(dir, "p.py"), []string{dir}
		}
	}
	script := func(text string) func(r *Request) { return files("p.py", "# /// script\n"+text) }
	for name, c := range map[string]struct {
		change func(r *Request)
		want   string
	}{
		"nothing asks":     {func(r *Request) { r.Dirs = nil }, "no file lists the packages that"},
		"a lock of poetry": {files("poetry.lock", ""), "only poetry can read "},
		"a lock of pdm":    {files("pdm.lock", ""), "only pdm can read "},
		"uv is missing": {func(r *Request) {
			files("uv.lock", "")(r)
			r.Environ = nil
		}, "needs uv, which is not on PATH"},
		"a broken pyproject":  {files("pyproject.toml", "["), "pyproject.toml"},
		"a file called .venv": {func(r *Request) { r.in(t, ".venv", "elsewhere") }, ".venv is a file, expected a directory"},
		"no list":             {script("# dependencies = \"six\"\n# ///\n"), `dependencies is "six", expected a list`},
		"no text":             {files("pyproject.toml", "project.dependencies = [1]"), `dependencies[0] is 1, expected a requirement`},
		"an option":           {script("# dependencies = [\"six\", \"-r /etc/passwd\"]\n# ///\n"), `dependencies[1] is "-r /etc/passwd"`},
		"a path":              {script("# dependencies = [\"./six\"]\n# ///\n"), `dependencies[0] is "./six"`},
		"two lines":           {script("# dependencies = [\"six\\n-r x\"]\n# ///\n"), `dependencies[0] is "six\n-r x"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t)
			c.change(&r)
			p, err := NewPlan(r)
			if err == nil {
				_, err = p.Make(t.Context())
			}
			if _, ok := errors.AsType[*hook.Error](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
