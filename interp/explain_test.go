package interp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// pyenvTree is a pyenv that has selected 3.11 and has 3.12, a pre-release and an
// environment too.
var pyenvTree = []string{
	"s pyenv/shims/python3 " + pyenvShim, "s pyenv/shims/python3.12 " + pyenvShim,
	"x pyenv/versions/3.11.7/bin/python3.11", "l pyenv/versions/3.11.7/bin/python3 python3.11", "l pyenv/versions/3.11.7/bin/python python3.11",
	"x pyenv/versions/3.12.1/bin/python3.12", "l pyenv/versions/3.12.1/bin/python python3.12", "l pyenv/versions/3.12.1/bin/python3 python3.12",
	"x pyenv/versions/3.12.9/bin/python3.12", "l pyenv/versions/3.12.9/bin/python python3.12",
	"x pyenv/versions/3.14.0rc1/bin/python", "l pyenv/versions/mine/bin/python $ROOT/pyenv/versions/3.12.1/bin/python3.12", "f pyenv/versions/mine/pyvenv.cfg x",
	"f pyenv/version 3.11.7\\n",
}

// search runs a Find in a tree, and gives texts without the tree's path.
func search(t *testing.T, c findCase) (root string, found Interpreter, err error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the trees are shaped as on Unix")
	}
	root = tree(t, append(c.tree, "d work", "d plug")...)
	found, err = Find(t.Context(), c.request(root))
	return root, found, err
}

// An environment that VIRTUAL_ENV names in vain is told apart in Skipped.
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
			environ: []string{active, "PATH=$ROOT/a"}}, "e/bin/python (VIRTUAL_ENV): is 3.12.4, want >=3.13 (p.py)"},
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

// What does not do is said with what would, and where it is.
func TestElsewhere(t *testing.T) {
	opt := base("opt")
	shims := "PATH=$ROOT/pyenv/shims:$ROOT/opt/bin"
	pyenv312 := "pyenv/versions/3.12.9/bin/python (3.12.9, pyenv); pyenv/versions/3.12.1/bin/python (3.12.1, pyenv)"
	for _, c := range []struct {
		findCase
		needs, elsewhere string
	}{
		{findCase{name: "pyenv has it", tree: pyenvTree, requires: []string{">=3.12 p.py"}, environ: []string{shims}}, "3.12 or later", pyenv312},
		{findCase{name: "nobody has it", tree: lines(opt, pyenvTree), requires: []string{">=3.13.2,<3.15 p.py"}, environ: []string{shims}}, "3.13.2 to 3.14", ""},
		{findCase{name: "nothing at all", environ: []string{"PATH=$ROOT/a"}}, "3.8 or later", ""},
		{findCase{name: "one version", requires: []string{"==3.9.* p.py"}}, "3.9", ""},
		{findCase{name: "more than two ends", requires: []string{">=3.9,!=3.11.* p.py"}}, ">=3.9,!=3.11.*", ""},
		{findCase{name: "the environment is of another", tree: lines(opt, venv("plug/.venv", "opt", "3.12.4"), []string{"x a/python3.13", "l a/python3 python3.13"}),
			requires: []string{">=3.13 p.py"}, environ: []string{"PATH=$ROOT/plug/.venv/bin:$ROOT/opt/bin:$ROOT/a"}}, "3.13 or later", "a/python3 (3.13, PATH)"},
		{findCase{name: "version by flag", tree: lines(opt, pyenvTree[2:]), flag: "3.11", environ: []string{"HOME=$ROOT/home", "PYENV_ROOT=$ROOT/pyenv", "PATH=$ROOT/opt/bin"}},
			"3.11", "pyenv/versions/3.11.7/bin/python (3.11.7, pyenv)"},
		{findCase{name: "name by flag", tree: lines(opt, []string{"x home/.local/share/uv/python/cpython-3.11.4-linux/bin/python3.11",
			"l home/.local/share/uv/python/cpython-3.11.4-linux/bin/python python3.11", "x home/.asdf/installs/python/3.11.2/bin/python",
			"x home/.local/share/mise/installs/python/3.11.3/bin/python", "x home/.pyenv/versions/3.11.1/bin/python"}),
			flag: "python3.11", environ: []string{"HOME=$ROOT/home", "PATH=$ROOT/opt/bin"}},
			"3.11", "home/.pyenv/versions/3.11.1/bin/python (3.11.1, pyenv); home/.local/share/uv/python/cpython-3.11.4-linux/bin/python (3.11.4, uv); " +
				"home/.asdf/installs/python/3.11.2/bin/python (3.11.2, asdf); home/.local/share/mise/installs/python/3.11.3/bin/python (3.11.3, mise)"},
		{findCase{name: "another program by flag", tree: opt, flag: "nope", environ: []string{"PATH=$ROOT/opt/bin"}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, found, err := search(t, c.findCase)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, %v", found, err)
			}
			var words []string
			for _, python := range e.Elsewhere {
				words = append(words, strings.ReplaceAll(python.String(), root+"/", ""))
			}
			if got := strings.Join(words, "; "); e.Needs != c.needs || got != c.elsewhere {
				t.Errorf("got  %q: %s\nwant %q: %s", e.Needs, got, c.needs, c.elsewhere)
			}
		})
	}
}

// A shim whose Python will not do is told once.
func TestShimOnce(t *testing.T) {
	root, _, err := search(t, findCase{tree: pyenvTree, requires: []string{">=3.13 p.py"}, environ: []string{"PATH=$ROOT/pyenv/shims"}})
	var missing *Error
	if !errors.As(err, &missing) {
		t.Fatal(err)
	}
	want := "[pyenv/shims/python3 (PATH): is a shim of pyenv for pyenv/versions/3.11.7/bin/python3, which is 3.11.7, want >=3.13 (p.py)]"
	if got := strings.ReplaceAll(fmt.Sprint(missing.Tried), root+"/", ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Only what is an environment, in its own place, may be emptied.
func TestRemake(t *testing.T) {
	opt := base("opt")
	broken := []string{"l plug/.venv/bin/python /gone/python3"}
	for _, c := range []struct {
		findCase
		env    string
		remake bool
	}{
		{findCase{name: "broken", tree: lines(broken, []string{"f plug/.venv/pyvenv.cfg x"})}, "plug/.venv", true},
		{findCase{name: "no pyvenv.cfg", tree: lines(opt, []string{"l plug/.venv/bin/python $ROOT/opt/bin/python3"})}, "plug/.venv", true},
		{findCase{name: "no python", tree: []string{"f plug/.venv/pyvenv.cfg x"}}, "plug/.venv", true},
		{findCase{name: "over a shim", tree: lines(pyenvTree, []string{"f plug/.venv/pyvenv.cfg x", "l plug/.venv/bin/python $ROOT/pyenv/shims/python3"})}, "plug/.venv", true},
		{findCase{name: "another version", tree: lines(opt, venv("plug/.venv", "opt", "3.12")), requires: []string{"<3.12 p.py"}}, "plug/.venv", true},
		{findCase{name: "link to one", tree: []string{"f e/pyvenv.cfg x", "l plug/.venv ../e"}}, "plug/.venv", false},
		{findCase{name: "link to a system", tree: lines(opt, []string{"f opt/lib/python3.11/os.py x", "f opt/lib/python3.12/os.py x", "l plug/.venv ../opt"})}, "plug/.venv", false},
		{findCase{name: "broken link", tree: []string{"l plug/.venv ../gone"}}, "plug/.venv", false},
		{findCase{name: "any directory by flag", tree: []string{"f work/src/x.py x"}, flag: "src"}, "work/src", false},
		{findCase{name: "an environment by flag", tree: []string{"f work/e/pyvenv.cfg x"}, flag: "e"}, "work/e", true},
		{findCase{name: "a file by flag", tree: []string{"n work/py"}, flag: "./py"}, "", false},
		{findCase{name: "another version by flag", tree: opt, flag: "../opt", requires: []string{"<3.12 p.py"}}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, found, err := search(t, c.findCase)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, %v", found, err)
			}
			if env := strings.TrimPrefix(e.Env, root+"/"); env != c.env || e.Remake != c.remake {
				t.Errorf("got %q, %v, want %q, %v (%v)", env, e.Remake, c.env, c.remake, err)
			}
		})
	}
}

// However a program fails to answer, one short line says so.
func TestComplaint(t *testing.T) {
	const path = "/opt/fakepy"
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		err        error
		said, want string
	}{
		{errors.New("exit code 3"), "", "exit code 3"},
		{errors.New("exit code 2"), "why\nimport sys\n", `exit code 2, "why"`},
		{errors.New("exit code 3"), "a\nno such thing\n", `exit code 3, "no such thing"`},
		{errors.New("SIGSEGV"), "", "SIGSEGV"},
		{errors.New("SIGKILL"), "x: y", `SIGKILL, "x: y"`},
		{errors.New("exit code 2"), path + ": cannot access '" + askScript + "'\n", "exit code 2"},
		{errors.New("exit code 2"), path + `: cannot access 'import sys'$'\n''v = sys.version_info'`, "exit code 2"},
		{errors.New("exit code 1"), long, fmt.Sprintf("exit code 1, %q", long[:80]+"…")},
		{fmt.Errorf("%s: no end within 30s: %w", path, context.DeadlineExceeded), "", "no end within 30s"},
		{fmt.Errorf("start %s: %w", path, syscall.ENOEXEC), "", syscall.ENOEXEC.Error()},
		{errors.New(path + ": wrote 2000000 bytes,\nwant at most 1048576"), "", "wrote 2000000 bytes, want at most 1048576"},
	} {
		if got := complaint(path, c.said, c.err); got != c.want {
			t.Errorf("%.60q: got  %s\nwant %s", c.err, got, c.want)
		}
	}
	run := func(context.Context, string, []string) ([]byte, string, error) {
		return nil, "", errors.New("exit code 3")
	}
	_, _, broken := ask(t.Context(), run, path)
	broken.Source = SourceFlag
	if got, want := broken.Error(), "python of --python: /opt/fakepy is not a Python: it does not say its version (exit code 3)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An error says what to do, and names only what is there.
func TestHints(t *testing.T) {
	there := []Interpreter{{Path: "/opt/my python3", Version: Version{Major: 3, Minor: 13}, Source: "pyenv"}}
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{Reason: ReasonNotFound}, "install Python 3.8 or later, or name one with --python"},
		{Error{Reason: ReasonNotFound, Needs: "3.13", Elsewhere: there},
			"install Python 3.13, or name one with --python; /opt/my python3 (3.13.0, pyenv) would do: --python '/opt/my python3'"},
		{Error{Reason: ReasonVersion, Needs: "3.13"}, "install Python 3.13, or name one with --python"},
		{Error{Reason: ReasonVersion, Elsewhere: there, Env: "/p/.venv", Remake: true}, "/opt/my python3 (3.13.0, pyenv) would do: --python '/opt/my python3'; " +
			"make the environment again: '/opt/my python3' -m venv --clear /p/.venv"},
		{Error{Reason: ReasonBrokenLink, Env: "/p/.venv", Remake: true}, "make the environment again: python3 -m venv --clear /p/.venv"},
		{Error{Reason: ReasonMissing}, "name another Python with --python"},
		{Error{Reason: ReasonSpec}, ""},
	} {
		if got := strings.Join(c.err.Hints(), "; "); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.err.Reason, got, c.want)
		}
	}
}
