package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// sourceIn is a request about files, by their paths below a new directory, whose
// script is plugin.py. What is below "site" is elsewhere, and on PYTHONPATH.
func sourceIn(t testing.TB, python string, files map[string]string) sourceLook {
	t.Helper()
	dir, site := t.TempDir(), t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if rest, ok := strings.CutPrefix(name, "site/"); ok {
			path = filepath.Join(site, filepath.FromSlash(rest))
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := proc.Environ(os.Environ(), true, []string{"PYTHONPATH=" + site})
	return sourceOf(t, python, env, filepath.Join(dir, "plugin.py"))
}

// sourceOf is a request about a script.
func sourceOf(t testing.TB, python string, env []string, script string) sourceLook {
	t.Helper()
	found, err := interp.Find(context.Background(), interp.Request{Flag: python, Environ: os.Environ(), Cwd: t.TempDir(),
		Run: func(ctx context.Context, path string, args []string) ([]byte, string, error) {
			out, err := proc.Run(ctx, proc.Tool{Path: path, Args: args, Env: os.Environ()})
			return out.Stdout, "", err
		}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(script)
	return sourceLook{opened: new(runner.Opened), python: found, Scripts: []string{script}, Place: pysrc.PlaceOf(script, nil), Dirs: []string{dir}, Env: env, Dir: dir}
}

// tell is a stage in lines: its verdict and message, then its findings.
func tell(s hook.Stage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", s.Verdict, s.Message)
	for _, f := range s.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", f.Verdict, f.ID, f.Message)
		for _, fix := range f.Fix {
			fmt.Fprintf(&b, "  %s\n", fix)
		}
	}
	return b.String()
}

func with(files ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, some := range files {
		for name, text := range some {
			all[name] = text
		}
	}
	return all
}

func TestSource(t *testing.T) {
	python := runnertest.Python(t)
	for _, c := range []struct {
		name  string
		files map[string]string
		// want are parts of what is told, in their order; none may be left out.
		want []string
		not  string // is not told
	}{
		{"all well", map[string]string{"plugin.py": "import os, json\nimport a\n", "a.py": "from b import c\n", "b.py": "c = 1\n"},
			[]string{"ok: 3 files compile, 4 imports found"}, "\nnote"},
		{"one of each", map[string]string{"plugin.py": "import os"}, []string{"ok: 1 file compiles, 1 import found"}, ""},
		{"syntax in the script", map[string]string{"plugin.py": "x = 1\ny = (\n"},
			[]string{"failure: plugin.py:2: SyntaxError: ", "failure syntax-error: plugin.py:2: "}, ""},
		{"syntax in two files", map[string]string{"plugin.py": "import a\n\nx = = 1\n", "a.py": "def f(:\n"},
			[]string{"failure syntax-error: plugin.py:3:", "failure syntax-error: a.py:1:"}, ""},
		{"syntax in what may not be loaded", map[string]string{"plugin.py": "def f():\n  import a\n", "a.py": "print 'x'\n"},
			[]string{"warning: ", "warning syntax-error: a.py:1", "Python 2 code"}, "failure"},
		{"an unknown encoding", map[string]string{"plugin.py": "# coding: nothing\n"},
			[]string{"failure syntax-error: plugin.py", "SyntaxError: ", "nothing"}, ""},
		{"no utf-8", map[string]string{"plugin.py": "import a\n", "a.py": "x = '\xe9'\n"},
			[]string{"failure syntax-error: a.py", "SyntaxError: ", "utf-8"}, ""},
		{"a null byte", map[string]string{"plugin.py": "x = 1\n\x00\n"}, []string{"failure syntax-error: plugin.py:2:", "null byte"}, ""},
		{"tabs", map[string]string{"plugin.py": "if 1:\n        x = 1\n\ty = 2\n"}, []string{"failure syntax-error: plugin.py:3: TabError: "}, ""},
		{"a warning is nothing", map[string]string{"plugin.py": "x = '\\d'\nassert (1, 'x')\n"}, []string{"ok: 1 file compiles"}, ""},

		{"missing", map[string]string{"plugin.py": "import os\nimport yaml_zz\nfrom yaml_zz import x\n"},
			[]string{"failure import-missing: yaml_zz is not installed for this Python (imported by plugin.py:2)\n  if it is your own module"}, "plugin.py:3"},
		{"missing two files away", map[string]string{"plugin.py": "import p.q\n", "p/__init__.py": "", "p/q.py": "\nimport zz_zz\n"},
			[]string{"failure import-missing: zz_zz is not installed for this Python (imported by " + filepath.Join("p", "q.py") + ":2)"}, ""},
		{"missing where it is not always loaded", map[string]string{"plugin.py": "def f():\n  import a, zz_a\nif f:\n  import zz_b\n", "a.py": "import zz_c\n"},
			[]string{"note: 2 files compile, 1 import found\n", "note import-unsure: not found for this Python: zz_a (plugin.py:2), zz_b (plugin.py:4), zz_c (a.py:1)\n"}, "failure"},
		{"guarded", map[string]string{"plugin.py": "try:\n  import zz_a\nexcept ImportError:\n  pass\nif TYPE_CHECKING:\n  import zz_b\n"},
			[]string{"ok: 1 file compiles, 0 imports found"}, "zz"},
		{"for another version", map[string]string{"plugin.py": "import sys\nif sys.version_info >= (3, 8):\n  import json\nelse:\n  import zz_a\nif not sys.version_info < (3,):\n  import zz_b\n"},
			[]string{"failure import-missing: zz_b is not installed"}, "zz_a"},
		{"the path is altered", map[string]string{"plugin.py": "import sys\nsys.path.insert(0, 'x')\nimport zz_a\n"},
			[]string{"note import-unsure: not found for this Python: zz_a (plugin.py:3); the plugin changes where Python looks"}, "failure"},
		{"altered by what it imports", map[string]string{"plugin.py": "import a\nimport zz_a\n", "a.py": "import site\nsite.addsitedir('x')"},
			[]string{"note import-unsure"}, "failure"},
		{"a module in C", map[string]string{"plugin.py": "import a, b.c\nfrom b import *\n", "a.so": "", "a.pyd": "", "b/__init__.py": "", "b/c.abi3.so": "", "b/c.pyd": ""},
			[]string{"ok: "}, ""},
		{"another standard library's", map[string]string{"plugin.py": "import urllib2\nif x:\n  import ConfigParser\n"},
			[]string{"failure import-missing: urllib2 is not in the standard library of this Python"}, "pip"},
		{"made by what defines it", map[string]string{"plugin.py": "import os.path\nimport xml.parsers.expat.errors\nimport collections.abc\nimport sys, __main__, __future__\nimport importlib.machinery\nimport pkg.made\n",
			"site/pkg/__init__.py": ""}, []string{"ok: "}, ""},

		{"a namespace", map[string]string{"plugin.py": "import ns.a\nfrom ns import b\nfrom ns.deep import c\n", "site/ns/a.py": "", "ns/b.py": "", "ns/deep/c.py": ""},
			[]string{"ok: "}, ""},
		{"not in a namespace", map[string]string{"plugin.py": "import google.protobuf\nfrom google.protobuf import x\n", "site/google/other.py": ""},
			[]string{"failure import-missing: google.protobuf is not installed for this Python (imported by plugin.py:1)\n", "install protobuf\n"}, "plugin.py:2"},
		{"a name of nothing", map[string]string{"plugin.py": "from google import protobuf\nfrom google import other\n"},
			[]string{"failure import-missing: google is not installed for this Python (imported by plugin.py:1)\n", "install protobuf\n"}, ""},
		{"a name not in a namespace", map[string]string{"plugin.py": "from google import protobuf, other\n", "site/google/other.py": ""},
			[]string{"failure import-missing: google.protobuf is not installed"}, ""},
		{"not in the plugin's own package", map[string]string{"plugin.py": "import p.a\nimport p.b\nimport q.c\nfrom p import anything\n", "p/__init__.py": "", "p/a.py": "", "q.py": ""},
			[]string{"failure import-missing: there is no module p.b in " + filepath.Join("p", "__init__.py") + " (imported by plugin.py:2)", "q.c in q.py"}, "anything"},

		{"relative", map[string]string{"plugin.py": "import p\n", "p/__init__.py": "from .a import x\nfrom . import a, y, z\nfrom .b import c\nz = 1\n", "p/a.py": "x = 1"},
			[]string{"failure import-missing: there is no module b in p (imported by ", "__init__.py:3"}, "module z"},
		{"a package that imports its parts", map[string]string{"plugin.py": "import p\n", "p/__init__.py": "from . import a\n", "p/a.py": "import zz_a\nfrom . import b\n", "p/b.py": "import zz_b"},
			[]string{"failure import-missing: zz_a is not installed", "failure import-missing: zz_b is not installed"}, "note"},
		{"relative names", map[string]string{"plugin.py": "import p.a\n", "p/__init__.py": "", "p/a.py": "from . import b, c\n", "p/b.py": ""},
			[]string{"failure import-missing: there is no module c in "}, "module b"},
		{"relative names that are made", map[string]string{"plugin.py": "import p.a\n", "p/__init__.py": "def __getattr__(n): return 1", "p/a.py": "from . import b, c\n"},
			[]string{"ok: "}, ""},
		{"beside, but not on the path", map[string]string{"plugin.py": "import proto.zoo_pb2_grpc\n", "proto/zoo_pb2_grpc.py": "import zoo_pb2\n", "proto/zoo_pb2.py": ""},
			[]string{"failure import-missing: zoo_pb2 is not where Python looks for it (imported by " + filepath.Join("proto", "zoo_pb2_grpc.py") + ":1)", "put that directory on PYTHONPATH"}, "pip"},

		{"protobuf too old", with(runtimeOf("6.30.2"), map[string]string{"plugin.py": "import a_pb2, b_pb2, c_pb2\n", "a_pb2.py": pb2("6, 31, 1"), "b_pb2.py": pb2("6, 31, 1"), "c_pb2.py": pb2("6, 30, 2")}),
			[]string{"failure protobuf-too-old: a_pb2.py and 1 other file were generated for protobuf 6.31.1, but 6.30.2 is installed: the library is older than the generated code", "install 'protobuf>=6.31.1,<8'"}, "c_pb2"},
		{"protobuf too old for a part", with(runtimeOf("6.30.2"), map[string]string{"plugin.py": "def f():\n  import a_pb2\n", "a_pb2.py": pb2("6, 31, 1")}),
			[]string{"warning protobuf-too-old: a_pb2.py was generated"}, "failure"},
		{"protobuf too new", with(runtimeOf("7.34.0"), map[string]string{"plugin.py": "import a_pb2, b_pb2, c_pb2\n", "a_pb2.py": pb2("5, 29, 3"), "b_pb2.py": pb2("6, 31, 1"),
			"c_pb2.py": "from google.protobuf import descriptor as _descriptor\n_M = _descriptor.Descriptor(\n  name='M')\n"}),
			[]string{"failure protobuf-too-new: a_pb2.py was generated for protobuf 5.29.3, but 7.34.0 is installed: the generated code is too old for the library", "install 'protobuf>=5.29.3,<7'",
				"failure protobuf-too-new: c_pb2.py was generated for protobuf 3.18 or older, but 7.34.0 is installed: the generated code is too old for the library", "install 'protobuf<4'"}, "b_pb2"},
		{"protobuf just right", with(runtimeOf("3.20.3"), map[string]string{"plugin.py": "import a_pb2\n", "a_pb2.py": "import google.protobuf\n_descriptor.Descriptor()"}),
			[]string{"ok: "}, "protobuf"},
		{"grpcio too old", map[string]string{"plugin.py": "import a_pb2_grpc\n", "site/grpc/__init__.py": "", "site/grpcio-1.64.0.dist-info/METADATA": "Name: grpcio\nVersion: 1.64.0\n",
			"a_pb2_grpc.py": "import grpc\nGRPC_GENERATED_VERSION = '1.65.1'\nif 1:\n    raise RuntimeError(\n'x')"},
			[]string{"failure grpcio-too-old: a_pb2_grpc.py was generated for grpcio 1.65.1, but 1.64.0 is installed", "install 'grpcio>=1.65.1'"}, ""},
		{"grpcio that warns", map[string]string{"plugin.py": "import a_pb2_grpc\n", "site/grpc/__init__.py": "", "site/grpcio-1.62.0.dist-info/METADATA": "Name: grpcio\nVersion: 1.62.0\n",
			"a_pb2_grpc.py": "import grpc\nGRPC_GENERATED_VERSION = '1.63.1'\nwarnings.warn('x')"}, []string{"ok: "}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			told := tell(lookAtSource(t.Context(), sourceIn(t, python, c.files)))
			rest := told
			for _, part := range c.want {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("want %q in\n%s", part, told)
				}
				rest = after
			}
			if c.not != "" && strings.Contains(told, c.not) {
				t.Errorf("%q is in\n%s", c.not, told)
			}
		})
	}
}

// TestSyntaxFrame holds a syntax error against what the worker tells of one.
func TestSyntaxFrame(t *testing.T) {
	r := sourceIn(t, runnertest.Python(t), map[string]string{"plugin.py": "if True:\n    x = é = 1 1\n"})
	s := lookAtSource(t.Context(), r)
	if len(s.Findings) != 1 {
		t.Fatal(tell(s))
	}
	f := s.Findings[0]
	if f.File != r.Scripts[0] || f.Line != 2 || f.Kind != hook.Start || f.Err == nil || f.Err.Kind != hook.Start {
		t.Errorf("%+v", f)
	}
	raised := f.Err.Python
	if raised.Type != "SyntaxError" || len(raised.Frames) != 1 {
		t.Fatalf("%+v", raised)
	}
	if at := raised.Frames[0]; string(at.File) != f.File || at.Line != 2 || at.Text != "    x = é = 1 1" || at.Column == 0 {
		t.Errorf("%+v", at)
	}
	if left, _ := filepath.Glob(filepath.Join(r.Dir, "__pycache__")); left != nil {
		t.Error("byte code was written")
	}
}

// TestSourceUnchecked has an interpreter that is gone.
func TestSourceUnchecked(t *testing.T) {
	r := sourceIn(t, runnertest.Python(t), map[string]string{"plugin.py": "import zz_zz\nx = ("})
	r.python.Path = filepath.Join(t.TempDir(), "gone")
	told := tell(lookAtSource(t.Context(), r))
	if !strings.Contains(told, "note source-unchecked: cannot run the interpreter: ") || strings.Contains(told, "zz_zz") {
		t.Error(told)
	}
}

// pb2 is what protoc writes of versions.
func pb2(numbers string) string {
	return "from google.protobuf import descriptor as _descriptor\nfrom google.protobuf import runtime_version as _runtime_version\n" +
		"_runtime_version.ValidateProtobufRuntimeVersion(\n    _runtime_version.Domain.PUBLIC,\n    " + numbers + ",\n    '',\n    'zoo.proto'\n)\n"
}

// runtimeOf is a protobuf of a version that only compares.
func runtimeOf(version string) map[string]string {
	return map[string]string{
		"site/google/protobuf/__init__.py":   "__version__ = '" + version + "'\n",
		"site/google/protobuf/descriptor.py": "_USE_C_DESCRIPTORS = True\n",
		"site/google/protobuf/runtime_version.py": "class Domain: PUBLIC = 1\nclass VersionError(Exception): pass\n" +
			"def ValidateProtobufRuntimeVersion(domain, major, minor, patch, suffix, name):\n" +
			"    own = tuple(map(int, '" + version + "'.split('.')))\n" +
			"    if (major, minor, patch) > own or major + 1 < own[0]: raise VersionError()\n",
	}
}

func TestSourceSkipped(t *testing.T) {
	if s := lookAtSource(t.Context(), sourceLook{}); s.Verdict != hook.Skipped || s.Message != "not a Python program" {
		t.Errorf("%+v", s)
	}
}

// TestSourceMany asks more than one process is handed.
func TestSourceMany(t *testing.T) {
	files := map[string]string{}
	var script strings.Builder
	for i := range 600 {
		name := fmt.Sprintf("a_module_with_a_long_name_%d", i)
		fmt.Fprintln(&script, "import", name)
		files[name+".py"] = "x = 1\n"
	}
	files["plugin.py"] = script.String() + "import zz_last\n"
	files["a_module_with_a_long_name_599.py"] = "x = (\n"
	s := lookAtSource(t.Context(), sourceIn(t, runnertest.Python(t), files))
	if len(s.Findings) != 2 || s.Findings[0].ID != syntaxError || s.Findings[1].ID != importMissing || s.Details["files"] != 601 {
		t.Errorf("%v %s", s.Details, tell(s))
	}
}

// TestManaged holds that no command is advised which the system forbids: pip installs
// nothing into a Python that the package manager owns.
func TestManaged(t *testing.T) {
	root := t.TempDir()
	python := interp.Interpreter{Path: filepath.Join(root, "bin", "python3"), Version: interp.Version{Major: 3, Minor: 12}}
	for _, name := range []string{"bin/python3", "lib/python3.12/EXTERNALLY-MANAGED"} {
		if interp.FactsOf(python, nil).ExternallyManaged {
			t.Errorf("it is managed before there is %s", name)
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !interp.FactsOf(python, nil).ExternallyManaged {
		t.Error("it is not managed")
	}
	// Nor into one that other programs may use, which is that of whoever names none.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plugin.py"), []byte("import PIL"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + filepath.Dir(runnertest.Python(t))
	o, err := runner.Open(t.Context(), runner.Config{Plugin: filepath.Join(dir, "plugin.py"), Cwd: dir, Environ: []string{path}})
	if l := lookOf(o); err != nil || !l.managed {
		t.Errorf("%v: %+v", err, l)
	}
	l := sourceLook{python: interp.Interpreter{Path: "/usr/bin/python3"}, Dirs: []string{"/p"}, managed: true}
	if got := l.install([]string{"PyYAML"}, nil); !got.IsZero() {
		t.Errorf("got %s", hook.Word(got))
	}
	l.command = schema.Hintf("pyplug sync p.py")
	if got, want := hook.Word(l.install([]string{"PyYAML"}, nil)), "list PyYAML in requirements.txt beside the plugin and run `pyplug sync p.py`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
