package interp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestActiveOrOwn checks that an activated environment precedes the plugin's own only if it belongs
// to the plugin's project or --active is set, and that one note mentions the unused environment.
func TestActiveOrOwn(t *testing.T) {
	opt := base("opt")
	own, path := venv("plug/.venv", "opt", "3.12.4"), "PATH=$ROOT/opt/bin"
	marked := []string{"f plug/pyproject.toml x"}
	const note = "e (VIRTUAL_ENV): is activated, but the plugin has its own environment; --active prefers the activated one"
	related := lines(opt, venv("plug/other", "opt", "3.12.4"), marked)
	unrelated := lines(opt, venv("e", "opt", "3.12.4"), marked)
	const ofRelated, ofUnrelated = "VIRTUAL_ENV=$ROOT/plug/other", "VIRTUAL_ENV=$ROOT/e"
	const chosenOwn, chosenPath = "plug/.venv/bin/python 3.12.4 .venv next to the plugin", "opt/bin/python3 3.12.4 PATH"
	const chosenRelated, chosenUnrelated = "plug/other/bin/python 3.12.4 VIRTUAL_ENV", "e/bin/python 3.12.4 VIRTUAL_ENV"
	for _, c := range []findCase{
		{name: "related, own", tree: lines(related, own), environ: []string{ofRelated, path}, want: chosenRelated},
		{name: "related, own, --active", tree: lines(related, own), environ: []string{ofRelated, path}, active: "yes", want: chosenRelated},
		{name: "related, own, --no-active", tree: lines(related, own), environ: []string{ofRelated, path}, active: "no", want: chosenOwn},
		{name: "related", tree: related, environ: []string{ofRelated, path}, want: chosenRelated},
		{name: "related, --active", tree: related, environ: []string{ofRelated, path}, active: "yes", want: chosenRelated},
		{name: "related, --no-active", tree: related, environ: []string{ofRelated, path}, active: "no", want: "plug/other/bin/python 3.12.4 other next to the plugin"},
		{name: "unrelated, own", tree: lines(unrelated, own), environ: []string{ofUnrelated, path}, want: chosenOwn, tried: []string{note}},
		{name: "unrelated, own, --active", tree: lines(unrelated, own), environ: []string{ofUnrelated, path}, active: "yes", want: chosenUnrelated},
		{name: "unrelated, own, --no-active", tree: lines(unrelated, own), environ: []string{ofUnrelated, path}, active: "no", want: chosenOwn},
		{name: "unrelated", tree: unrelated, environ: []string{ofUnrelated, path}, want: chosenUnrelated},
		{name: "unrelated, --active", tree: unrelated, environ: []string{ofUnrelated, path}, active: "yes", want: chosenUnrelated},
		{name: "unrelated, --no-active", tree: unrelated, environ: []string{ofUnrelated, path}, active: "no", want: chosenPath},
		{name: "on PATH, --no-active", tree: unrelated, environ: []string{ofUnrelated, "PATH=$ROOT/e/bin:$ROOT/opt/bin"}, active: "no", want: chosenPath},
		{name: "conda on PATH, --no-active", tree: unrelated, environ: []string{"CONDA_PREFIX=$ROOT/e", "PATH=$ROOT/e/bin:$ROOT/opt/bin"}, active: "no", want: chosenPath},

		{name: "the same through a link", tree: lines(opt, own, []string{"l plug2 plug"}), environ: []string{"VIRTUAL_ENV=$ROOT/plug2/.venv"}, want: "plug2/.venv/bin/python 3.12.4 VIRTUAL_ENV"},
		{name: "related and broken", tree: lines(opt, own, []string{"f plug/e/pyvenv.cfg x", "f plug/.git x"}), environ: []string{"VIRTUAL_ENV=$ROOT/plug/e"},
			want: "error: VIRTUAL_ENV: plug/e has no python in it: no bin/python"},
		{name: "related and gone, own", tree: lines(opt, own), environ: []string{"VIRTUAL_ENV=$ROOT/plug/e", path}, want: chosenOwn},
		{name: "related and gone", tree: opt, environ: []string{"VIRTUAL_ENV=$ROOT/plug/.venv", path}, want: "error: VIRTUAL_ENV: plug/.venv does not exist"},
		{name: "related and gone, --no-active", tree: opt, environ: []string{"VIRTUAL_ENV=$ROOT/plug/.venv", path}, active: "no", want: chosenPath},
		{name: "preferred and gone", tree: lines(opt, own), environ: []string{ofUnrelated}, active: "yes", want: "error: VIRTUAL_ENV: e does not exist"},
		{name: "conda", tree: lines(opt, []string{"d c/conda-meta", "x c/bin/python3.12", "l c/bin/python python3.12"}),
			environ: []string{"CONDA_PREFIX=$ROOT/c", "CONDA_DEFAULT_ENV=c", path}, want: "c/bin/python 3.12 CONDA_PREFIX"},
		{name: "conda by path", tree: lines(opt, []string{"d c/conda-meta", "x c/bin/python3.12", "l c/bin/python python3.12"}),
			environ: []string{"CONDA_PREFIX=$ROOT/c", "CONDA_DEFAULT_ENV=$ROOT/c", path}, want: "c/bin/python 3.12 CONDA_PREFIX"},
		{name: "conda's base comes last", tree: lines(opt, []string{"x c/bin/python3"}), environ: []string{"CONDA_PREFIX=$ROOT/c", "CONDA_DEFAULT_ENV=base", path}, want: chosenPath},
	} {
		t.Run(c.name, c.run)
	}
}

// TestOwned checks the names and places of the plugin's own environment, in its directory and up to
// the root of its project.
func TestOwned(t *testing.T) {
	opt := base("opt")
	path := []string{"PATH=$ROOT/opt/bin", "HOME=$ROOT/home"}
	const fromPath = "opt/bin/python3 3.12.4 PATH"
	up := func(name string) []string { return lines(opt, venv(name, "opt", "3.12.4")) }
	for _, c := range []findCase{
		{name: "of the project", tree: lines(up(".venv"), []string{"f pyproject.toml x"}), want: ".venv/bin/python 3.12.4 .venv of the project"},
		{name: "no project", tree: up(".venv"), want: fromPath},
		{name: "above the project", tree: lines(up(".venv"), []string{"f plug/.git x"}), want: fromPath},
		{name: "the nearer one", tree: lines(up(".venv"), venv("plug/venv", "opt", "3.12"), []string{"f pyproject.toml x"}), want: "plug/venv/bin/python 3.12.4 venv next to the plugin"},
		{name: "a broken one is not passed over", tree: lines(up(".venv"), []string{"f pyproject.toml x", "l plug/.venv gone"}),
			want: "error: .venv next to the plugin: plug/.venv is a broken symbolic link…"},
		{name: "env", tree: up("plug/env"), want: "plug/env/bin/python 3.12.4 env next to the plugin"},
		{name: "another name", tree: up("plug/py312"), want: "plug/py312/bin/python 3.12.4 py312 next to the plugin"},
		{name: "two of them", tree: lines(up("plug/py312"), venv("plug/b", "opt", "3.12")),
			want: "error: environments next to the plugin: plug has 2 environments, none of them .venv: b, py312"},
		{name: "a file that names it", tree: lines(up("e"), []string{"f plug/.venv ../e\\n"}), want: "e/bin/python 3.12.4 .venv next to the plugin"},
		{name: "a file that names none", tree: lines(opt, []string{"f plug/.venv ../gone\\n"}), want: "error: .venv next to the plugin: gone does not exist"},
		{name: "an empty file", tree: lines(opt, []string{"f plug/.venv \\n"}), want: fromPath},
		{name: "conda", tree: []string{"d plug/.conda/conda-meta", "x plug/.conda/bin/python3.12", "l plug/.conda/bin/python python3.12"},
			want: "plug/.conda/bin/python 3.12 .conda next to the plugin"},
		{name: "conda without python", tree: lines(opt, []string{"d plug/.conda/conda-meta"}), want: fromPath,
			tried: []string{"plug/.conda (.conda next to the plugin): has neither pyvenv.cfg nor python"}},
		{name: "installed in one", tree: lines(up("e"), []string{"d e/lib/python3.12/site-packages/plug"}), dirs: []string{"e/lib/python3.12/site-packages/plug"},
			want: "e/bin/python 3.12.4 environment around the plugin"},
		{name: "a stray pyvenv.cfg", tree: lines(opt, []string{"f plug/pyvenv.cfg x"}), want: fromPath},
		{name: "the home directory is no project", tree: lines(up("home/.venv"), []string{"f home/.git x", "l plug2 plug"}), want: fromPath},
	} {
		c.environ = append(c.environ, path...)
		t.Run(c.name, c.run)
	}
}

// TestPins checks that an installed Python of a pinned version decides.
func TestPins(t *testing.T) {
	opt := base("opt")
	for _, c := range []findCase{
		{name: "by pyenv", tree: lines(opt, pyenvTree, []string{"f plug/.python-version 3.11.7\\n"}), want: "pyenv/versions/3.11.7/bin/python 3.11.7 .python-version"},
		{name: "a prefix", tree: lines(opt, pyenvTree, []string{"f plug/.python-version 3.11\\n"}), want: "pyenv/versions/3.11.7/bin/python 3.11.7 .python-version"},
		{name: "on PATH", tree: lines(opt, []string{"x a/python3.13", "f plug/.python-version 3.13\\n"}), want: "a/python3.13 3.13 .python-version"},
		{name: "another patch", tree: lines(opt, []string{"f plug/.python-version 3.12.1\\n"}), want: "opt/bin/python3 3.12.4 .python-version",
			tried: []string{"3.12.1 (.python-version): is pinned but not installed; using 3.12.4"}},
		{name: "the very patch", tree: lines(opt, pyenvTree, []string{"f plug/.python-version 3.12.1\n"}), want: "pyenv/versions/3.12.1/bin/python 3.12.1 .python-version"},
		{name: "of the project", tree: lines(opt, []string{"x a/python3.13", "f .git x", "f .python-version 3.13\\n"}), want: "a/python3.13 3.13 .python-version"},
		{name: "not installed", tree: lines(opt, []string{"f plug/.python-version 3.14\\n"}),
			want: "error: .python-version: plug/.python-version pins Python 3.14, which is not installed"},
		{name: "excluded by requires-python", tree: lines(opt, []string{"x a/python3.11", "f plug/.python-version 3.11\\n"}), requires: []string{">=3.12 p.py"},
			want: "opt/bin/python3 3.12.4 PATH", tried: []string{"3.11 (.python-version): is pinned by plug/.python-version, and requires-python excludes it"}},
		{name: "an environment of pyenv", tree: lines(opt, pyenvTree, []string{"f plug/.python-version mine\\n"}), want: "pyenv/versions/mine/bin/python 3.12.1 .python-version"},
		{name: "a name that nobody has", tree: lines(opt, []string{"f plug/.python-version mine\\n"}), want: "opt/bin/python3 3.12.4 PATH",
			tried: []string{"mine (.python-version): is pinned by plug/.python-version but not installed"}},
		{name: "out of the directory", tree: lines(opt, pyenvTree, []string{"f plug/.python-version ../../opt\\n"}), want: "opt/bin/python3 3.12.4 PATH"},
		{name: "specifiers of uv", tree: lines(opt, pyenvTree, []string{"f plug/.python-version >=3.8, <3.12\\n"}), want: "pyenv/versions/3.11.7/bin/python 3.11.7 .python-version"},
		{name: "a minor version as specifiers", tree: lines(opt, []string{"x a/python3.13", "f plug/.python-version ==3.13.*\\n"}), want: "a/python3.13 3.13 .python-version"},
		{name: "all that uv says", tree: lines(opt, pyenvTree, []string{"f plug/.python-version cpython-3.12.1-linux-x86_64-gnu\\n"}), want: "pyenv/versions/3.12.1/bin/python 3.12.1 .python-version"},
		{name: "free-threaded, as uv writes it", tree: lines(opt, []string{"x a/python3.13t", "f plug/.python-version cpython-3.13+freethreaded-linux-x86_64-gnu\\n"}),
			want: "a/python3.13t 3.13 .python-version"},
		{name: "specifiers that nothing satisfies", tree: lines(opt, []string{"f plug/.python-version >=3.14\\n"}),
			want: "error: .python-version: plug/.python-version pins Python >=3.14, which is not installed"},
		{name: "specifiers that are excluded", tree: lines(opt, []string{"f plug/.python-version <3.12\\n"}), requires: []string{">=3.12 p.py"},
			want: "opt/bin/python3 3.12.4 PATH", tried: []string{"<3.12 (.python-version): is pinned by plug/.python-version, and requires-python excludes it"}},
		{name: "the system's", tree: lines(opt, []string{"f plug/.python-version system\\n"}), want: "opt/bin/python3 3.12.4 PATH"},
	} {
		c.environ = []string{"PATH=$ROOT/opt/bin:$ROOT/a", "PYENV_ROOT=$ROOT/pyenv"}
		t.Run(c.name, c.run)
	}
}

// TestShebang checks that the first line of the plugin's file can name its environment or a
// version.
func TestShebang(t *testing.T) {
	opt := base("opt")
	const fromPath = "opt/bin/python3 3.12.4 PATH"
	for _, c := range []struct {
		findCase
		line string
	}{
		{findCase{name: "an environment's", tree: venv("e", "opt", "3.12"), want: "e/bin/python 3.12.4 the plugin's #! line"}, "#!$ROOT/e/bin/python"},
		{findCase{name: "the plugin's own is before", tree: lines(venv("e", "opt", "3.12"), venv("plug/.venv", "opt", "3.12")),
			want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin"}, "#!$ROOT/e/bin/python"},
		{findCase{name: "a broken environment's", tree: []string{"f e/pyvenv.cfg x"}, want: "error: the plugin's #! line: e/bin/python does not exist"}, "#!$ROOT/e/bin/python"},
		{findCase{name: "an environment that is gone", want: fromPath}, "#!$ROOT/e/bin/python"},
		{findCase{name: "a version", tree: []string{"x a/python3.11"}, want: "a/python3.11 3.11 the plugin's #! line"}, "#!/usr/bin/env python3.11"},
		{findCase{name: "a version, by path", tree: []string{"x a/python3.11"}, want: "a/python3.11 3.11 the plugin's #! line"}, "#! /usr/bin/python3.11 -u"},
		{findCase{name: "a version, with env -S", tree: []string{"x a/python3.11"}, want: "a/python3.11 3.11 the plugin's #! line"}, "#!/usr/bin/env -S X=y python3.11 -u\r"},
		{findCase{name: "a pin is before", tree: []string{"x a/python3.11", "f plug/.python-version 3.12"}, want: "opt/bin/python3 3.12.4 .python-version"}, "#!/usr/bin/env python3.11"},
		{findCase{name: "a version that is not installed", want: fromPath, tried: []string{"python3.9 (the plugin's #! line): is named by the plugin but not installed"}}, "#!/usr/bin/env python3.9"},
		{findCase{name: "a version that is excluded", tree: []string{"x a/python3.11"}, requires: []string{">=3.12 p.py"}, want: fromPath,
			tried: []string{"python3.11 (the plugin's #! line): is named by the plugin, and requires-python excludes it"}}, "#!/usr/bin/env python3.11"},
		{findCase{name: "uv", want: fromPath}, "#!/usr/bin/env -S uv run --script"},
		{findCase{name: "no version", want: fromPath}, "#!/usr/bin/env python3"},
		{findCase{name: "no program", want: fromPath}, "#!/usr/bin/env -S"},
		{findCase{name: "nothing", want: fromPath}, "#!"},
		{findCase{name: "no shebang", want: fromPath}, "import x"},
	} {
		c.tree = lines(opt, c.tree, []string{"f plug/p.py " + c.line + `\nprint(1)\n`})
		c.environ, c.entry = []string{"PATH=$ROOT/opt/bin:$ROOT/a"}, "plug/p.py"
		t.Run(c.name, c.run)
	}
}

// TestInstalled checks that Find uses the Pythons of version managers and the system if PATH has
// none, and chooses an unusual one only if it is named.
func TestInstalled(t *testing.T) {
	uv := "home/.local/share/uv/python/cpython-3.13.1-linux-x86_64-gnu/bin/"
	system := []string{"x system/usr/bin/python3.12", "l system/usr/bin/python3 python3.12"}
	for _, c := range []findCase{
		{name: "the system's", tree: system, want: "system/usr/bin/python3 3.12 system"},
		{name: "uv's first", tree: lines(system, []string{"x " + uv + "python3.13", "l " + uv + "python python3.13"}), want: uv + "python 3.13.1 uv"},
		{name: "pre-release", tree: lines(system, []string{"x a/python3.14", `f include/python3.14/patchlevel.h #define PY_VERSION "3.14.0rc2"\n`}),
			want: "system/usr/bin/python3 3.12 system", tried: []string{"a/python3.14 (PATH): is a pre-release, and is chosen only if it is named"}},
		{name: "python3 is free-threaded", tree: []string{"x a/python3.13t", "l a/python3 python3.13t"}, want: "a/python3 3.13 PATH"},
		{name: "free-threaded 3.13, asked for", tree: []string{"x a/python3.13t", "x a/python3.13"}, flag: "3.13t", want: "a/python3.13t 3.13 --python"},
		{name: "free-threaded 3.12", flag: "3.12t", want: "error: --python: 3.12t is not on PATH"},
		{name: "pypy", tree: []string{"x a/pypy3.10", "x a/python3.12", "l a/python3 python3.12"}, flag: "pypy3.10", want: "a/pypy3.10 3.10 --python"},
		{name: "3", tree: []string{"x a/python3.12"}, flag: "3", want: "a/python3.12 3.12 --python"},
	} {
		c.environ = []string{"PATH=$ROOT/a", "HOME=$ROOT/home"}
		t.Run(c.name, c.run)
	}
}

// ownedCase is a search where files have owners. User 1000 owns everything except the paths of uids
// and their contents. Every user can write to shared. elsewhere is on another file system. "." is
// the tree.
type ownedCase struct {
	findCase
	uids              map[string]int
	shared, elsewhere string
	sticky            bool
}

func (c ownedCase) ownerOf(root, path string) (owner, bool) {
	name, err := filepath.Rel(root, path)
	if _, missing := os.Stat(path); missing != nil || err != nil || !filepath.IsLocal(name) {
		return owner{uid: 1000, shared: true}, missing == nil
	}
	o := owner{uid: 1000, shared: name == c.shared, sticky: name == c.shared && c.sticky}
	if name == c.elsewhere {
		o.device = 1
	}
	for dir := name; ; dir = filepath.Dir(dir) {
		if uid, ok := c.uids[dir]; ok {
			o.uid = uid
			return o, true
		}
		if dir == "." {
			return o, true
		}
	}
}

// TestDistrust checks that an environment that nobody named is rejected if users who cannot modify
// the plugin can modify the environment. The search also ends at directories where such users can
// create an environment.
func TestDistrust(t *testing.T) {
	opt := base("opt")
	inside := lines(opt, venv("plug/.venv", "opt", "3.12.4"))
	above := lines(opt, venv(".venv", "opt", "3.12.4"), []string{"f pyproject.toml x"})
	below := lines(opt, venv("plug/a/envs/e", "opt", "3.12"), []string{"f plug/.venv a/envs/e"})
	const other = 1001
	const fromPath, refused = "opt/bin/python3 3.12.4 PATH", "error: .venv next to the plugin: plug/.venv"
	for _, c := range []ownedCase{
		{findCase: findCase{name: "mine", tree: inside, want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin"}},
		{findCase: findCase{name: "root's", tree: inside, want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin"}, uids: map[string]int{"plug/.venv": 0}},
		{findCase: findCase{name: "another user's", tree: inside, want: refused + " belongs to user 1001, expected you, root or the plugin's owner"},
			uids: map[string]int{"plug/.venv": other}},
		{findCase: findCase{name: "its pyvenv.cfg", tree: inside, want: refused + "/pyvenv.cfg belongs to user 1001…"}, uids: map[string]int{"plug/.venv/pyvenv.cfg": other}},
		{findCase: findCase{name: "all another user's", tree: inside, want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin"},
			uids: map[string]int{"plug": other}},
		{findCase: findCase{name: "its programs", tree: inside, want: refused + "/bin belongs to user 1001…"}, uids: map[string]int{"plug/.venv/bin": other}},
		{findCase: findCase{name: "its copied python", tree: []string{`f plug/.venv/pyvenv.cfg version = 3.12.4\n`, "x plug/.venv/bin/python"},
			want: refused + "/bin/python belongs to user 1001…"}, uids: map[string]int{"plug/.venv/bin/python": other}},
		{findCase: findCase{name: "made from another user's Python", tree: inside, want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin"}, uids: map[string]int{"opt": other}},
		{findCase: findCase{name: "a directory on the way", tree: below,
			want: "error: .venv next to the plugin: plug/a/envs is writable for everybody, which the plugin is not"}, shared: "plug/a/envs"},
		{findCase: findCase{name: "a sticky directory on the way", tree: below, want: "plug/a/envs/e/bin/python 3.12.4 .venv next to the plugin"}, shared: "plug/a/envs", sticky: true},
		{findCase: findCase{name: "another's in a sticky directory", tree: below,
			want: "error: .venv next to the plugin: plug/a/envs/e belongs to user 1001…"}, shared: "plug/a/envs", sticky: true,
			uids: map[string]int{"plug/a/envs/e": other}},
		{findCase: findCase{name: "on PATH, which the user set", tree: opt, want: fromPath}, uids: map[string]int{"opt": other}, shared: "opt/bin"},
		{findCase: findCase{name: "elsewhere, in a directory like /tmp", tree: lines(opt, venv("e", "opt", "3.12"), []string{"f plug/.venv ../e"}),
			want: "error: .venv next to the plugin: e belongs to user 1001…"}, uids: map[string]int{"e": other}},
		{findCase: findCase{name: "writable for everybody", tree: inside, want: refused + " is writable for everybody, which the plugin is not"}, shared: "plug/.venv"},
		{findCase: findCase{name: "named", tree: inside, flag: "../plug/.venv", want: "plug/.venv/bin/python 3.12.4 --python"}, uids: map[string]int{"plug/.venv": other}},
		{findCase: findCase{name: "above, mine", tree: above, want: ".venv/bin/python 3.12.4 .venv of the project"}},
		{findCase: findCase{name: "above, another user's directory", tree: above, want: fromPath}, uids: map[string]int{".": other, "plug": 1000}},
		{findCase: findCase{name: "above, writable for everybody", tree: above, want: fromPath}, shared: "."},
		{findCase: findCase{name: "39 above, in a directory like /tmp", tree: above, want: fromPath}, shared: ".", sticky: true, uids: map[string]int{".venv": other}},
		{findCase: findCase{name: "above, another file system", tree: above, want: fromPath}, elsewhere: "."},
	} {
		c.environ = []string{"PATH=$ROOT/opt/bin"}
		t.Run(c.name, func(t *testing.T) {
			c.owners = c.ownerOf
			c.run(t)
		})
	}
}

// TestHintKeepsPlugin checks that no hint empties the environment that contains the plugin.
func TestHintKeepsPlugin(t *testing.T) {
	_, _, err := search(t, findCase{tree: lines(base("opt"), venv("plug", "opt", "3.9.1"))})
	if e := hook.AsError(err); e == nil || strings.Contains(strings.Join(hook.Words(e.Hints), " "), "--clear") {
		t.Errorf("got %v", err)
	}
}
