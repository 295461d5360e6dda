package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// pyenvTree is a pyenv that has selected 3.11. It also has 3.12, a pre-release and an environment.
var pyenvTree = []string{
	"s pyenv/shims/python3 " + pyenvShim, "s pyenv/shims/python3.12 " + pyenvShim,
	"x pyenv/versions/3.11.7/bin/python3.11", "l pyenv/versions/3.11.7/bin/python3 python3.11", "l pyenv/versions/3.11.7/bin/python python3.11",
	"x pyenv/versions/3.12.1/bin/python3.12", "l pyenv/versions/3.12.1/bin/python python3.12", "l pyenv/versions/3.12.1/bin/python3 python3.12",
	"x pyenv/versions/3.12.9/bin/python3.12", "l pyenv/versions/3.12.9/bin/python python3.12",
	"x pyenv/versions/3.14.0rc1/bin/python", "l pyenv/versions/mine/bin/python $ROOT/pyenv/versions/3.12.1/bin/python3.12", "f pyenv/versions/mine/pyvenv.cfg x",
	"f pyenv/version 3.11.7\\n",
}

// search runs Find in a new tree, whose path it returns as root.
func search(t *testing.T, c findCase) (root string, found Interpreter, err error) {
	t.Helper()
	root = c.make(t)
	found, err = Find(t.Context(), c.request(root))
	return root, found, err
}

// explained returns the candidates that `python why` lists and that were not chosen. It checks that
// each has a fix and that none occurs twice.
func (c findCase) explained(t *testing.T, root string) []Attempt {
	t.Helper()
	d, err := Explain(t.Context(), c.request(root))
	check(t, err)
	all := append(d.Before, d.After...)
	if d.Broken != nil {
		all = append(all, *d.Broken)
	}
	seen := map[string]bool{d.Chosen.Path: d.Broken == nil}
	for _, a := range all {
		if a.Fix.IsZero() && a.Code != Shim {
			t.Errorf("%s has no fix", a)
		}
		if seen[a.Path] {
			t.Errorf("%s is there twice", a)
		}
		seen[a.Path] = true
	}
	return all
}

// TestSkipped checks that Skipped contains an environment of VIRTUAL_ENV that was not used.
func TestSkipped(t *testing.T) {
	opt := base("opt")
	path := "PATH=$ROOT/opt/bin"
	active := "VIRTUAL_ENV=$ROOT/e"
	for _, c := range []struct {
		findCase
		skipped string
	}{
		{findCase{name: "broken", tree: lines(opt, []string{"f e/pyvenv.cfg x", "l e/bin/python /gone/python3"}), environ: []string{active, path}},
			"e/bin/python (VIRTUAL_ENV): is a broken symbolic link: python -> /gone/python3, which does not exist"},
		{findCase{name: "missing", tree: opt, environ: []string{active, path}}, "e (VIRTUAL_ENV): does not exist"},
		{findCase{name: "of another version", tree: lines(opt, venv("e", "opt", "3.12"), []string{"x a/python3.13"}), requires: []string{">=3.13 p.py"},
			environ: []string{active, "PATH=$ROOT/a"}}, "e/bin/python (VIRTUAL_ENV): is 3.12.4, expected >=3.13 (p.py)"},
		{findCase{name: "good", tree: lines(opt, venv("e", "opt", "3.12")), environ: []string{active, path}}, ""},
		{findCase{name: "not looked at", tree: opt, flag: "../opt", environ: []string{active, path}}, ""},
		{findCase{name: "something else on PATH", tree: lines(opt, []string{"d a/python3"}), environ: []string{"PATH=$ROOT/a:$ROOT/opt/bin"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, found, err := search(t, c.findCase)
			check(t, err)
			got := ""
			for _, attempt := range found.Skipped {
				got += strings.ReplaceAll(attempt.String(), root+"/", "")
			}
			if got != c.skipped {
				t.Errorf("got  %s\nwant %s", got, c.skipped)
			}
		})
	}
}

// TestHints checks the fixes of Pythons that were not chosen: they name a suitable Python, and
// where it is.
func TestHints(t *testing.T) {
	opt := base("opt")
	broken := []string{"l plug/.venv/bin/python /gone/python3"}
	shims := "PATH=$ROOT/pyenv/shims:$ROOT/opt/bin"
	shared := func(name string) func(string, string) (owner, bool) { return ownedCase{shared: name}.ownerOf }
	const other, again = "use opt/bin/python3 (3.12.4, PATH): --python opt/bin/python3", "make the environment again: opt/bin/python3 -m venv --clear "
	const newer = "use a/python3 (3.13, PATH): --python a/python3"
	for _, c := range []struct {
		findCase
		want string
	}{
		{findCase{name: "pyenv has it", tree: lines(opt, pyenvTree, venv("plug/.venv", "opt", "3.12.4")), requires: []string{">=3.12.5 p.py"}, environ: []string{shims}},
			"make the environment again: pyenv/versions/3.12.9/bin/python -m venv --clear plug/.venv"},
		{findCase{name: "nobody has it", tree: lines(opt, pyenvTree), requires: []string{">=3.14.2,<3.16 p.py"}, environ: []string{shims}},
			"install Python >=3.14.2,<3.16, or name one with --python"},
		{findCase{name: "nothing at all", environ: []string{"PATH=$ROOT/a"}}, "install Python 3.9 or later, or name one with --python"},
		{findCase{name: "another program by flag", tree: opt, flag: "nope", environ: []string{"PATH=$ROOT/a"}},
			"install Python 3.9 or later, or name one with --python"},
		{findCase{name: "no version at all", requires: []string{">3.12,<3.11 p.py"}}, "change one of the versions that these ask for"},
		{findCase{name: "two that clash", requires: []string{">=3.12,!=3.13.1 p.py", "<3.10 pyproject.toml", "<4 pyplug.toml"}},
			"change one of the versions that these ask for"},
		{findCase{name: "three that clash", requires: []string{">=3.12 a", "<3.13 b", "!=3.12.* c"}}, "change one of the versions that these ask for"},
		{findCase{name: "no specifier", requires: []string{"3.x p.py"}}, "correct the version that p.py asks for"},
		{findCase{name: "a version that pyenv installs", tree: lines(opt, []string{"x a/pyenv"}), flag: "3.13t", environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a"}},
			"install it: pyenv install 3.13t, or name one with --python"},
		{findCase{name: "a version that nobody installs", tree: lines(opt, []string{"n a/uv"}), flag: "3.13t", environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a"}},
			"install Python 3.13t from your system's packages or its website, or name one with --python"},
		{findCase{name: "a pin that uv installs", tree: lines(opt, []string{"x a/uv", "f plug/.python-version 3.14\n"}), environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a"}},
			"install it: uv python install 3.14"},
		{findCase{name: "a pin of specifiers", tree: lines(opt, []string{"x a/uv", "f plug/.python-version >=3.14\n"}), environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a"}},
			"install Python >=3.14 from your system's packages or its website"},
		{findCase{name: "a pin of specifiers that no manager reads", tree: lines(opt, []string{"x a/pyenv", "f plug/.python-version ~=3.14.1\n"}),
			environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a"}}, "install Python ~=3.14.1 from your system's packages or its website"},
		{findCase{name: "pyenv installs what is required", tree: lines(opt, []string{"x a/pyenv"}), requires: []string{">=3.14.2 p.py", "<3.16 pyproject.toml"},
			environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a"}}, "install Python >=3.14.2 and <3.16, or name one with --python"},
		{findCase{name: "several requirements", flag: ">=3.15", requires: []string{">=3.12 p.py"}, environ: []string{"PATH=$ROOT/a"}},
			"install Python >=3.12 and >=3.15, or name one with --python"},
		{findCase{name: "somebody else's environment", tree: lines(opt, venv("e/.venv", "opt", "3.12.4"), []string{"x a/python3.13", "l a/python3 python3.13"}),
			flag: "../e/.venv", requires: []string{">=3.13 p.py"}, environ: []string{"PATH=$ROOT/a"}}, newer},
		{findCase{name: "the environment is of another", tree: lines(opt, venv("plug/.venv", "opt", "3.12.4"), []string{"x my a/python3.13", "x my a/bin"}),
			requires: []string{">=3.13 p.py"}, environ: []string{"PATH=$ROOT/plug/.venv/bin:$ROOT/opt/bin"}},
			"install Python >=3.13, or name one with --python"},
		{findCase{name: "and another has it", tree: lines(opt, venv("plug/.venv", "opt", "3.12.4"), []string{"x a/python3.13", "l a/python3 python3.13"}),
			requires: []string{">=3.13 p.py"}, environ: []string{"PATH=$ROOT/plug/.venv/bin:$ROOT/opt/bin:$ROOT/a"}},
			"make the environment again: a/python3 -m venv --clear plug/.venv"},

		// A fix may empty only a directory that is an environment of the plugin.
		{findCase{name: "broken", tree: lines(broken, []string{"f plug/.venv/pyvenv.cfg x"})}, again + "plug/.venv"},
		{findCase{name: "broken, and made by pyplug", tree: lines(broken, []string{"f plug/.venv/pyvenv.cfg x", "f plug/.venv/" + EnvMarker + " {}"})}, "make it again: rm -r plug/.venv && pyplug sync p.py"},
		{findCase{name: "no pyvenv.cfg", tree: []string{"l plug/.venv/bin/python $ROOT/opt/bin/python3"}}, other},
		{findCase{name: "no python", tree: []string{"f plug/.venv/pyvenv.cfg x"}}, again + "plug/.venv"},
		{findCase{name: "not executable", tree: []string{"f plug/.venv/pyvenv.cfg x", "n plug/.venv/bin/python"}}, again + "plug/.venv"},
		{findCase{name: "not executable, and no program", tree: []string{"f plug/.venv/pyvenv.cfg x", "f plug/.venv/bin/python x"}}, again + "plug/.venv"},
		{findCase{name: "link to one", tree: []string{"f e/pyvenv.cfg x", "l plug/.venv ../e"}}, other},
		{findCase{name: "link to a system", tree: []string{"f opt/lib/python3.11/os.py x", "f opt/lib/python3.12/os.py x", "l plug/.venv ../opt"}}, other},
		{findCase{name: "broken link", tree: []string{"l plug/.venv ../gone"}}, other},
		{findCase{name: "any directory by flag", tree: []string{"f work/src/x.py x"}, flag: "src"}, other},
		{findCase{name: "an environment by flag", tree: []string{"f work/e/pyvenv.cfg x"}, flag: "e"}, other},
		{findCase{name: "its own by flag", tree: []string{"f plug/.venv/pyvenv.cfg x"}, flag: "../plug/.venv"}, again + "plug/.venv"},
		{findCase{name: "activated, and gone", tree: opt, environ: []string{"VIRTUAL_ENV=$ROOT/plug/.venv"}}, "make it again or deactivate it; --no-active ignores it"},
		{findCase{name: "activated, gone, and asked for", tree: opt, environ: []string{"VIRTUAL_ENV=$ROOT/plug/.venv"}, active: "yes"}, "make it again or deactivate it; --no-active ignores it"},
		{findCase{name: "activated, and no environment", tree: []string{"f plug/e x"}, environ: []string{"VIRTUAL_ENV=$ROOT/plug/e"}}, "make it again or deactivate it; --no-active ignores it"},
		{findCase{name: "another user may change it", tree: venv("plug/.venv", "opt", "3.12.4"), owners: shared("plug/.venv/bin")}, "add --python plug/.venv if you trust it"},
		{findCase{name: "a file by flag", tree: []string{"n work/py"}, flag: "./py"}, other},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.environ == nil {
				c.tree, c.environ = lines(opt, c.tree), []string{"PATH=$ROOT/opt/bin"}
			}
			root, found, err := search(t, c.findCase)
			e := hook.AsError(err)
			if e == nil {
				t.Fatalf("got %v", found)
			}
			if got := strings.ReplaceAll(strings.Join(hook.Words(e.Hints), "; "), root+"/", ""); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestManaged checks that a requested version is also found among the installs of version managers:
// the newest release, not a pre-release or an environment.
func TestManaged(t *testing.T) {
	home := "HOME=$ROOT/home"
	for _, c := range []findCase{
		{name: "pyenv, by variable", tree: pyenvTree[2:], flag: "3.12", environ: []string{"PYENV_ROOT=$ROOT/pyenv"},
			want: "pyenv/versions/3.12.9/bin/python 3.12.9 --python"},
		{name: "pyenv, by its shim", tree: pyenvTree, flag: "python3.12", environ: []string{"PATH=$ROOT/pyenv/shims"},
			want: "pyenv/versions/3.12.9/bin/python 3.12.9 --python"},
		{name: "pyenv, by a specifier", tree: pyenvTree[2:], flag: "<3.12.9,>3.11.7", environ: []string{"PYENV_ROOT=$ROOT/pyenv"},
			want: "pyenv/versions/3.12.1/bin/python 3.12.1 --python"},
		{name: "uv", tree: []string{"x home/.local/share/uv/python/cpython-3.11.4-linux/bin/python3.11",
			"l home/.local/share/uv/python/cpython-3.11.4-linux/bin/python python3.11"}, flag: "3.11", environ: []string{home},
			want: "home/.local/share/uv/python/cpython-3.11.4-linux/bin/python 3.11.4 --python"},
		{name: "PATH first", tree: lines(base("opt"), pyenvTree[2:]), flag: "3.12", environ: []string{"PYENV_ROOT=$ROOT/pyenv", "PATH=$ROOT/opt/bin"},
			want: "opt/bin/python3 3.12.4 --python"},
		{name: "without being asked", tree: pyenvTree[2:], environ: []string{"PYENV_ROOT=$ROOT/pyenv"},
			want: "pyenv/versions/3.12.9/bin/python 3.12.9 pyenv"},
	} {
		t.Run(c.name, c.run)
	}
}

// TestShimOnce checks that an unsuitable Python behind a shim is reported once, together with the
// other versions of its manager.
func TestShimOnce(t *testing.T) {
	root, _, err := search(t, findCase{tree: pyenvTree, requires: []string{">=3.15 p.py"}, environ: []string{"PATH=$ROOT/pyenv/shims"}})
	missing := hook.AsError(err)
	if missing == nil {
		t.Fatal("one was found")
	}
	want := "[pyenv/shims/python3 (PATH): is a shim of pyenv for pyenv/versions/3.11.7/bin/python3, which is 3.11.7, expected >=3.15 (p.py) " +
		"pyenv/versions (pyenv): has no suitable version, only 3.14.0rc1, 3.12.9, 3.12.1, 3.11.7, mine]"
	if got := strings.ReplaceAll(fmt.Sprint(missing.Tried), root+"/", ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAskFails checks that a failure to answer is reported in one short line.
func TestAskFails(t *testing.T) {
	const path, start = "/opt/fakepy", "--python: /opt/fakepy is not a Python: it did not print its version ("
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		err        error
		said, want string
	}{
		{errors.New("exit code 3"), "", "exit code 3"},
		{errors.New("exit code 3"), "a\nno such thing\n", `exit code 3, "no such thing"`},
		{errors.New("exit code 1"), long, fmt.Sprintf("exit code 1, %q", long[:80]+"…")},
		{errors.New(path + ": wrote 2000000 bytes, expected at most 1048576"), "", "wrote 2000000 bytes, expected at most 1048576"},
	} {
		run := func(context.Context, string, []string) ([]byte, string, error) { return nil, c.said, c.err }
		_, _, broken := ask(t.Context(), run, path)
		broken.Source = SourceFlag
		if got, want := broken.failure().Error(), start+c.want+")"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestList checks that List returns each Python once, with the known facts, whoever installed it.
func TestList(t *testing.T) {
	root := tree(t, lines(base("opt"), venv("e", "opt", "3.12.4"), pyenvTree, base("uv/cpython-3.12.4-linux"), []string{
		"x system/usr/bin/python3.10", "l system/usr/bin/python3 python3.10", "x a/python3.7", `s a/python3 #!/bin/sh\n`, "l b/python3 ../opt/bin/python3",
	})...)
	request := Request{Cwd: root, systemRoot: root + "/system"}
	for _, entry := range []string{"VIRTUAL_ENV=$/e", "PATH=$/opt/bin:$/a/:$/b:$/pyenv/shims:.", "PYENV_ROOT=$/pyenv", "UV_PYTHON_INSTALL_DIR=$/uv"} {
		request.Environ = append(request.Environ, strings.ReplaceAll(entry, "$", root))
	}
	found, err := List(t.Context(), request)
	check(t, err)
	got := ""
	for _, i := range found {
		facts := FactsOf(i, request.Environ)
		if within(root+"/a", i.Path) && i.Source != SourcePath {
			t.Errorf("%s is from %s, want PATH", i.Path, i.Source)
		}
		got += strings.ReplaceAll(fmt.Sprintln(i.Path, i.Version, facts.Kind, facts.Manager), root+"/", "")
	}
	want := `e/bin/python 3.12.4 venv 
opt/bin/python3 3.12.4 installed 
a/python3 unknown installed 
pyenv/versions/3.11.7/bin/python3 3.11.7 managed pyenv
system/usr/bin/python3 3.10 installed 
a/python3.7 3.7 installed 
pyenv/versions/3.14.0rc1/bin/python 3.14.0rc1 managed pyenv
pyenv/versions/3.12.9/bin/python 3.12.9 managed pyenv
pyenv/versions/3.12.1/bin/python 3.12.1 managed pyenv
pyenv/versions/mine/bin/python 3.12.1 venv pyenv
uv/cpython-3.12.4-linux/bin/python 3.12.4 managed uv
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
