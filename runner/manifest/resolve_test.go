package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// tree unpacks an archive into a new directory, makes that the working directory and returns its
// path. In the archive, each file begins with "-- NAME --". A file called NAME:exec is executable.
// NAME:link becomes a link to its text.
func tree(t *testing.T, archive string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	var name, kind, text string
	write := func() {
		if name == "" {
			return
		}
		path := filepath.Join(root, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch kind {
		case "link":
			check(t, os.Symlink(strings.TrimSpace(text), path))
		case "exec":
			check(t, os.WriteFile(path, []byte(text), 0o755))
		default:
			check(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
	for row := range strings.Lines(archive) {
		if header, ok := strings.CutPrefix(row, "-- "); ok {
			write()
			name, kind, _ = strings.Cut(strings.TrimSuffix(strings.TrimSpace(header), " --"), ":")
			text = ""
			continue
		}
		text += row
	}
	write()
	t.Chdir(root)
	return root
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const mattermost = `-- p/plugin.json --
{
  "id": "com.example.Hello",
  "server": {
    "runtime": "python",
    "python_version": "3.9",
    "executable": "server/plugin.py"
  }
}
-- p/server/plugin.py --
`

func TestResolve(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("executables and links are made as on Unix")
	}
	for _, c := range []struct{ name, archive, path, want string }{
		{"a file", "-- My_Greeter.py --\n", "My_Greeter.py", "file My_Greeter.py my-greeter none []"},
		{"a path with a dot", "-- a/b.py --\n", "./a/../a/b.py", "file a/b.py b none []"},
		{"plugin.py has its directory's name", "-- greeter/plugin.py --\n", "greeter/plugin.py", "file greeter/plugin.py greeter none []"},
		{"a package", "-- pkg/__init__.py --\n", "pkg", "package pkg pkg none []"},
		{"a module", "-- a/b.py --\n-- a/__init__.py --\n", "-m a.b", "file a/b.py b none []"},
		{"a module that is a package", "-- a/__init__.py --\n-- a.py --\n", "-m a", "package a a none []"},
		{"a module with a manifest beside it", "-- a/b.py --\n-- a/pyplug.toml --\nentry = 'b.py'\nid = 'q'", "-m a.b", "file a/b.py q pyplug.toml []"},
		{"a package with a manifest for another file", "-- a/__init__.py --\n-- a/b.py --\n-- a/pyplug.toml --\nentry = 'b.py'\nid = 'q'", "-m a", "package a a none []"},
		{"a package called like a file", "-- pkg.py/__init__.py --\n", "pkg.py", "package pkg.py pkg-py none []"},
		{"an executable", "-- bin/tool-linux:exec --\nx", "bin/tool-linux", "executable bin/tool-linux tool-linux none []"},
		{"a name of no letters", "-- 日本.py --\n", "日本.py", "file 日本.py plugin none []"},
		{"manifest beside, no entry", "-- a.py --\n-- b.py --\n-- pyplug.toml --\nworkers = 2", "b.py", "file b.py b pyplug.toml []"},
		{"manifest beside, entry", "-- a.py --\n-- pyplug.toml --\nentry = 'a.py'\nid = 'X Y'", "a.py", "file a.py x-y pyplug.toml []"},
		{"manifest beside, another's", "-- a.py --\n-- b.py --\n-- pyplug.toml --\nentry = 'a.py'", "b.py", "file b.py b none []"},
		{"directory, entry", "-- d/src/plugin.py --\n-- d/pyplug.toml --\nentry = 'src/plugin.py'", "d", "file d/src/plugin.py d pyplug.toml []"},
		{"directory, entry is a package", "-- d/pkg/__init__.py --\n-- d/pyplug.toml --\nentry = 'pkg'", "d", "package d/pkg pkg pyplug.toml []"},
		{"directory, plugin.py", "-- d/plugin.py --\n-- d/x.py --\n-- d/pyplug.toml --\n", "d", "file d/plugin.py d pyplug.toml []"},
		{"directory, the only file", "-- d/x.py --\n-- d/pyplug.toml --\n", "d", "file d/x.py x pyplug.toml []"},
		{"directory with package and manifest", "-- d/__init__.py --\n-- d/pyplug.toml --\nid = 'q'", "d", "package d q pyplug.toml []"},
		{"package named by the manifest beside it", "-- d/__init__.py --\n-- pyplug.toml --\nentry = 'd'\nid = 'q'", "d", "package d q pyplug.toml []"},
		{"pyproject", "-- d/x.py --\n-- d/pyproject.toml --\n[project]\nrequires-python = '>=3.9'\n[tool.pyplug]\nid = 'q'\nrequires-python='>=3.10'", "d",
			"file d/x.py q pyproject.toml [{>=3.10 d/pyproject.toml [tool.pyplug]} {>=3.9 d/pyproject.toml}]"},
		{"pyproject without our table", "-- x.py --\n-- pyproject.toml --\n[project]\nrequires-python = '>=3.9'\n[tool.other]", "x.py", "file x.py x none [{>=3.9 pyproject.toml}]"},
		{"python of poetry", "-- x.py --\n-- pyproject.toml --\n[tool.poetry.dependencies]\npython = '^3.9'\n", "x.py", "file x.py x none [{>=3.9,<4 pyproject.toml [tool.poetry]}]"},
		{"python of poetry beside the project's", "-- x.py --\n-- pyproject.toml --\n[project]\nrequires-python = '>=3.9'\n[tool.poetry.dependencies.python]\nversion = '~3.11'\n", "x.py",
			"file x.py x none [{>=3.9 pyproject.toml} {>=3.11,<3.12 pyproject.toml [tool.poetry]}]"},
		{"script", "-- d/x.py --\n# /// script\n# requires-python = '>=3.11'\n# [tool.pyplug]\n# id = 'q'\n# ///\n-- d/y.py --\n", "d/x.py", "file d/x.py q script block [{>=3.11 d/x.py}]"},
		{"script block without our table", "-- x.py --\n# /// script\n# requires-python = '>=3.11'\n# ///\n-- pyplug.toml --\nrequires-python = '<4'", "x.py",
			"file x.py x pyplug.toml [{<4 pyplug.toml} {>=3.11 x.py}]"},
		{"the first of two that say the same", "-- d/x.py --\n-- d/pyplug.toml --\nid = 'q'\nworkers = 2\n-- d/pyproject.toml --\n[tool.pyplug]\nid = 'q'", "d", "file d/x.py q pyplug.toml []"},
		{"plugin.json", mattermost, "p", "file p/server/plugin.py com-example-hello plugin.json [{>=3.9 p/plugin.json}]"},
		{"plugin.json's entry named beside it", "-- plugin.py --\n-- plugin.json --\n{\"id\": \"x\", \"server\": {\"executable\": \"plugin.py\"}}", "plugin.py", "file plugin.py x plugin.json []"},
		{"plugin.json's entry without .py, named itself", "-- run --\n-- plugin.json --\n{\"id\": \"x\", \"server\": {\"runtime\": \"python\", \"executable\": \"run\"}}", "run",
			"file run x plugin.json []"},
		{"plugin.json's keys in another letter case are unknown", "-- plugin.py --\n-- plugin.json --\n{\"id\": \"x\", \"ID\": \"y\", \"z\": 1, \"z\": 2, \"server\": {\"executable\": \"plugin.py\", \"EXECUTABLE\": \"other.py\"}}", "plugin.py", "file plugin.py x plugin.json []"},
		{"plugin.json of another program", "-- a.py --\n-- plugin.json --\n{\"type\": \"panel\"}", "a.py", "file a.py a none []"},
		{"plugin.json for another file", "-- a.py --\n-- b.py --\n-- plugin.json --\n{\"server\": {\"executable\": \"b.py\"}}", "a.py", "file a.py a none []"},
		{"pyplug.toml before plugin.json", mattermost + "-- p/pyplug.toml --\nid = 'short'\n", "p", "file p/server/plugin.py short pyplug.toml []"},
		{"link to a file with its manifest elsewhere", "-- bin/g.py:link --\n../opt/greet.py\n-- opt/greet.py --\n-- opt/pyplug.toml --\nentry = 'greet.py'\n", "bin/g.py", "file bin/g.py g pyplug.toml []"},
		{"link without .py to a .py file", "-- bin/greet:link --\n../opt/greeter.py\n-- opt/greeter.py --\n# /// script\n# requires-python = '>=3.11'\n# ///\n",
			"bin/greet", "file bin/greet greet none [{>=3.11 bin/greet}]"},
		{"link to an executable .py file", "-- greet:link --\ngreeter.py\n-- greeter.py:exec --\n#!/usr/bin/env python3\n", "greet", "file greet greet none []"},
		{"entry is a link without .py", "-- d/run:link --\ngreeter.py\n-- d/greeter.py --\n-- d/pyplug.toml --\nentry = 'run'\n", "d", "file d/run run pyplug.toml []"},
		{"link to an executable", "-- greet:link --\nreal\n-- real:exec --\n#!/bin/sh\n", "greet", "executable greet greet none []"},
		{"empty requires-python of a project", "-- x.py --\n-- pyproject.toml --\n[project]\nrequires-python = ''\n", "x.py", "file x.py x none [{ pyproject.toml}]"},
		{"an id of letters that no name has", "-- x.py --\n-- pyplug.toml --\nid = '日本'\n", "x.py", "file x.py x pyplug.toml []"},
		{"encoding that cannot be read, without block", "-- x.py --\n# coding: shift_jis\n", "x.py", "file x.py x none []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree(t, c.archive)
			cwd, _ := os.Getwd()
			p, err := Resolve(c.path, cwd)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%s %s %s %s %v", p.Kind, short(p.Entry), p.ID, p.Manifest.Form, p.Requires)
			if got != c.want || p.Path != c.path || !filepath.IsAbs(p.Entry) {
				t.Errorf("got  %s\nwant %s\n%+v", got, c.want, p)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("executables and links are made as on Unix")
	}
	for _, c := range []struct {
		name, archive, path string
		want, suggest       string
	}{
		{"missing", "-- greeter.py --\n", "greter.py", `plugin "greter.py" does not exist`, "greeter.py"},
		{"missing .py", "-- greeter.py --\n", "greeter", `plugin "greeter" does not exist`, "greeter.py"},
		{"missing in a missing directory", "", "a/b.py", `plugin "a/b.py" does not exist`, ""},
		{"below a file", "-- a.py --\n", "a.py/b.py", `plugin "a.py/b.py" does not exist`, ""},
		{"no module", "-- a-b.py --\n", "-m a-b.py", `"a-b.py" is not a module name, expected names separated by dots`, "a-b.py"},
		{"empty", "", "", `plugin "" does not exist: the path is empty`, ""},
		{"broken link", "-- a.py:link --\nb.py\n", "a.py", `plugin "a.py" does not exist: it is a symbolic link to b.py, which does not exist`, ""},
		{"a text", "-- notes.txt --\n", "notes.txt", `"notes.txt" is not a plugin: it does not end in .py and is not executable, expected a .py file, an executable, a package or a directory with a manifest`, ""},
		{"a device", "", "/dev/null", `"/dev/null" is not a plugin: it is not a regular file…`, ""},
		{"nothing in it", "-- d/x.py --\n-- d/pyproject.toml --\n[project]\n", "d",
			`directory "d" is not a plugin: it has no __init__.py, and no manifest (pyplug.toml, …`, "name one of its files: x.py"},
		{"no entry", "-- d/x.py --\n-- d/y.py --\n-- d/pyplug.toml --\n", "d", `d/pyplug.toml: no entry: the directory has x.py, y.py, expected the file to run`, ""},
		{"no entry, no file", "-- d/pyplug.toml --\n", "d", `d/pyplug.toml: no entry: the directory has no .py file, expected the file to run`, ""},
		{"entry missing", "-- d/greeter.py --\n-- d/pyplug.toml --\nid = 'x'\nentry = 'greter.py'\n", "d", `d/pyplug.toml:2:1: entry is "greter.py", expected a file or package that exists`, "d/greeter.py"},
		{"entry missing, file named", "-- d/greeter.py --\n-- d/pyplug.toml --\nentry = 'greter.py'\n", "d/greeter.py", `d/pyplug.toml:1:1: entry is "greter.py", expected…`, "d/greeter.py"},
		{"entry is a plain directory", "-- d/a/x.txt --\n-- d/pyplug.toml --\nentry = 'a'\n", "d", `d/pyplug.toml:1:1: entry is "a", a directory without __init__.py, expected…`, ""},
		{"two blocks", "-- x.py --\n# /// script\n# a = 1\n# ///\n\n# /// script\n# a = 1\n# ///\n", "x.py", `x.py:5: a second script block, the first is on line 1, expected one`, "merge the two blocks"},
		{"block with a mistake", "-- x.py --\nimport os\n# /// script\n# a = = 1\n# ///\n", "x.py", `x.py:3:7: …`, ""},
		{"block with an unknown key", "-- x.py --\n# /// script\n# [tool.pyplug]\n# wrokers = 2\n# ///\n", "x.py", `x.py:3:3: unknown key "wrokers"`, "workers"},
		{"json syntax", "-- d/plugin.json --\n{\n  \"id\": \"x\",\n}\n", "d", `d/plugin.json:3:1: invalid character '}' looking for beginning of object key string`, ""},
		{"json type", "-- d/plugin.json --\n{\n  \"server\": {\"executable\": 5}\n}\n", "d", `d/plugin.json:2:28: server.executable is of type number, expected a string`, ""},
		{"json key twice", "-- d/plugin.json --\n{\"server\": {\"executable\": \"a\",\n  \"executable\": \"b\"}}\n", "d", `d/plugin.json:2:3: "executable" is given twice`, ""},
		{"json key in another letter case", "-- d/plugin.json --\n{\"server\": {\"Executable\": \"a\"}}\n", "d", `d/plugin.json: server.executable is missing, expected the file to run`, ""},
		{"json is a list", "-- d/plugin.json --\n[]\n", "d", `d/plugin.json:1:1: the document is of type array, expected an object`, ""},
		{"json no entry", "-- d/plugin.json --\n{\"server\": {}}\n", "d", `d/plugin.json: server.executable is missing, expected the file to run`, ""},
		{"json escapes by dots", "-- x.py --\n-- d/plugin.json --\n{\"server\":\n {\"executable\": \"../x.py\"}}\n", "d", `d/plugin.json:2:3: server.executable is "../x.py", expected a path inside the plugin's directory`, ""},
		{"json escapes by root", "-- d/plugin.json --\n{\"server\": {\"python\": {\"entry_point\": \"/bin/sh\"}}}\n", "d", `d/plugin.json:1:24: server.python.entry_point is "/bin/sh", expected a path inside the plugin's directory`, ""},
		{"json escapes by a link", "-- x.py --\n-- d/y.py:link --\n../x.py\n-- d/plugin.json --\n{\"server\": {\"executable\": \"y.py\"}}\n", "d", `d/plugin.json:1:13: server.executable is "y.py", expected a path inside the plugin's directory`, ""},
		{"json entry missing", "-- d/plugin.json --\n{\"server\": {\"executable\": \"y.py\"}}\n", "d", `d/plugin.json:1:13: server.executable is "y.py", expected a file or package that exists`, ""},
		{"json entry not executable", "-- d/y --\n-- d/plugin.json --\n{\"server\": {\"executable\": \"y\"}}\n", "d", `"d/y" is not a plugin: it does not end in .py and is not executable…`, ""},
		{"requires-python of a project is a number", "-- x.py --\n-- pyproject.toml --\n[project]\nrequires-python = 3.9\n", "x.py", `pyproject.toml:2:1: project.requires-python is 3.9, expected a string`, ""},
		{"python of poetry is junk", "-- x.py --\n-- pyproject.toml --\n[tool.poetry.dependencies]\npython = '3.11 or later'\n", "x.py",
			`pyproject.toml:2:1: tool.poetry.dependencies.python is "3.11 or later", expected a version constraint of poetry such as "^3.11"`, ""},
		{"requires-python of a project is junk", "-- x.py --\n-- pyproject.toml --\n[project]\nname = 'x'\nrequires-python = 'junk'\n", "x.py", `pyproject.toml:3:1: project.requires-python is "junk", expected a version specifier such as ">=3.11"`, ""},
		{"requires-python of a script is junk", "-- x.py --\n# /// script\n# requires-python = '3.11'\n# ///\n", "x.py", `x.py:2:3: requires-python is "3.11", expected a version specifier such as ">=3.11"`, ">=3.11"},
		{"json version is junk", "-- d/y.py --\n-- d/plugin.json --\n{\"server\": {\"executable\": \"y.py\",\n\"python_version\": \"new\"}}\n", "d", `d/plugin.json:2:1: server.python_version is "new", expected a version such as "3.11"`, ""},
		{"cwd missing", "-- x.py --\n-- pyplug.toml --\ncwd = 'data'\n", "x.py", `pyplug.toml:1:1: cwd is "data", expected a directory that exists`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree(t, c.archive)
			cwd, _ := os.Getwd()
			p, err := Resolve(c.path, cwd)
			var e *hook.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %+v, %v", p, err)
			}
			got := e.Error()
			if prefix, cut := strings.CutSuffix(c.want, "…"); got != c.want && !(cut && strings.HasPrefix(got, prefix)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if hint := strings.Join(hook.Words(e.Hints), ""); hint != c.suggest && hint != "did you mean "+c.suggest+"?" {
				t.Errorf("got hint %q; want %q", hint, c.suggest)
			}
		})
	}
}

func TestPluginJSON(t *testing.T) {
	root := tree(t, mattermost)
	p, err := Resolve("p", "")
	check(t, err)
	dir := filepath.Join(root, "p")
	m := p.Manifest
	if m.Transport != "grpc" || m.Host != "mattermost" || m.WorkDir != dir || !m.CarriesErrors ||
		!slices.Equal(m.Env, []string{"MATTERMOST_PLUGIN_ID=com.example.Hello", "MATTERMOST_PLUGIN_PATH=" + dir}) {
		t.Errorf("got %+v", m)
	}
	if want := []string{filepath.Join(dir, "server"), dir}; fmt.Sprint(p.Dirs) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", p.Dirs, want)
	}
}
