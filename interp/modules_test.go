package interp

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeSite is where the packages of the environment at env are in these trees.
const fakeSite = "env/lib/python3.12/site-packages/"

// python is the interpreter of an environment in a tree.
func python(root, path string) Interpreter {
	return Interpreter{Path: filepath.Join(root, path), Version: Version{Major: 3, Minor: 12, Patch: 1}}
}

// walked lists what a walk from plug/main.py yields, without the script itself.
func walked(root string, m *Modules) string {
	var found []string
	for file := range m.Walk(filepath.Join(root, "plug", "main.py")) {
		name, _ := filepath.Rel(root, file.Path)
		if name = filepath.ToSlash(name); name != "plug/main.py" {
			found = append(found, name)
		}
	}
	return strings.Join(found, " ")
}

func TestModules(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the trees are those of other systems")
	}
	env := lines(base("opt"), venv("env", "opt", "3.12.1"))
	for _, c := range []struct {
		name    string
		tree    []string
		imports string // of plug/main.py
		environ string // $ROOT is the tree
		want    string
	}{
		{
			name:    "the script's directory, then PYTHONPATH, then what is installed",
			tree:    []string{"f plug/a.py", "f path/a.py", "f path/b.py", "f " + fakeSite + "b.py", "f " + fakeSite + "c.py"},
			imports: "a, b, c", environ: "PYTHONPATH=$ROOT/path:relative:",
			want: "plug/a.py path/b.py " + fakeSite + "c.py",
		}, {
			name: "the standard library is not looked at",
			tree: []string{"f opt/lib/python3.12/json/__init__.py"}, imports: "json", want: "",
		}, {
			name:    "a package is preferred to a module",
			tree:    []string{"f plug/a.py", "f plug/a/__init__.py"},
			imports: "a", want: "plug/a/__init__.py plug/a.py",
		}, {
			name: "packages above and names that are modules",
			tree: []string{"f plug/a/__init__.py", "f plug/a/b/__init__.py", "f plug/a/b/c.py", "f plug/a/b/d.py", "f plug/a/e.py"},
			imports: `a
from a.b import c, nothing, d`, want: "plug/a/__init__.py plug/a/b/__init__.py plug/a/b/c.py plug/a/b/d.py",
		}, {
			name: "a namespace package in two places",
			tree: []string{"f plug/ns/a.py", "f " + fakeSite + "ns/b.py", "d " + fakeSite + "other"},
			imports: `ns.a, ns.b
from ns import b`, want: "plug/ns/a.py " + fakeSite + "ns/b.py",
		}, {
			name:    "a package hides a namespace before it",
			tree:    []string{"f plug/ns/a.py", "f " + fakeSite + "ns/__init__.py", "f " + fakeSite + "ns/b.py"},
			imports: "ns.a, ns.b", want: fakeSite + "ns/__init__.py " + fakeSite + "ns/b.py",
		}, {
			name: "directories in .pth files: flit, hatchling, poetry, setuptools with a src layout",
			tree: []string{"f src/a/__init__.py", "f src/b.py",
				"f " + fakeSite + `a.pth # comment\nimport os; os.abort()\n\n$ROOT/src\n`,
				"f " + fakeSite + "more/c.py", "f " + fakeSite + `_more.pth ` + "\ufeffmore  \r\n$ROOT/gone\n",
				"f " + fakeSite + ".hidden.pth $ROOT/plug/x"},
			imports: "a, b, c", want: "src/a/__init__.py src/b.py " + fakeSite + "more/c.py",
		}, {
			name: "setup.py develop",
			tree: []string{"f src/a/__init__.py", "f " + fakeSite + `easy-install.pth $ROOT/src\n`,
				"f " + fakeSite + `a.egg-link $ROOT/src\n../`},
			imports: "a", want: "src/a/__init__.py",
		}, {
			name: "setuptools' finder",
			tree: []string{"f flat/pkg/__init__.py", "f flat/pkg/sub.py", "f flat/one.py",
				"f flat/odd/deep/__init__.py", "f flat/odd/deep/x.py", "f flat/ns/y.py",
				"f " + fakeSite + `__editable___flat_1_finder.py ` + finderText(
					`MAPPING: dict[str, str] = {'pkg': '$ROOT/flat/pkg', 'one': '$ROOT/flat/one', 'ns.deep': '$ROOT/flat/odd/deep'}`,
					`NAMESPACES: dict[str, list[str]] = {'ns': ['$ROOT/flat/ns']}`)},
			imports: `pkg.sub, one, ns.deep.x, pkgother
from ns import y`, want: "flat/pkg/__init__.py flat/pkg/sub.py flat/one.py flat/odd/deep/__init__.py flat/odd/deep/x.py flat/ns/y.py",
		}, {
			name: "setuptools' finder, before 70", tree: []string{"f flat/pkg/__init__.py",
				"f " + fakeSite + `__editable___flat_1_finder.py ` + finderText(`MAPPING = {'pkg': '$ROOT/flat/pkg'}`,
					`NAMESPACES = {}`)},
			imports: "pkg", want: "flat/pkg/__init__.py",
		}, {
			name:    "what the base has is not an environment's",
			tree:    []string{"f opt/lib/python3.12/site-packages/a.py", "f env/pyvenv.cfg include-system-site-packages = false"},
			imports: "a", want: "",
		}, {
			name: "unless the environment says so",
			tree: []string{"f opt/lib/python3.12/site-packages/a.py", "f home/.local/lib/python3.12/site-packages/b.py",
				"f env/pyvenv.cfg include-system-site-packages = TRUE"},
			imports: "a, b", environ: "HOME=$ROOT/home",
			want: "opt/lib/python3.12/site-packages/a.py home/.local/lib/python3.12/site-packages/b.py",
		}, {
			name: "or says nothing",
			tree: []string{"f opt/lib/python3.12/site-packages/a.py", "f home/b.py",
				"f home/lib/python3.12/site-packages/b.py", "f env/pyvenv.cfg version = 3.12"},
			imports: "a, b", environ: "PYTHONUSERBASE=$ROOT/home HOME=/nowhere",
			want: "opt/lib/python3.12/site-packages/a.py home/lib/python3.12/site-packages/b.py",
		}, {
			name:    "the user's own packages may be turned off",
			tree:    []string{"f home/.local/lib/python3.12/site-packages/b.py", "f env/pyvenv.cfg version = 3.12"},
			imports: "b", environ: "HOME=$ROOT/home PYTHONNOUSERSITE=1", want: "",
		}, {
			name:    "lib64",
			tree:    []string{"f env/lib64/python3.12/site-packages/a.py", "f " + fakeSite + "b.py"},
			imports: "a, b", want: "env/lib64/python3.12/site-packages/a.py " + fakeSite + "b.py",
		}, {
			name: "without threads' lock",
			tree: []string{"f env/lib/python3.12t/site-packages/a.py"}, imports: "a", want: "env/lib/python3.12t/site-packages/a.py",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, append(env[:len(env):len(env)],
				"f env/pyvenv.cfg home = $ROOT/opt/bin\\ninclude-system-site-packages = false")...)
			plant(t, root, c.tree...)
			plant(t, root, "f plug/main.py import "+strings.ReplaceAll(c.imports, "\n", `\n`))
			environ := strings.Fields(strings.ReplaceAll(c.environ, "$ROOT", root))
			m := python(root, "env/bin/python").Modules([]string{filepath.Join(root, "plug")}, environ)
			if got := walked(root, m); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// finderText is the text of a finder as setuptools writes it around two lines.
func finderText(lines ...string) string {
	return `from __future__ import annotations\nimport sys\n\n` + strings.Join(lines, `\n`) +
		`\nPATH_PLACEHOLDER = '__editable__.flat-1.finder' + ".__path_hook__"\n`
}

// TestSites holds what other installations have, where there is no environment.
func TestSites(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the trees are those of Linux")
	}
	v := Version{Major: 3, Minor: 12, Patch: -1}
	for _, c := range []struct {
		name string
		tree []string
		from Interpreter
		want string
	}{
		{
			name: "Debian", from: Interpreter{Path: "usr/bin/python3", Version: v},
			tree: []string{"x usr/bin/python3.12", "l usr/bin/python3 python3.12", "d usr/lib/python3/dist-packages",
				"d usr/local/lib/python3.12/dist-packages", "d usr/local/lib/python3.11/dist-packages"},
			want: "usr/local/lib/python3.12/dist-packages usr/lib/python3/dist-packages",
		}, {
			name: "a link into another installation", from: Interpreter{Path: "bin/python", Version: v},
			tree: lines(base("opt"), []string{"d opt/lib/python3.12/site-packages", "d lib/python3.12/site-packages",
				"l bin/python $ROOT/opt/bin/python3"}),
			want: "opt/lib/python3.12/site-packages",
		}, {
			name: "Fedora, where one is a link", from: Interpreter{Path: "usr/bin/python3", Version: v},
			tree: []string{"x usr/bin/python3", "d usr/lib/python3.12/site-packages", "l usr/lib64 lib"},
			want: "usr/lib/python3.12/site-packages",
		}, {
			name: "PyPy", from: Interpreter{Path: "usr/bin/pypy3", Version: v, Implementation: "pypy"},
			tree: []string{"x usr/bin/pypy3", "d usr/lib/pypy3.12/site-packages", "d usr/lib/python3.12/site-packages"},
			want: "usr/lib/pypy3.12/site-packages",
		}, {
			name: "a copied Python in an environment", from: Interpreter{Path: "env/bin/python", Version: v},
			tree: lines(base("opt"), []string{"x env/bin/python", "f env/pyvenv.cfg home = $ROOT/opt/bin",
				"d env/lib/python3.12/site-packages", "d opt/lib/python3.12/site-packages"}),
			want: "env/lib/python3.12/site-packages opt/lib/python3.12/site-packages",
		}, {
			name: "of an unknown version", from: Interpreter{Path: "usr/bin/python3"},
			tree: []string{"x usr/bin/python3", "d usr/lib/python3.12/site-packages"}, want: "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.tree...)
			c.from.Path = filepath.Join(root, c.from.Path)
			var got []string
			for _, dir := range c.from.sites(map[string]string{}) {
				name, _ := filepath.Rel(root, dir)
				got = append(got, name)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), c.want)
			}
		})
	}
}

func TestHas(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the tree is that of other systems")
	}
	root := tree(t, append(lines(base("opt"), venv("env", "opt", "3.12.1")), "f env/pyvenv.cfg include-system-site-packages = false",
		"d plug/own", "f plug/mod.py", "d "+fakeSite+"grpc", "f "+fakeSite+"six.py", "f "+fakeSite+"a.pth $ROOT/src",
		"f src/pkg/__init__.py",
		"f "+fakeSite+`__editable___x_finder.py MAPPING = {'ns.deep': '$ROOT/deep'}`, "f opt/lib/python3.12/json/__init__.py")...)
	m := python(root, "env/bin/python").Modules([]string{filepath.Join(root, "plug")}, nil)
	for name, want := range map[string]bool{
		"own": true, "mod": true, "grpc": true, "six": true, "pkg": true, "ns": true,
		"deep": false, "json": false, "numpy": false, "mod.py": false, "grp": false,
	} {
		if m.Has(name) != want {
			t.Errorf("%s: got %v", name, !want)
		}
	}
	none := Interpreter{}.Modules(nil, nil)
	if none.Has("grpc") {
		t.Error("the zero Interpreter has grpc")
	}
}

func TestMapping(t *testing.T) {
	for line, want := range map[string]string{
		`MAPPING: dict[str, str] = {'a': '/x/a', "it's": "/it's"}`:    "a=/x/a it's=/it's",
		`MAPPING = {'a.b': '/x/\u00e9\xe9\\', 'c' : '/\U0001f40d'}`:   `a/b=/x/éé\ c=/🐍`,
		`MAPPING = {'ns': ['/x/ns', '/y/ns'], 'empty': [], 'b':'/b'}`: "ns=/x/ns ns=/y/ns b=/b",
		`MAPPING = {}`:                     "",
		`MAPPING = {'a': '/x/a', 'b': '/x`: "a=/x/a",
		`MAPPING = {'a': '\q'}`:            "",
		`MAPPING`:                          "",
		`'a': '/x'`:                        "",
		"OTHER = {'a': '/x'}\nMAPPING = {'b': '/y'}\nOTHER = {'c': '/z'}": "b=/y",
		" MAPPING = {'a': '/x'}": "",
	} {
		var got []string
		for _, p := range mapping(line, "MAPPING") {
			got = append(got, p.name+"="+p.dir)
		}
		if strings.Join(got, " ") != filepath.FromSlash(want) && runtime.GOOS != "windows" {
			t.Errorf("%s\ngot  %q\nwant %q", line, strings.Join(got, " "), want)
		}
	}
}

func FuzzMapping(f *testing.F) {
	f.Add(`MAPPING: dict[str, str] = {'a': '/x/a', "it's": "/it's"}`)
	f.Add(`MAPPING = {'ns': ['/x/\xe9', '/y/\u00e9'], 'empty': []}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range mapping(text, "MAPPING") {
			if p.name == "" || p.dir == "" || strings.Contains(p.name, ".") {
				t.Errorf("%q: %+v", text, p)
			}
			place{placeName: p}.file(p.name + "/x.py")
		}
	})
}
