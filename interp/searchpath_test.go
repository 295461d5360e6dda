package interp

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeSite is the package directory of the environment at env in these trees.
const fakeSite = "env/lib/python3.12/site-packages/"

// python returns the interpreter of an environment in a tree.
func python(root, path string) Interpreter {
	return Interpreter{Path: filepath.Join(root, path), Version: Version{Major: 3, Minor: 12, Patch: 1}}
}

// TestSearchPath checks where an environment's Python looks for modules.
func TestSearchPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the trees are those of other systems")
	}
	env := lines(base("opt"), venv("env", "opt", "3.12.1"))
	opt, user := "opt/lib/python3.12/site-packages", "home/.local/lib/python3.12/site-packages"
	for _, c := range []struct {
		name    string
		tree    []string
		config  string // the text of pyvenv.cfg
		environ string // $ROOT is the tree
		want    string
	}{
		{name: "42 PYTHONPATH is kept, and comes first", environ: "PYTHONPATH=$ROOT/path:relative:", want: "path env/lib/python3.12/site-packages"},
		{
			name: "directories in .pth files: flit, hatchling, poetry, setuptools with a src layout",
			tree: []string{"d src", "f " + fakeSite + `a.pth # comment\nimport os; os.abort()\n\n$ROOT/src\n`,
				"d " + fakeSite + "more", "f " + fakeSite + `_more.pth ` + "\ufeffmore  \r\n$ROOT/gone\n",
				"f " + fakeSite + ".hidden.pth $ROOT/opt"},
			want: "env/lib/python3.12/site-packages env/lib/python3.12/site-packages/more src",
		},
		{name: "43 what the base and the user have is not an environment's", tree: []string{"d " + opt, "d " + user}, environ: "HOME=$ROOT/home", want: "env/lib/python3.12/site-packages"},
		{
			name: "22 unless the environment says so", tree: []string{"d " + opt, "d " + user},
			config: "include-system-site-packages = TRUE", environ: "HOME=$ROOT/home",
			want: "env/lib/python3.12/site-packages " + user + " " + opt,
		},
		{
			name: "11 or an injected line does, as Python reads it", tree: []string{"d " + opt},
			config: `include-system-site-packages = false\ncommand = x\ninclude-system-site-packages = true`,
			want:   "env/lib/python3.12/site-packages " + opt,
		},
		{
			name: "10 or says nothing", tree: []string{"d " + opt, "d home/lib/python3.12/site-packages"}, config: "version = 3.12",
			environ: "PYTHONUSERBASE=$ROOT/home HOME=/nowhere", want: "env/lib/python3.12/site-packages home/lib/python3.12/site-packages " + opt,
		},
		{
			name: "the user's own packages may be turned off", tree: []string{"d " + user}, config: "version = 3.12",
			environ: "HOME=$ROOT/home PYTHONNOUSERSITE=1", want: "env/lib/python3.12/site-packages",
		},
		{name: "lib64", tree: []string{"d env/lib64/python3.12/site-packages"},
			want: "env/lib/python3.12/site-packages env/lib64/python3.12/site-packages"},
		{name: "free-threaded", tree: []string{"d env/lib/python3.12t/site-packages"},
			want: "env/lib/python3.12/site-packages env/lib/python3.12t/site-packages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := c.config
			if config == "" {
				config = "include-system-site-packages = false"
			}
			root := tree(t, append(env[:len(env):len(env)], "d "+fakeSite, `f env/pyvenv.cfg home = $ROOT/opt/bin\n`+config)...)
			addFiles(t, root, c.tree...)
			var got []string
			for _, dir := range python(root, "env/bin/python").SearchPath(strings.Fields(strings.ReplaceAll(c.environ, "$ROOT", root))) {
				name, _ := filepath.Rel(root, dir)
				got = append(got, filepath.ToSlash(name))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), c.want)
			}
		})
	}
}

// TestSites checks the package directories of installations without an environment.
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
			for _, dir := range c.from.SearchPath(nil) {
				name, _ := filepath.Rel(root, dir)
				got = append(got, name)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), c.want)
			}
		})
	}
}
