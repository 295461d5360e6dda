//go:build unix

package env

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

// The same requirements have the same digest, whatever their order; an included file counts.
func TestDigest(t *testing.T) {
	of := func(files map[string]string, name string) string {
		t.Helper()
		s, err := readSource(Source{Kind: name, Path: filepath.Join(write(t, files), name)})
		if err != nil {
			t.Fatal(err)
		}
		return s.digest
	}
	ab := of(map[string]string{"pyproject.toml": "[project]\ndependencies = [\"a\", \"b\"]"}, "pyproject.toml")
	if other := of(map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"b\", \"a\"]"}, "pyproject.toml"); other != ab {
		t.Error("another order or name is another environment")
	}
	one := of(map[string]string{"requirements.txt": "-r more.txt", "more.txt": "a"}, "requirements.txt")
	if two := of(map[string]string{"requirements.txt": "-r more.txt", "more.txt": "b"}, "requirements.txt"); one == two {
		t.Error("an included file does not count")
	}
	of(map[string]string{"requirements.txt": "-r requirements.txt"}, "requirements.txt") // it ends
}

// Equal plugins in two directories share an environment, unless what they ask for may name a
// file or a project beside it.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		name, text string
		shared     bool
	}{
		{"requirements.txt", "six  # see ./docs\nidna \\\n  >=3 --hash=sha256:ab\nx @ https://host/x.tar; python_version > '3'\n--index-url https://host/simple\n", true},
		{"requirements.txt", "six\n./lib\n", false},
		{"requirements.txt", "-e .\n", false},
		{"requirements.txt", "lib/six\n", false},
		{"requirements.txt", "six.whl ; python_version > '3'\n", false},
		{"requirements.txt", "-f wheels\nsix\n", false},
		{"requirements.txt", "--find-links=wheels\nsix\n", false},
		{"requirements.txt", "lib @ file:lib\n", false},
		{"pyproject.toml", "[project]\ndependencies = [\"six\"]\n", true},
		{"uv.lock", "version = 1\n", false},
	} {
		one, two := request(t), request(t)
		two.Environ = one.Environ
		one.Dirs, two.Dirs = []string{write(t, map[string]string{c.name: c.text})}, []string{write(t, map[string]string{c.name: c.text})}
		if shared := plan(t, one).key == plan(t, two).key; shared != c.shared {
			t.Errorf("%s with %q: shared is %v", c.name, c.text, shared)
		}
	}
	r := request(t)
	r.Dirs = []string{write(t, map[string]string{"uv.lock": ""})}
	before := plan(t, r).key
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "pyproject.toml"), []byte("[project]"), 0o666); err != nil {
		t.Fatal(err)
	}
	if plan(t, r).key == before {
		t.Error("a change of the project beside a lock file does not count")
	}
}

// What says where packages come from is for the tool that understands it.
func TestSettingsOfUV(t *testing.T) {
	const settings = "# [tool.uv.sources]\n# six = {path = \"six\"}\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"a script":          {"p.py", "# /// script\n# dependencies = [\"six\"]\n" + settings + "# ///\n", "sync --active --python /bin/sh --script P"},
		"a locked script":   {"p.py.lock", "", "sync --active --python /bin/sh --script p.py --locked"},
		"a project":         {"pyproject.toml", "project.dependencies = [\"six\"]\n" + strings.ReplaceAll(settings, "# ", ""), "-r P"},
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
			commands := p.commands("/env")
			got := strings.Join(commands[len(commands)-1].args, " ")
			if want := strings.NewReplacer("P", p.Source.Path, "p.py", r.Entry).Replace(c.want); !strings.HasSuffix(got, want) {
				t.Errorf("uv %s, want %s at its end", got, want)
			}
			r.Environ = nil
			if _, err := NewPlan(r); (err != nil) != (p.Source.tool != "") {
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
		"nothing asks":        {func(r *Request) { r.Dirs = nil }, "no file says what"},
		"a tool is missing":   {files("poetry.lock", ""), "needs poetry, which is not on PATH"},
		"a broken pyproject":  {files("pyproject.toml", "["), "pyproject.toml"},
		"the cache is a file": {func(r *Request) { r.Cache = r.Entry }, "not a directory"},
		"no list":             {script("# dependencies = \"six\"\n# ///\n"), `dependencies is "six", want a list`},
		"no text":             {files("pyproject.toml", "project.dependencies = [1]"), `dependencies[0] is 1, want a requirement`},
		"an option":           {script("# dependencies = [\"six\", \"-r /etc/passwd\"]\n# ///\n"), `dependencies[1] is "-r /etc/passwd"`},
		"a path":              {script("# dependencies = [\"./six\"]\n# ///\n"), `dependencies[0] is "./six"`},
		"two lines":           {script("# dependencies = [\"six\\n-r x\"]\n# ///\n"), `dependencies[0] is "six\n-r x"`},
		"poetry offline": {func(r *Request) {
			dir := write(t, map[string]string{"poetry.lock": "", "poetry": "#!/bin/sh\n"})
			if err := os.Chmod(filepath.Join(dir, "poetry"), 0o777); err != nil {
				t.Fatal(err)
			}
			r.Dirs, r.Environ, r.Offline = []string{dir}, []string{"PATH=" + dir}, true
		}, "poetry, which cannot install offline"},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t)
			c.change(&r)
			p, err := NewPlan(r)
			if err == nil {
				_, err = p.Make(t.Context())
			}
			if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
