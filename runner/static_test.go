package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// fakeSite is where the packages of the trees' environment are.
const fakeSite = "env/lib/python3.12/site-packages/"

// staticTree makes files below a new directory: names with slashes, and their
// texts. There is an environment, with grpc in it where grpc is asked for.
func staticTree(t testing.TB, grpc bool, files map[string]string) (root string, m *interp.Modules) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the environments are those of other systems")
	}
	root = t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("env/pyvenv.cfg", "include-system-site-packages = false\n")
	put("env/bin/python", "#!")
	put(fakeSite+"six.py", "")
	if grpc {
		put(fakeSite+"grpc/__init__.py", `print("1|1|tcp|127.0.0.1:1|grpc")`) // never read
	}
	for name, text := range files {
		put(name, text)
	}
	return root, fakePython(root).Modules([]string{filepath.Join(root, "plug")}, nil)
}

// fakePython is the interpreter of the environment in a tree.
func fakePython(root string) interp.Interpreter {
	return interp.Interpreter{Path: filepath.Join(root, "env", "bin", "python"), Version: interp.Version{Major: 3, Minor: 12}}
}

const (
	makesServer = "import grpc\nserver = grpc.server(pool)\n"
	prints      = `print(f"1|1|tcp|127.0.0.1:{port}|grpc", flush=True)` + "\n"
)

func TestLooksGRPC(t *testing.T) {
	for _, c := range []struct {
		name  string
		entry string
		files map[string]string
		none  bool // the environment has no grpc
		why   string
	}{
		{name: "a functions file", files: map[string]string{"plug/main.py": "import os, six\ndef f(): return 1\n"}},
		{name: "a server and its handshake", files: map[string]string{"plug/main.py": makesServer + prints},
			why: "it makes a gRPC server and prints a handshake"},
		{name: "a server", files: map[string]string{"plug/main.py": makesServer}, why: "it makes a gRPC server"},
		{name: "though grpc is missing", files: map[string]string{"plug/main.py": makesServer}, none: true,
			why: "it makes a gRPC server"},
		{name: "a function that prints such a line", files: map[string]string{"plug/main.py": "def f():\n  " + prints}},
		{name: "a handshake and a client", files: map[string]string{"plug/main.py": "import grpc\n" + prints},
			why: "it imports gRPC and prints a handshake"},
		{name: "a handshake, and the server elsewhere", files: map[string]string{"plug/main.py": "import server\n" + prints,
			"plug/server.py": makesServer}, none: true, why: "it makes a gRPC server and prints a handshake"},
		{name: "in a file of its own", files: map[string]string{"plug/main.py": "from sdk.serve import serve\n",
			"plug/sdk/serve.py": prints},
			why: filepath.FromSlash("sdk/serve.py") + " prints a handshake"},
		{name: "in an installed file", files: map[string]string{"plug/main.py": "import sdk\n",
			fakeSite + "sdk/__init__.py": "from . import serve\n", fakeSite + "sdk/serve.py": prints},
			why: "$ROOT/" + fakeSite + "sdk/serve.py prints a handshake"},
		{name: "which is not read without grpc", files: map[string]string{"plug/main.py": "import sdk\n",
			"plug/sdk.py": prints}, none: true},
		{name: "an import that makes a server", files: map[string]string{"plug/main.py": "import helper\n",
			"plug/helper.py": makesServer}},
		{name: "a client", files: map[string]string{"plug/main.py": "import grpc\nc = grpc.insecure_channel('x')\n"}},
		{name: "a package", entry: "plug/pack", files: map[string]string{"plug/pack/__init__.py": "",
			"plug/pack/__main__.py": "from .serve import x\n", "plug/pack/serve.py": prints},
			why: filepath.FromSlash("pack/serve.py") + " prints a handshake"},
		{name: "a package that no one runs", entry: "plug/pack",
			files: map[string]string{"plug/pack/__init__.py": makesServer + prints}},
		{name: "nothing", files: nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, m := staticTree(t, !c.none, c.files)
			yes, why := looksGRPC(m, filepath.Join(root, filepath.FromSlash(or(c.entry, "plug/main.py"))))
			if want := strings.ReplaceAll(c.why, "$ROOT", root); yes != (want != "") || why != want {
				t.Errorf("got %v %q, want %q", yes, why, want)
			}
		})
	}
}

// pb2 is a generated file of the room pysrc: "shapes", which has a service and
// imports "common", or "common" itself.
func pb2(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "interp", "pysrc", "testdata", "pb2", "7.35", name+"_pb2.py"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names are the names of sources.
func names(sources []protoschema.Source) string {
	var all []string
	for _, s := range sources {
		all = append(all, filepath.ToSlash(s.Name))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestPB2Sources(t *testing.T) {
	shapes, common := pb2(t, "shapes"), pb2(t, "common")
	for _, c := range []struct {
		name  string
		entry string
		files map[string]string
		want  string
	}{
		{name: "what is imported, and no other", files: map[string]string{
			"plug/main.py": "from gen import shapes_pb2_grpc\n", "plug/gen/shapes_pb2_grpc.py": "import shapes_pb2\n",
			"plug/gen/shapes_pb2.py": shapes, "plug/common_pb2.py": common, "plug/other/shapes_pb2.py": "broken",
		}, want: "common_pb2.py gen/shapes_pb2.py"},
		{name: "what is installed", files: map[string]string{
			"plug/main.py": "import protos.shapes_pb2\n", fakeSite + "protos/shapes_pb2.py": shapes,
		}, want: "$ROOT/" + fakeSite + "protos/shapes_pb2.py"},
		{name: "what lies there, if nothing with a service is imported", files: map[string]string{
			"plug/main.py":  "import sys, common_pb2\nsys.path.append('gen')\nimport shapes_pb2\n",
			"plug/a/b/c.py": "", "plug/gen/shapes_pb2.py": shapes, "plug/common_pb2.py": common,
			"plug/gen/broken_pb2.py": "x.AddSerializedFile(b'\\x0')",
			"plug/gen/wrong_pb2.py":  "x.AddSerializedFile(b'wrong')", "plug/.hidden/shapes_pb2.py": shapes,
			"plug/node_modules/shapes_pb2.py": shapes,
			"plug/e/pyvenv.cfg":               "", "plug/e/x_pb2.py": shapes, "plug/1/2/3/4/5/6/x_pb2.py": common,
			"plug/1/2/3/4/5/6/7/x_pb2.py": common,
		}, want: "1/2/3/4/5/6/x_pb2.py common_pb2.py gen/shapes_pb2.py"},
		{name: "below a package", entry: "plug/pack", files: map[string]string{
			"plug/pack/__main__.py": "x = 1\n", "plug/pack/gen/shapes_pb2.py": shapes, "plug/common_pb2.py": common,
		}, want: "pack/gen/shapes_pb2.py"},
		{name: "none", files: map[string]string{"plug/main.py": "import grpc\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, m := staticTree(t, true, c.files)
			sources, err := pb2Sources(m, filepath.Join(root, filepath.FromSlash(or(c.entry, "plug/main.py"))))
			if want := strings.ReplaceAll(c.want, "$ROOT", root); err != nil || names(sources) != want {
				t.Errorf("got %s, %v, want %s", names(sources), err, want)
			}
		})
	}
}

func TestPB2SourcesBroken(t *testing.T) {
	for text, want := range map[string]string{
		"x = 1\nDESCRIPTOR = d.AddSerializedFile(b'\\x0')\n": "gen/kv_pb2.py: line 2: ",
		"DESCRIPTOR = d.AddSerializedFile(b'wrong')\n":       "descriptor in gen/kv_pb2.py: ",
	} {
		root, m := staticTree(t, true, map[string]string{"plug/main.py": "import gen.kv_pb2\n", "plug/gen/kv_pb2.py": text})
		sources, err := pb2Sources(m, filepath.Join(root, "plug", "main.py"))
		if err == nil || !strings.HasPrefix(err.Error(), filepath.FromSlash(want)) || sources != nil {
			t.Errorf("got %v, %v, want %s", sources, err, want)
		}
	}
}

// TestLinked holds that a script behind a link imports what is beside itself, as
// Python has it.
func TestLinked(t *testing.T) {
	root, _ := staticTree(t, true, map[string]string{"real/main.py": "import sdk, shapes_pb2\n", "real/sdk.py": prints,
		"real/shapes_pb2.py": pb2(t, "shapes")})
	entry := filepath.Join(root, "plug.py")
	if err := os.Symlink(filepath.Join(root, "real", "main.py"), entry); err != nil {
		t.Skip(err)
	}
	m := fakePython(root).Modules(importDirs(entry), nil)
	if yes, why := looksGRPC(m, entry); !yes || filepath.Base(why) != "sdk.py prints a handshake" {
		t.Errorf("got %v, %q", yes, why)
	}
	if sources, err := pb2Sources(m, entry); err != nil || names(sources) != filepath.ToSlash(filepath.Join("real", "shapes_pb2.py")) {
		t.Errorf("got %s, %v", names(sources), err)
	}
}

// TestExample is go-plugin's own Python plugin.
func TestExample(t *testing.T) {
	dir := filepath.Join(runnertest.Example(t), "plugin-python")
	entry := filepath.Join(dir, "plugin.py")
	_, m := staticTree(t, true, nil)
	if yes, why := looksGRPC(m, entry); !yes || why != "it makes a gRPC server and prints a handshake" {
		t.Errorf("got %v, %q", yes, why)
	}
	m = interp.Interpreter{}.Modules([]string{dir}, nil)
	sources, err := pb2Sources(m, entry)
	if err != nil {
		t.Fatal(err)
	}
	all, err := protoschema.MergeDescriptors(sources...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.Find("KV/Get"); err != nil {
		t.Errorf("%s: %v", names(sources), err)
	}
}

// BenchmarkLooksGRPC is what a functions file pays: where its Python has no gRPC,
// where it has, and with large libraries.
func BenchmarkLooksGRPC(b *testing.B) {
	library := strings.Repeat("def f(x: int | None) -> str | None:\n    \"\"\"Say \"tcp\".\"\"\"\n    return None\n", 200)
	for _, grpc := range []bool{false, true} {
		files := map[string]string{"plug/main.py": "import os\nimport big0, big1, big2\n\ndef f(a):\n    return a\n"}
		for n := range 3 {
			imports := ""
			for i := range 100 {
				imports += fmt.Sprintf("from .m%d import f\n", i)
				files[fmt.Sprintf("%sbig%d/m%d.py", fakeSite, n, i)] = library
			}
			files[fmt.Sprintf("%sbig%d/__init__.py", fakeSite, n)] = imports
		}
		root, m := staticTree(b, grpc, files)
		b.Run(fmt.Sprintf("grpc=%v", grpc), func(b *testing.B) {
			for b.Loop() {
				if yes, why := looksGRPC(m, filepath.Join(root, "plug", "main.py")); yes {
					b.Fatal(why)
				}
			}
		})
	}
}

// BenchmarkPB2Sources is to stay below 15 ms.
func BenchmarkPB2Sources(b *testing.B) {
	files, script := map[string]string{}, ""
	for n := range 50 {
		script += fmt.Sprintf("from gen%d import shapes_pb2, shapes_pb2_grpc\n", n)
		files[fmt.Sprintf("plug/gen%d/shapes_pb2.py", n)] = pb2(b, "shapes")
		files[fmt.Sprintf("plug/gen%d/shapes_pb2_grpc.py", n)] = "import grpc\nimport shapes_pb2\n"
	}
	files["plug/main.py"], files["plug/common_pb2.py"] = script, pb2(b, "common")
	root, m := staticTree(b, true, files)
	for b.Loop() {
		if sources, err := pb2Sources(m, filepath.Join(root, "plug", "main.py")); err != nil || len(sources) != 51 {
			b.Fatal(len(sources), err)
		}
	}
}
