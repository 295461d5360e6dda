package interp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// findCase is one search in one tree. Paths are relative to the tree. want is "PATH VERSION
// SOURCE", or the start of the error. Each of tried must occur in Tried.
type findCase struct {
	name     string
	tree     []string
	flag     string
	manifest string
	entry    string   // the plugin's file, relative to the tree
	requires []string // "SPEC FROM"
	environ  []string // $ROOT is the tree
	dirs     []string // the plugin's directories, or plug if nil
	owners   func(root, path string) (owner, bool)
	others   bool   // pyplug made the environments for other plugins
	active   string // "yes": --active, "no": --no-active
	want     string
	tried    []string
}

// make makes the tree of a search.
func (c findCase) make(t *testing.T) (root string) {
	if runtime.GOOS == "windows" {
		t.Skip("the trees are shaped as on Unix")
	}
	return tree(t, append(c.tree, "d work", "d plug")...)
}

func (c findCase) request(root string) Request {
	r := Request{
		Flag: strings.ReplaceAll(c.flag, "$ROOT", root), Manifest: c.manifest, ManifestDir: filepath.Join(root, "plug"),
		Dirs: []string{filepath.Join(root, "plug")}, Cwd: filepath.Join(root, "work"),
		systemRoot: filepath.Join(root, "system"), Active: c.active == "yes", NoActive: c.active == "no", Sync: "pyplug sync p.py",
	}
	if c.dirs != nil {
		r.Dirs = nil
	}
	r.ForOthers = func(string) bool { return c.others }
	if c.entry != "" {
		r.Entry = filepath.Join(root, c.entry)
	}
	for _, dir := range c.dirs {
		r.Dirs = append(r.Dirs, filepath.Join(root, dir))
	}
	if c.owners != nil {
		r.ownerOf = func(path string) (owner, bool) { return c.owners(root, path) }
	}
	for _, entry := range c.environ {
		r.Environ = append(r.Environ, strings.ReplaceAll(entry, "$ROOT", root))
	}
	for _, requirement := range c.requires {
		spec, from, _ := strings.Cut(requirement, " ")
		r.Requires = append(r.Requires, Requirement{Spec: spec, From: from})
	}
	return r
}

func (c findCase) run(t *testing.T) {
	root := c.make(t)
	found, err := Find(t.Context(), c.request(root))
	got := fmt.Sprintf("%s %s %s", found.Path, found.Version, found.Source)
	var tried []string
	for _, attempt := range found.Tried {
		tried = append(tried, attempt.String())
	}
	if err != nil {
		got, tried = "error: "+err.Error(), hook.AsError(err).Tried
	}
	got = strings.ReplaceAll(got, root+"/", "")
	if got != c.want && !(strings.HasSuffix(c.want, "…") && strings.HasPrefix(got, strings.TrimSuffix(c.want, "…"))) {
		t.Errorf("got  %s\nwant %s\ntried %v", got, c.want, tried)
	}
	text := strings.ReplaceAll(strings.Join(tried, "\n"), root+"/", "")
	for _, want := range c.tried {
		if !strings.Contains(text, want) {
			t.Errorf("tried has no %q:\n%s", want, text)
		}
	}
	c.explained(t, root)
}

func TestFindOnPath(t *testing.T) {
	for _, c := range []findCase{
		{name: "none at all", environ: []string{"PATH=$ROOT/empty"}, want: "error: no python found; PATH contains none"},
		{name: "no environment", want: "error: no python found; PATH contains none"},
		{name: "python3", tree: base("opt"), environ: []string{"PATH=$ROOT/opt/bin"}, want: "opt/bin/python3 3.12.4 PATH"},
		{
			name: "versioned name only", tree: []string{"x a/python3.11", "x a/python3.9", "x a/python2.7"},
			environ: []string{"PATH=$ROOT/a"}, want: "a/python3.11 3.11 PATH",
		},
		{
			name: "first python3 before newer elsewhere", tree: lines(base("opt"), []string{"x a/python3.13"}),
			environ: []string{"PATH=$ROOT/a:$ROOT/opt/bin"}, want: "opt/bin/python3 3.12.4 PATH",
		},
		{
			name: "requires-python skips", tree: lines(base("opt"), []string{"x a/python3.13"}), requires: []string{">=3.13 plugin.py"},
			environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a"}, want: "a/python3.13 3.13 PATH",
			tried: []string{"opt/bin/python3 (PATH): is 3.12.4, expected >=3.13 (plugin.py)"},
		},
		{
			name: "relative, dot and empty entries", tree: lines(base("work/opt"), base("opt")),
			environ: []string{"PATH=:.:opt/bin:$ROOT/opt/bin"}, want: "opt/bin/python3 3.12.4 PATH",
			tried: []string{`"" (PATH): a relative entry`, ". (PATH): a relative entry", "opt/bin (PATH): a relative entry"},
		},
		{
			name: "directory, not executable, empty, broken, loop",
			tree: lines(base("opt"), []string{"d a/python3", "n b/python3", "e c/python3", "l d/python3 ../gone/python3.9",
				"l e/python3 python", "l e/python python3", "f f/python3 hello"}),
			environ: []string{"PATH=$ROOT/a:$ROOT/b:$ROOT/c:$ROOT/d:$ROOT/e:$ROOT/f:$ROOT/opt/bin"}, want: "opt/bin/python3 3.12.4 PATH",
			tried: []string{
				"a/python3 (PATH): is a directory", "b/python3 (PATH): is not executable", "c/python3 (PATH): is not a program: it is empty",
				"d/python3 (PATH): is a broken symbolic link: python3 -> ../gone/python3.9, which does not exist",
				"e/python3 (PATH): is a loop of symbolic links",
			},
		},
		{
			name: "only 2.7", tree: []string{"x a/python2.7", "l a/python python2.7"}, environ: []string{"PATH=$ROOT/a"},
			want: "error: no python found", tried: []string{"a/python (PATH): is 2.7, expected >=3.9 (pyplug)"},
		},
		{
			name: "no file tells", tree: []string{"x a/python3"}, environ: []string{"PATH=$ROOT/a"},
			want: "error: no python found", tried: []string{"a/python3 (PATH): has an unknown version: no file states it"},
		},
		{
			name: "two requirements that conflict", tree: base("opt"), environ: []string{"PATH=$ROOT/opt/bin"},
			requires: []string{">=3.12 plugin.py", "<3.11 pyproject.toml"},
			want:     "error: no Python can satisfy >=3.9 (pyplug) and >=3.12 (plugin.py) and <3.11 (pyproject.toml)",
		},
		{
			name: "two requirements that hold together", tree: base("opt"), environ: []string{"PATH=$ROOT/opt/bin"},
			requires: []string{">=3.11 plugin.py", "~=3.12.1 pyproject.toml"}, want: "opt/bin/python3 3.12.4 PATH",
		},
		{
			name: "unreadable requirement", tree: base("opt"), requires: []string{"3.11 plugin.py"},
			want: `error: python version of plugin.py: "3.11" is not a version specifier, expected one such as ">=3.11"`,
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestFindBeside(t *testing.T) {
	opt := base("opt")
	for _, c := range []findCase{
		{name: ".venv", tree: lines(opt, venv("plug/.venv", "opt", "3.12.1")), want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin"},
		{
			name: ".venv before venv", tree: lines(opt, venv("plug/.venv", "opt", "3.12.1"), venv("plug/venv", "opt", "3.12.1")),
			want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin",
		},
		{
			name: "link", tree: lines(opt, venv("envs/a", "opt", "3.12.1"), []string{"l plug/.venv ../envs/a"}),
			want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin",
		},
		{
			name: "broken link of the directory", tree: lines(opt, []string{"l plug/.venv ../envs/gone"}), environ: []string{"PATH=$ROOT/opt/bin"},
			want: "error: .venv next to the plugin: plug/.venv is a broken symbolic link: .venv -> ../envs/gone, which does not exist",
		},
		{
			name: "broken link of the python", tree: lines(opt, []string{"f plug/.venv/pyvenv.cfg home = /x\\n", "l plug/.venv/bin/python python3",
				"l plug/.venv/bin/python3 $ROOT/none/python3.11"}), environ: []string{"PATH=$ROOT/opt/bin"},
			want: "error: .venv next to the plugin: plug/.venv/bin/python is a broken symbolic link: python -> python3 -> none/python3.11, which does not exist",
		},
		{
			name: "no python in it", tree: lines(opt, []string{"f plug/.venv/pyvenv.cfg home = /x\\n"}), environ: []string{"PATH=$ROOT/opt/bin"},
			want: "error: .venv next to the plugin: plug/.venv has no python in it: no bin/python",
		},
		{
			name: "no pyvenv.cfg", tree: lines(opt, []string{"l plug/.venv/bin/python $ROOT/opt/bin/python3"}),
			want: "error: .venv next to the plugin: plug/.venv has a python but no pyvenv.cfg…",
		},
		{
			name: "made for another minor", tree: lines(opt, venv("plug/.venv", "opt", "3.9.2")),
			want: "error: .venv next to the plugin: plug/.venv was made for another python: made for 3.9, its python is now 3.12",
		},
		{
			name: "outside requires-python", tree: lines(opt, venv("plug/.venv", "opt", "3.12.1")), requires: []string{">=3.13 plugin.py"},
			environ: []string{"PATH=$ROOT/opt/bin"},
			want:    "error: .venv next to the plugin: plug/.venv/bin/python is 3.12.4, expected >=3.13 (plugin.py)",
		},
		{
			name: "a directory that is called venv", tree: lines(opt, []string{"f plug/venv/__init__.py "}), environ: []string{"PATH=$ROOT/opt/bin"},
			want: "opt/bin/python3 3.12.4 PATH", tried: []string{"plug/venv (venv next to the plugin): has neither pyvenv.cfg nor python"},
		},
		{
			name: "copies", tree: []string{"f plug/.venv/pyvenv.cfg version_info = 3.11.2.final.0\\nimplementation = CPython\\n", "x plug/.venv/bin/python"},
			want: "plug/.venv/bin/python 3.11.2 .venv next to the plugin",
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestFindExplicit(t *testing.T) {
	opt := base("opt")
	path := []string{"PATH=$ROOT/opt/bin"}
	for _, c := range []findCase{
		{name: "file", tree: opt, flag: "$ROOT/opt/bin/python3.12", want: "opt/bin/python3.12 3.12.4 --python"},
		{name: "relative to the working directory", tree: opt, flag: "../opt/bin/python3", want: "opt/bin/python3 3.12.4 --python"},
		{name: "directory", tree: opt, flag: "../opt", want: "opt/bin/python 3.12.4 --python"},
		{name: "bare directory", tree: lines(opt, venv("work/myenv", "opt", "3.12")), flag: "myenv", want: "work/myenv/bin/python 3.12.4 --python"},
		{name: "home", tree: opt, flag: "~/opt", environ: []string{"HOME=$ROOT"}, want: "opt/bin/python 3.12.4 --python"},
		{name: "name", tree: opt, flag: "python3.12", environ: path, want: "opt/bin/python3.12 3.12.4 --python"},
		{name: "version", tree: opt, flag: "3.12", environ: path, want: "opt/bin/python3 3.12.4 --python"},
		{name: "specifier", tree: lines(opt, []string{"x a/python3.13"}), flag: ">3.12.4", environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a"}, want: "a/python3.13 3.13 --python"},
		{name: "manifest", tree: lines(opt, venv("plug/e", "opt", "3.12")), manifest: "e", want: "plug/e/bin/python 3.12.4 manifest"},
		{name: "variable", tree: opt, environ: []string{"PYPLUG_PYTHON=../opt"}, manifest: "e", want: "opt/bin/python 3.12.4 PYPLUG_PYTHON"},
		{name: "empty variable is unset", tree: opt, environ: []string{"PYPLUG_PYTHON=", "PATH=$ROOT/opt/bin"}, want: "opt/bin/python3 3.12.4 PATH"},
		{
			name: "missing never falls through", tree: opt, flag: "./nope", environ: path,
			want: "error: --python: work/nope does not exist",
		},
		{name: "name nowhere", tree: lines(opt, []string{"x work/nope"}), flag: "nope", environ: path, want: "error: --python: nope is not on PATH"},
		{name: "version nowhere", tree: opt, flag: "3.13", environ: path, want: "error: --python: 3.13 is not on PATH, and no version manager has installed it",
			tried: []string{"opt/bin/python3 (--python): is 3.12.4, expected ==3.13.* (--python)"}},
		{name: "against requires-python", tree: opt, flag: "../opt", requires: []string{"<3.12 plugin.py"},
			want: "error: --python: opt/bin/python is 3.12.4, expected <3.12 (plugin.py)"},
		{name: "2.7", tree: []string{"x a/bin/python2.7"}, flag: "../a/bin/python2.7", want: "error: --python: a/bin/python2.7 is 2.7, expected >=3.9 (pyplug)"},
		{name: "too old by wish", flag: "2.7", want: "error: no Python can satisfy >=3.9 (pyplug) and ==2.7.* (--python)"},
		{name: "directory in place of python", tree: []string{"d a/bin/python"}, flag: "../a", want: "error: --python: a/bin/python is a directory, expected a program"},
		{name: "not executable", tree: []string{"n a/py"}, flag: "../a/py", want: "error: --python: a/py is not executable"},
		{name: "another program of an installation", tree: lines(opt, []string{"x opt/bin/ls"}), flag: "../opt/bin/ls", want: "opt/bin/ls unknown --python"},
		{name: "unknown version is believed", tree: []string{"x a/py"}, flag: "../a/py", want: "a/py unknown --python"},
	} {
		t.Run(c.name, c.run)
	}
}

func TestFindActive(t *testing.T) {
	opt := base("opt")
	path := "PATH=$ROOT/opt/bin"
	for _, c := range []findCase{
		{name: "environment", tree: lines(opt, venv("e", "opt", "3.12")), environ: []string{"VIRTUAL_ENV=$ROOT/e", path}, want: "e/bin/python 3.12.4 VIRTUAL_ENV"},
		{name: "relative", tree: lines(opt, venv("work/e", "opt", "3.12")), environ: []string{"VIRTUAL_ENV=e"}, want: "work/e/bin/python 3.12.4 VIRTUAL_ENV"},
		{name: "prefix", tree: opt, environ: []string{"VIRTUAL_ENV=$ROOT/opt"}, want: "opt/bin/python 3.12.4 VIRTUAL_ENV"},
		{name: "empty", tree: opt, environ: []string{"VIRTUAL_ENV=", path}, want: "opt/bin/python3 3.12.4 PATH"},
		{name: "missing", tree: opt, environ: []string{"VIRTUAL_ENV=$ROOT/gone", path}, want: "opt/bin/python3 3.12.4 PATH",
			tried: []string{"gone (VIRTUAL_ENV): does not exist"}},
		{name: "no python", tree: lines(opt, []string{"f e/pyvenv.cfg x"}), environ: []string{"VIRTUAL_ENV=$ROOT/e", path}, want: "opt/bin/python3 3.12.4 PATH",
			tried: []string{"e (VIRTUAL_ENV): has no python in it"}},
		{name: "the plugin's own wins", tree: lines(opt, venv("e", "opt", "3.12"), venv("plug/.venv", "opt", "3.12")),
			environ: []string{"VIRTUAL_ENV=$ROOT/e"}, want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin"},
	} {
		t.Run(c.name, c.run)
	}
}

func TestFindShim(t *testing.T) {
	pyenv := []string{
		"s pyenv/shims/python3 " + pyenvShim, "s pyenv/shims/python3.11 " + pyenvShim, "s pyenv/shims/python3.12 " + pyenvShim,
		"x pyenv/versions/3.11.7/bin/python3", "x pyenv/versions/3.11.7/bin/python3.11",
		"x pyenv/versions/3.12.1/bin/python3", "x pyenv/versions/3.12.1/bin/python3.12", "d pyenv/versions/3.12.9rc1",
		"f pyenv/version 3.11.7\\n",
	}
	opt := base("opt")
	shims := "PATH=$ROOT/pyenv/shims:$ROOT/opt/bin"
	for _, c := range []findCase{
		{name: "global", tree: pyenv, environ: []string{shims}, want: "pyenv/versions/3.11.7/bin/python3 3.11.7 PATH",
			tried: []string{"pyenv/shims/python3 (PATH): is a shim of pyenv for pyenv/versions/3.11.7/bin/python3"}},
		{name: "nearest file", tree: lines(pyenv, []string{"f .python-version # x\\n3.12\\n"}), environ: []string{shims}, want: "pyenv/versions/3.12.1/bin/python3 3.12.1 PATH"},
		{name: "variable", tree: lines(pyenv, []string{"f .python-version 3.11.7"}), environ: []string{shims, "PYENV_VERSION=python-3.12"}, want: "pyenv/versions/3.12.1/bin/python3 3.12.1 PATH"},
		{name: "missing version", tree: lines(opt, pyenv, []string{"f work/.python-version 3.14\\n"}), environ: []string{shims}, want: "opt/bin/python3 3.12.4 PATH",
			tried: []string{"pyenv/shims/python3 (PATH): is a shim that starts no python: pyenv has no python3 of 3.14, which work/.python-version selects"}},
		{name: "system", tree: lines(opt, pyenv), environ: []string{shims, "PYENV_VERSION=system"}, want: "opt/bin/python3 3.12.4 PATH"},
		{name: "escape", tree: lines(opt, pyenv), environ: []string{shims, "PYENV_VERSION=../../opt"}, want: "opt/bin/python3 3.12.4 PATH"},
		{name: "name that the selected version lacks", tree: pyenv, requires: []string{">=3.12 p.py"}, environ: []string{shims}, want: "pyenv/versions/3.12.1/bin/python3 3.12.1 pyenv",
			tried: []string{"pyenv/shims/python3.12 (PATH): is a shim that starts no python: pyenv has no python3.12 of 3.11.7, which pyenv/version selects"}},
		{name: "version asked for by name", tree: pyenv, flag: "3.12", environ: []string{shims}, want: "pyenv/versions/3.12.1/bin/python3 3.12.1 --python"},
		{name: "link to a shim", tree: lines(pyenv, []string{"l a/python3 $ROOT/pyenv/shims/python3"}), environ: []string{"PATH=$ROOT/a"}, want: "pyenv/versions/3.11.7/bin/python3 3.11.7 PATH"},
		{name: "unknown", tree: []string{"x rye/shims/python3"}, environ: []string{"PATH=$ROOT/rye/shims"}, want: "error: no python found",
			tried: []string{"has an unknown version: no file states it, and it was not run"}},
		{name: "explicit", tree: pyenv, flag: "$ROOT/pyenv/shims/python3", environ: []string{"PYENV_VERSION=3.9"},
			want: "error: --python: pyenv/shims/python3 is a shim that starts no python: pyenv has no python3 of 3.9, which PYENV_VERSION selects"},
	} {
		t.Run(c.name, c.run)
	}
}

func TestFindAsks(t *testing.T) {
	root := tree(t, "x a/python3", "d work")
	r := Request{Cwd: filepath.Join(root, "work"), systemRoot: root, Environ: []string{"PATH=" + filepath.Join(root, "a")}}
	for _, c := range []struct{ name, out, fail, want string }{
		{"noise around", "hello\n\x1epyplug cpython 3 12 4 final 0\x1e\n", "", "3.12.4"},
		{"pre-release", "\x1epyplug cpython 3 14 0 candidate 2\x1e\n", "", "3.14.0rc2"},
		{"too old", "\x1epyplug cpython 3 8 4 final 0\x1e\n", "", "is 3.8.4, expected >=3.9 (pyplug)"},
		{"noise only", "hello\n", "", `is not a Python: it did not print its version (it exited with code 0, but printed "hello\n")`},
		{"fails", "", "exit status 127", "is not a Python: it did not print its version (exit status 127)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.Run = func(_ context.Context, path string, args []string) ([]byte, string, error) {
				if args[0] != "-I" || filepath.Base(path) != "python3" {
					t.Errorf("ran %s %q", path, args)
				}
				if c.fail != "" {
					return nil, "", errors.New(c.fail)
				}
				return []byte(c.out), "", nil
			}
			found, err := Find(t.Context(), r)
			switch missing, ok := errors.AsType[*hook.Error](err); {
			case ok:
				if len(missing.Tried) != 1 || !strings.HasSuffix(missing.Tried[0], ": "+c.want) {
					t.Errorf("tried %v, want %q", missing.Tried, c.want)
				}
			case err != nil || found.Version.String() != c.want:
				t.Errorf("got %v %v, want %q", found, err, c.want)
			}
		})
	}
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r.Run = func(context.Context, string, []string) ([]byte, string, error) {
			cancel()
			return nil, "", ctx.Err()
		}
		if _, err := Find(ctx, r); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
