package interp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// row is an edge case of how Pythons are installed. want is the Python found, or "" for none. code
// is the code of the error, or of the first skipped candidate.
type row struct {
	findCase
	code  Code
	notes string // a part of the notes of FactsOf
}

// TestRows checks the results of edge cases, each with its reason.
func TestRows(t *testing.T) {
	opt := base("opt")
	own := func(extra ...string) []string { return lines(opt, venv("plug/.venv", "opt", "3.12.1"), extra) }
	only := func(cfg string) []string {
		return lines(opt, []string{"f plug/.venv/pyvenv.cfg " + cfg, "l plug/.venv/bin/python $ROOT/opt/bin/python3.12"})
	}
	const beside, fromPath = "plug/.venv/bin/python 3.12.4 .venv next to the plugin", "opt/bin/python3 3.12.4 PATH"
	spare := []string{"PATH=$ROOT/a:$ROOT/opt/bin"}
	for _, c := range []row{
		{findCase{name: "1 dangling link", tree: lines(opt, []string{"f plug/.venv/pyvenv.cfg x", "l plug/.venv/bin/python /gone"})}, BrokenSymlink, ""},
		{findCase{name: "1 dangling link of PATH", tree: lines(opt, []string{"l a/python3 /gone"}), environ: spare, want: fromPath}, BrokenSymlink, ""},
		{findCase{name: "3 home is gone", tree: only(`home = $ROOT/gone/bin\n`), want: beside}, "", "is gone: there is no "},
		{findCase{name: "4 another minor", tree: lines(opt, venv("plug/.venv", "opt", "3.9.1"))}, OtherMinor, ""},
		{findCase{name: "5 outside requires-python", tree: own(), requires: []string{">=3.13 p.py"}}, OtherVersion, ""},
		{findCase{name: "6 another patch", tree: own(), want: beside}, "", ""},
		{findCase{name: "7 no python", tree: []string{"f plug/.venv/pyvenv.cfg x", "d plug/.venv/lib"}}, EnvWithoutPython, ""},
		{findCase{name: "8 no pyvenv.cfg", tree: lines(opt, []string{"l plug/.venv/bin/python $ROOT/opt/bin/python3"})}, NoConfig, ""},
		{findCase{name: "8 no pyvenv.cfg, named", flag: "../plug/.venv", want: "plug/.venv/bin/python 3.12.4 --python",
			tree: lines(opt, []string{"l plug/.venv/bin/python $ROOT/opt/bin/python3", "d plug/.venv/lib/python3.12/site-packages"})}, "", "pyvenv.cfg is missing"},
		{findCase{name: "9 empty pyvenv.cfg", tree: only(""), want: beside}, "", ""},
		{findCase{name: "9 byte order mark, capitals, bad version", tree: only("\ufeffHOME = x = y\\nVERSION = wut\\n"), want: beside}, "", "there is no x = y"},
		{findCase{name: "11 injected lines", tree: only(`home = $ROOT/opt/bin\nversion = 3.12.1\ncommand = a\nversion = 3.9\nhome = /evil\n`), want: beside}, "", ""},
		{findCase{name: "13 not executable, own", tree: []string{"f plug/.venv/pyvenv.cfg x", "n plug/.venv/bin/python"}}, NotExecutable, ""},
		{findCase{name: "19 a link to an environment", tree: lines(opt, venv("e", "opt", "3.12"), []string{"l plug/.venv ../e"}), want: beside}, "", ""},
		{findCase{name: "20 copies", tree: []string{`f plug/.venv/pyvenv.cfg version = 3.12.4\n`, "x plug/.venv/bin/python"}, want: beside}, "", ""},
		{findCase{name: "21 nested", tree: lines(opt, venv("e", "opt", "3.12"), []string{`f plug/.venv/pyvenv.cfg home = $ROOT/opt/bin\n`,
			"l plug/.venv/bin/python $ROOT/e/bin/python"}), want: beside}, "", ""},
		{findCase{name: "31 free-threaded, own", tree: []string{"x o/python3.13t", "f plug/.venv/pyvenv.cfg x", "l plug/.venv/bin/python $ROOT/o/python3.13t"},
			want: "plug/.venv/bin/python 3.13 .venv next to the plugin"}, "", ""},
		{findCase{name: "34 conda without python", tree: lines(opt, []string{"d plug/.conda/conda-meta"}), want: "opt/bin/python3 3.12.4 PATH"}, NotEnvironment, ""},
		{findCase{name: "49 the same environment", tree: own("l e plug/.venv"), environ: []string{"VIRTUAL_ENV=$ROOT/e"}, want: "e/bin/python 3.12.4 VIRTUAL_ENV"}, "", ""},
		{findCase{name: "50 installed in one", tree: own("d plug/.venv/lib/python3.12/site-packages/p"), dirs: []string{"plug/.venv/lib/python3.12/site-packages/p"},
			want: "plug/.venv/bin/python 3.12.4 environment around the plugin"}, "", ""},
		{findCase{name: "52 two environments", tree: lines(opt, venv("plug/a", "opt", "3.12"), venv("plug/b", "opt", "3.12"))}, AmbiguousEnvs, ""},
	} {
		if c.environ == nil {
			c.environ = []string{"PATH=$ROOT/opt/bin"}
		}
		t.Run(c.name, c.run)
	}
}

// TestProgramRows checks the results of programs that are not a suitable Python.
func TestProgramRows(t *testing.T) {
	opt := base("opt")
	pre := `f include/python3.14/patchlevel.h #define PY_VERSION "3.14.0rc2"\n`
	const fromPath = "opt/bin/python3 3.12.4 PATH"
	spare := []string{"PATH=$ROOT/a:$ROOT/opt/bin"}
	for _, c := range []row{
		{findCase{name: "13 not executable", tree: lines(opt, []string{"n a/python3"}), environ: spare, want: fromPath}, NotExecutable, ""},
		{findCase{name: "14 a directory", tree: lines(opt, []string{"d a/python3"}), environ: spare, want: fromPath}, IsDirectory, ""},
		{findCase{name: "15 empty", tree: lines(opt, []string{"e a/python3"}), environ: spare, want: fromPath}, BadFormat, ""},
		{findCase{name: "15 garbage", tree: lines(opt, []string{"s a/python3 garbage"}), environ: spare, want: fromPath}, UnknownVersion, ""},
		{findCase{name: "17 a loop", tree: lines(opt, []string{"l a/python3 python", "l a/python python3"}), environ: spare, want: fromPath}, SymlinkLoop, ""},
		{findCase{name: "25 a shim for what is not installed", tree: lines(opt, pyenvTree, []string{"f work/.python-version 3.14\\n"}),
			environ: []string{"PATH=$ROOT/pyenv/shims:$ROOT/opt/bin"}, want: fromPath}, ShimUnresolved, ""},
		{findCase{name: "25 a shim of which nobody says more", tree: lines(opt, []string{"x rye/shims/python3"}), environ: []string{"PATH=$ROOT/rye/shims:$ROOT/opt/bin"}, want: fromPath}, UnknownVersion, ""},
		{findCase{name: "25 a pin that is not installed", tree: lines(opt, pyenvTree, []string{"f plug/.python-version 3.15\\n"})}, PinNotInstalled, ""},
		{findCase{name: "26 a shim of another version", tree: lines(opt, []string{"s pyenv/shims/python3 " + pyenvShim, "d pyenv/versions/3.11.7/bin", "f pyenv/version 3.11.7\\n"}),
			environ: []string{"PATH=$ROOT/pyenv/shims:$ROOT/opt/bin"}, want: fromPath}, ShimUnresolved, ""},
		{findCase{name: "27 a shim is not run, and its Python is", tree: pyenvTree, environ: []string{"PATH=$ROOT/pyenv/shims"}, want: "pyenv/versions/3.11.7/bin/python3 3.11.7 PATH"}, Shim, ""},
		{findCase{name: "28 a wrapper that nobody asks", tree: lines(opt, []string{`s a/python3 #!/bin/sh\n`}), environ: spare, want: fromPath}, UnknownVersion, ""},
		{findCase{name: "29 Python 2", tree: lines(opt, []string{"x a/python2.7", "l a/python3 python2.7"}), environ: spare, want: fromPath}, Python2, ""},
		{findCase{name: "30 PyPy", tree: lines(opt, []string{"x a/pypy3.10"}), environ: spare, want: fromPath}, "", ""},
		{findCase{name: "31 free-threaded", tree: lines(opt, []string{"x a/python3.13t", "l a/python3 python3.13t"}), environ: spare, want: "a/python3 3.13 PATH"}, "", ""},
		{findCase{name: "32 for debugging", tree: lines(opt, []string{"x a/python3.13d", "l a/python3 python3.13d"}), environ: spare, want: "a/python3 3.13 PATH"}, "", ""},
		{findCase{name: "33 a pre-release", tree: lines(opt, []string{"x a/python3.14", pre}), requires: []string{">=3.12 p.py"}, environ: []string{"PATH=$ROOT/a:$ROOT/opt/bin"}, want: fromPath}, "", ""},
		{findCase{name: "33 nothing but a pre-release", tree: []string{"x a/python3.14", pre}, environ: spare}, NoPython, ""},
		{findCase{name: "33 a pre-release called python3", tree: lines(opt, []string{"x a/python3.14", "l a/python3 python3.14", pre}), environ: spare, want: "a/python3 3.14.0rc2 PATH"}, "", ""},
		{findCase{name: "35 conda's base", tree: lines(opt, base("c")), environ: []string{"CONDA_PREFIX=$ROOT/c", "CONDA_DEFAULT_ENV=base", "PATH=$ROOT/opt/bin"}, want: fromPath}, "", ""},
		{findCase{name: "36 relative entries", tree: lines(opt, []string{"x work/python3.13", "l work/python3 python3.13"}), environ: []string{"PATH=:.::$ROOT/opt/bin"}, want: fromPath}, RelativeEntry, ""},
		{findCase{name: "37 no PATH", tree: opt, environ: []string{"HOME=$ROOT"}}, NoPython, ""},
		{findCase{name: "a planted python3", tree: lines(opt, []string{"x plug/python3", "x plug/bin/python3", "x work/python3"}), want: fromPath}, "", ""},
	} {
		if c.environ == nil {
			c.environ = []string{"PATH=$ROOT/opt/bin"}
		}
		t.Run(c.name, c.run)
	}
}

func (c row) run(t *testing.T) {
	root := c.make(t)
	found, code, err := findCode(t.Context(), c.request(root))
	c.compare(t, root, found, code, err)
	c.explained(t, root)
}

// TestCandidates checks that the explanation lists each candidate once and omits none. It ignores
// PATH.
func TestCandidates(t *testing.T) {
	opt := base("opt")
	own := lines(opt, venv("plug/.venv", "opt", "3.12.4"))
	made := lines(own, []string{"f plug/.venv/" + EnvMarker + " {}"})
	script := func(line string) []string { return lines(opt, []string{`f plug/p.py ` + line + `\nx = 1\n`}) }
	pin := func(text string) []string { return lines(opt, []string{"f plug/.python-version " + text + "\\n"}) }
	for _, c := range []struct {
		findCase
		listed string // "CODE SOURCE PATH; …"
	}{
		{findCase{name: "the plugin's #! line names no path", tree: script("#!/usr/bin/env python3")}, ""},
		{findCase{name: "a name nowhere", tree: opt, manifest: "nopython"}, "no-python manifest nopython"},
		{findCase{name: "a version nowhere", tree: []string{"d opt"}, flag: "3.13t"}, "no-python --python 3.13t"},
		{findCase{name: "a pin before the system's", tree: pin(`3.13.1\nmine\nsystem`)},
			"pin-not-installed .python-version 3.13.1; pin-not-installed .python-version mine"},
		{findCase{name: "the system's before a pin", tree: pin(`system\n3.13.1`)}, ""},
		{findCase{name: "a pin that is there, before the system's", tree: pin(`3.12.4\nsystem`)}, ""},
		{findCase{name: "made by pyplug", tree: made, flag: "3.12"}, ""},
		{findCase{name: "made by pyplug, of another version", tree: made, flag: "3.13t"}, "version-mismatch .venv next to the plugin plug/.venv/bin/python; " +
			"version-mismatch --python opt/bin/python3; version-mismatch --python opt/bin/python; no-python --python 3.13t"},
		{findCase{name: "made for others", tree: made, others: true}, "for-others .venv next to the plugin plug/.venv"},
		{findCase{name: "activated through a link", tree: lines(own, []string{"l e plug/.venv"}), environ: []string{"VIRTUAL_ENV=$ROOT/e", "PATH=$ROOT/opt/bin:$ROOT/e/bin"}}, ""},
		{findCase{name: "activated through a link, and broken", tree: []string{"f plug/.venv/pyvenv.cfg x", "l plug/.venv/bin/python gone", "l e plug/.venv"},
			environ: []string{"VIRTUAL_ENV=$ROOT/e"}}, "broken-symlink VIRTUAL_ENV e/bin/python"},
		{findCase{name: "a file .venv that names one", tree: lines(opt, venv("e", "opt", "3.12.4"), []string{"f plug/.venv ../e\\n"})}, ""},
		{findCase{name: "a file .venv that names a lost one", tree: lines(opt, []string{"f plug/.venv ../e\\n"})}, "missing .venv next to the plugin e"},
		{findCase{name: "an empty file .venv", tree: lines(opt, []string{"f plug/.venv \\n"})}, "not-an-environment .venv next to the plugin plug/.venv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.environ == nil {
				c.environ = []string{"PATH=$ROOT/opt/bin"}
			}
			c.entry = "plug/p.py"
			root := c.make(t)
			var got []string
			for _, a := range c.explained(t, root) {
				if a.Source != SourcePath {
					got = append(got, strings.ReplaceAll(fmt.Sprintf("%s %s %s", a.Code, a.Source, a.Path), root+"/", ""))
				}
			}
			if listed := strings.Join(got, "; "); listed != c.listed {
				t.Errorf("got  %s\nwant %s", listed, c.listed)
			}
		})
	}
}

// findCode runs Find. It also returns the code of the error, or of the first skipped candidate.
func findCode(ctx context.Context, r Request) (found Interpreter, code Code, err error) {
	found, err = Find(ctx, r)
	if err != nil {
		_, _, broken := newAsking(ctx, r).find(ctx)
		code = broken.Code
	} else if len(found.Tried) > 0 {
		code = found.Tried[0].Code
	}
	return found, code, err
}

// compare compares the result of a search in the tree at root with the row.
func (c row) compare(t *testing.T, root string, found Interpreter, code Code, err error) {
	t.Helper()
	got := strings.ReplaceAll(found.Path+" "+found.Version.String()+" "+string(found.Source), root+"/", "")
	if err != nil {
		got = ""
	}
	if got != c.want || code != c.code {
		t.Errorf("got %q %s, want %q %s (%v)", got, code, c.want, c.code, err)
	}
	if err == nil {
		facts := FactsOf(found, nil)
		if notes := strings.Join(facts.Notes, "; "); c.notes == "" && notes != "" || !strings.Contains(notes, c.notes) {
			t.Errorf("notes %q, want %q", notes, c.notes)
		}
	}
}

// TestProbeRows checks how Find asks a Python for its version if no file says it, and how Find uses
// the answer.
func TestProbeRows(t *testing.T) {
	const answer, fromPath = "\x1eprogram /x\x1e\n\x1epyplug cpython 3 12 9 final 0\x1e\n", "opt/bin/python3 3.12.4 PATH"
	wrapper := lines(base("opt"), []string{`s a/python3 #!/bin/sh\n`})
	own := []string{"f plug/.venv/pyvenv.cfg home = /x", `s plug/.venv/bin/python #!/bin/sh\n`}
	for _, c := range []struct {
		row
		out string
		err error
	}{
		{row{findCase{name: "44 a wrapper", tree: wrapper, want: "a/python3 3.12.9 PATH"}, "", ""}, answer, nil},
		{row{findCase{name: "45 an environment's prefix is the one of its pyvenv.cfg", tree: own, want: "plug/.venv/bin/python 3.12.9 .venv next to the plugin"}, "", "no /x"}, answer, nil},
		{row{findCase{name: "47 a sitecustomize that prints", tree: wrapper, want: "a/python3 3.12.9 PATH"}, "", ""}, "hello\n\x1e" + answer + "bye", nil},
		{row{findCase{name: "47 one that crashes", tree: wrapper, want: fromPath}, NotPython, ""}, "", errors.New("exit code 1")},
		{row{findCase{name: "48 one that hangs", tree: wrapper, want: fromPath}, NotPython, ""}, "", context.DeadlineExceeded},
		{row{findCase{name: "48 the plugin's own hangs", tree: own}, NotPython, ""}, "", context.DeadlineExceeded},
		{row{findCase{name: "29 Python 2", tree: wrapper, want: fromPath}, Python2, ""}, "\x1epyplug cpython 2 7 18 final 0\x1e", nil},
	} {
		c.environ = []string{"PATH=$ROOT/a:$ROOT/opt/bin"}
		t.Run(c.name, func(t *testing.T) {
			root := c.make(t)
			request := c.request(root)
			request.Run = func(_ context.Context, path string, args []string) ([]byte, string, error) {
				if got := strings.Join(args[:4], " "); got != "-I -S -B -c" {
					t.Errorf("asked with %s", got)
				}
				return []byte(c.out), "", c.err
			}
			found, code, err := findCode(t.Context(), request)
			c.compare(t, root, found, code, err)
			if facts := FactsOf(found, nil); found.Env != "" && string(facts.Prefix) != root+"/plug/.venv" {
				t.Errorf("prefix %s", facts.Prefix)
			}
		})
	}
}

// TestNames checks paths with every kind of character.
func TestNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems allow less")
	}
	for _, name := range []string{"my dir", "line\nhome = evil", "ünï", "\xff\xfe", "-rf", "a;b$(c)'\"", "=x"} {
		root := tree(t, lines(base("opt"), venv("plug/.venv", "opt", "3.12.1"), []string{"d work"})...)
		dir := root + "/" + name
		check(t, os.Rename(root+"/plug", dir))
		cfg := "home = " + root + "/opt/bin\nversion = 3.12.1\ncommand = python -m venv " + dir + "/.venv\n"
		check(t, os.WriteFile(dir+"/.venv/pyvenv.cfg", []byte(cfg), 0o600))
		d, err := Explain(t.Context(), Request{Dirs: []string{dir}, Cwd: root, systemRoot: root, Environ: []string{"HOME="}})
		facts := FactsOf(d.Chosen, nil)
		if err != nil || d.Broken != nil || d.Chosen.Path != dir+"/.venv/bin/python" || string(facts.Base) != root+"/opt" {
			t.Errorf("%q: got %+v, %v", name, d, err)
		}
		text, err := json.Marshal(facts)
		var read struct{ Path, Prefix schema.Path }
		if err = errors.Join(err, json.Unmarshal(text, &read)); err != nil || read.Path != facts.Path || string(read.Prefix) != dir+"/.venv" {
			t.Errorf("%q: JSON has %q, %v", name, read, err)
		}
		check(t, os.Remove(dir+"/.venv/bin/python"))
		check(t, os.Remove(dir+"/.venv/bin/python3"))
		if _, err := Find(t.Context(), Request{Dirs: []string{dir}, Cwd: root, systemRoot: root}); err == nil || hook.Word(hook.AsError(err).Hints[0]) == "" {
			t.Errorf("%q: got %v", name, err)
		}
		line := quoted("printf", "%s", dir)
		if out, err := exec.Command("bash", "-c", line).Output(); err != nil || string(out) != dir || !utf8.ValidString(line) || strings.Contains(line, "\n") {
			t.Errorf("%q is written as %q, which bash reads as %q (%v)", name, line, out, err)
		}
	}
}
