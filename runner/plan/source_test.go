package plan

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// staticTree makes files and an environment with a Python that never runs.
func staticTree(t testing.TB, grpc bool, files map[string]string) (root string, python interp.Interpreter) {
	t.Helper()
	root = runnertest.SourceTree(t, grpc, files)
	return root, treePython(root)
}

// treePython returns the interpreter of the environment in a [runnertest.SourceTree].
func treePython(root string) interp.Interpreter {
	return interp.Interpreter{Path: filepath.Join(root, "env", "bin", "python"), Version: interp.Version{Major: 3, Minor: 12}}
}

const (
	makesServer = "import grpc\nserver = grpc.server(pool)\n"
	prints      = `print(f"1|1|tcp|127.0.0.1:{port}|grpc", flush=True)` + "\n"
	// The parts of a handshake, and code that joins them.
	partNames   = "CORE, NETWORK, PROTOCOL = 1, 'tcp', 'grpc'\n"
	printsParts = `print(f"{CORE}|{APP}|{NETWORK}|{address}|{PROTOCOL}", flush=True)` + "\n"
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
			why: "it imports gRPC and prints a handshake"},
		{name: "though grpc is missing", files: map[string]string{"plug/main.py": makesServer + prints}, none: true,
			why: "it imports gRPC and prints a handshake"},
		{name: "a server that no handshake tells of", files: map[string]string{"plug/main.py": makesServer}},
		{name: "a server for tests", files: map[string]string{"plug/main.py": "import helper\n", "plug/helper.py": makesServer}},
		{name: "a function that prints such a line", files: map[string]string{"plug/main.py": "def f():\n  " + prints}},
		{name: "an example of the line in a helper", files: map[string]string{"plug/main.py": "import helper\n",
			"plug/helper.py": "EXAMPLE = '1|1|tcp|127.0.0.1:1234|grpc'\n"}},
		{name: "a handshake, and the server elsewhere", files: map[string]string{"plug/main.py": "import server\n" + prints,
			"plug/server.py": makesServer}, none: true, why: "it imports gRPC and prints a handshake"},
		{name: "a server, and the handshake elsewhere", files: map[string]string{"plug/main.py": "import line\n" + makesServer,
			"plug/line.py": prints}, why: "line.py prints a handshake"},
		{name: "in a file of its own", files: map[string]string{"plug/main.py": "from sdk.serve import serve\n",
			"plug/sdk/serve.py": makesServer + prints},
			why: filepath.FromSlash("sdk/serve.py") + " prints a handshake"},
		{name: "in two", files: map[string]string{"plug/main.py": "from sdk import line, serve\n",
			"plug/sdk/line.py": prints, "plug/sdk/serve.py": makesServer},
			why: filepath.FromSlash("sdk/line.py") + " prints a handshake"},
		{name: "in parts", files: map[string]string{"plug/main.py": "import grpc\nfrom names import *\n" + printsParts,
			"plug/names.py": partNames},
			why: "names.py prints a handshake"},
		{name: "a client", files: map[string]string{"plug/main.py": "import grpc\nc = grpc.insecure_channel('x')\n"}},
		{name: "a package", entry: "plug/pack", files: map[string]string{"plug/pack/__init__.py": "",
			"plug/pack/__main__.py": "from .serve import x\n", "plug/pack/serve.py": makesServer + prints},
			why: filepath.FromSlash("pack/serve.py") + " prints a handshake"},
		{name: "a package in a package", entry: "plug/outer/inner", files: map[string]string{"plug/outer/__init__.py": "",
			"plug/outer/inner/__init__.py": "", "plug/outer/inner/__main__.py": "import outer.common, beside\n",
			"plug/outer/common.py": "import grpc\n", "plug/beside.py": prints, "plug/outer/beside.py": ""},
			why: "beside.py prints a handshake"},
		{name: "a package that no one runs", entry: "plug/pack",
			files: map[string]string{"plug/pack/__init__.py": makesServer + prints}},
		{name: "the last file that is looked at", files: manyFiles(99), why: "m98.py prints a handshake"},
		{name: "too many files", files: manyFiles(100)},
		{name: "nothing", files: nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, _ := staticTree(t, !c.none, c.files)
			entry := filepath.Join(root, filepath.FromSlash(cmp.Or(c.entry, "plug/main.py")))
			yes, why := openedAt(treePython(root), entry).looksGRPC()
			if want := strings.ReplaceAll(c.why, "$ROOT", root); yes != (want != "") || why != want {
				t.Errorf("got %v %q, want %q", yes, why, want)
			}
		})
	}
}

// manyFiles returns a script that imports a chain of n files. The last file prints a handshake.
func manyFiles(n int) map[string]string {
	files := map[string]string{"plug/main.py": "import grpc, m0\n"}
	for i := range n {
		files[fmt.Sprintf("plug/m%d.py", i)] = fmt.Sprintf("import m%d\n", i+1)
	}
	files[fmt.Sprintf("plug/m%d.py", n-1)] = prints
	return files
}

// pb2 returns a generated file from the test data of package pysrc: "shapes", which has a service
// and imports "common", or "common" itself.
func pb2(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "interp", "pysrc", "testdata", "pb2", "7.35", name+"_pb2.py"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names joins the names of sources.
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
			"plug/main.py": "import protos.shapes_pb2\n", runnertest.TreeSite + "protos/shapes_pb2.py": shapes,
		}, want: "$ROOT/" + runnertest.TreeSite + "protos/shapes_pb2.py"},
		{name: "what is in a directory that the plugin adds to the search path", files: map[string]string{
			"plug/main.py":      "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), '..', 'gen'))\nimport shapes_pb2\n",
			"gen/shapes_pb2.py": shapes, "gen/common_pb2.py": common,
		}, want: "$ROOT/gen/common_pb2.py $ROOT/gen/shapes_pb2.py"},
		{name: "what an SDK imports, too", files: map[string]string{
			"plug/main.py": "import funppy, shapes_pb2, broken\n", "plug/shapes_pb2.py": shapes,
			runnertest.TreeSite + "funppy/__init__.py": "from . import common_pb2\n", runnertest.TreeSite + "funppy/common_pb2.py": common,
			runnertest.TreeSite + "broken/__init__.py": "from . import x_pb2\n", runnertest.TreeSite + "broken/x_pb2.py": "x.AddSerializedFile(b'wrong')",
		}, want: "$ROOT/" + runnertest.TreeSite + "funppy/common_pb2.py shapes_pb2.py"},
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
			root, python := staticTree(t, true, c.files)
			sources, err := openedAt(python, filepath.Join(root, filepath.FromSlash(cmp.Or(c.entry, "plug/main.py")))).PB2Sources()
			if want := strings.ReplaceAll(c.want, "$ROOT", root); err != nil || names(sources) != want {
				t.Errorf("got %s, %v, want %s", names(sources), err, want)
			}
		})
	}
}

// openedAt returns the plan of a plugin that is not a module, with the fields that its source
// needs.
func openedAt(python interp.Interpreter, entry string) *Plan {
	return &Plan{Plugin: manifest.Plugin{Entry: entry}, Python: python, Script: scriptOf(entry), Dirs: pysrc.PlaceOf(entry, nil).Dirs()}
}

func TestPB2SourcesBroken(t *testing.T) {
	for text, want := range map[string]string{
		"x = 1\nDESCRIPTOR = d.AddSerializedFile(b'\\x0')\n": "gen/kv_pb2.py: line 2: ",
		"DESCRIPTOR = d.AddSerializedFile(b'wrong')\n":       "descriptor in gen/kv_pb2.py: ",
	} {
		root, python := staticTree(t, true, map[string]string{"plug/main.py": "import gen.kv_pb2\n", "plug/gen/kv_pb2.py": text})
		sources, err := openedAt(python, filepath.Join(root, "plug", "main.py")).PB2Sources()
		if err == nil || !strings.HasPrefix(err.Error(), filepath.FromSlash(want)) || sources != nil {
			t.Errorf("got %v, %v, want %s", sources, err, want)
		}
	}
}

// TestLinked checks that a script behind a link imports modules from its own directory, as in
// Python, and not from the directory of the link.
func TestLinked(t *testing.T) {
	root, _ := staticTree(t, true, map[string]string{"real/main.py": "import sdk, shapes_pb2, helper\n",
		"real/sdk.py": "import grpc\n", "real/shapes_pb2.py": pb2(t, "shapes"), "helper.py": prints, "shapes_pb2.py": "broken"})
	entry := filepath.Join(root, "plug.py")
	if err := os.Symlink(filepath.Join(root, "real", "main.py"), entry); err != nil {
		t.Skip(err)
	}
	python := treePython(root)
	if yes, why := openedAt(python, entry).looksGRPC(); yes {
		t.Errorf("got %q", why)
	}
	if sources, err := openedAt(python, entry).PB2Sources(); err != nil || names(sources) != "real/shapes_pb2.py" {
		t.Errorf("got %s, %v", names(sources), err)
	}
	sdk := filepath.Join(root, "real", "sdk.py")
	if err := os.WriteFile(sdk, []byte(makesServer+prints), 0o600); err != nil {
		t.Fatal(err)
	}
	if yes, why := openedAt(python, entry).looksGRPC(); !yes || why != filepath.Join("real", "sdk.py")+" prints a handshake" {
		t.Errorf("got %v, %q", yes, why)
	}
}

// TestPB2Entries checks how many files below a plugin's directory are examined.
func TestPB2Entries(t *testing.T) {
	for n, want := range map[int]string{4000: "zz/shapes_pb2.py", 5100: ""} {
		files := map[string]string{"plug/main.py": "x = 1\n", "plug/zz/shapes_pb2.py": pb2(t, "shapes")}
		for i := range n {
			files[fmt.Sprintf("plug/data/%d", i)] = ""
		}
		root, python := staticTree(t, true, files)
		if sources, err := openedAt(python, filepath.Join(root, "plug", "main.py")).PB2Sources(); err != nil || names(sources) != want {
			t.Errorf("behind %d entries: got %q, %v, want %q", n, names(sources), err, want)
		}
	}
}

// TestExample checks go-plugin's own Python plugin.
func TestExample(t *testing.T) {
	dir := filepath.Join(runnertest.Example(t), "plugin-python")
	entry := filepath.Join(dir, "plugin.py")
	_, python := staticTree(t, true, nil)
	if yes, why := openedAt(python, entry).looksGRPC(); !yes || why != "it imports gRPC and prints a handshake" {
		t.Errorf("got %v, %q", yes, why)
	}
	sources, err := openedAt(interp.Interpreter{}, entry).PB2Sources()
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

// BenchmarkLooksGRPC measures the check for a functions file with as many files of its own as
// possible. It should stay below 10 ms.
func BenchmarkLooksGRPC(b *testing.B) {
	code := strings.Repeat("def f(x: int | None) -> str | None:\n    \"\"\"Say \"tcp\".\"\"\"\n    return g(x, \"|\", 1)\n", 300)
	large, small := map[string]string{"plug/main.py": ""}, map[string]string{"plug/main.py": ""}
	for n := range 300 {
		for _, own := range []map[string]string{large, small} {
			own["plug/main.py"] += fmt.Sprintf("from m%d import f\n", n)
		}
		large[fmt.Sprintf("plug/m%d.py", n)] = code
		small[fmt.Sprintf("plug/m%d.py", n)] = code[:2500] + fmt.Sprintf("\nimport a%d, b%d, c%d, d%d, e%d\n", n, n, n, n, n)
	}
	imports := map[string]string{"plug/main.py": ""}
	for n := range 10000 {
		imports["plug/main.py"] += fmt.Sprintf("import mod%d\n", n)
	}
	for _, c := range []struct {
		name  string
		grpc  bool
		files map[string]string
	}{
		{"300 of 27 KB", true, large},
		{"300 of 2.5 KB", true, small}, {"10000 imports", true, imports},
	} {
		root, python := staticTree(b, c.grpc, c.files)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if yes, why := openedAt(python, filepath.Join(root, "plug", "main.py")).looksGRPC(); yes {
					b.Fatal(why)
				}
			}
		})
	}
}

// BenchmarkPB2Sources should stay below 15 ms.
func BenchmarkPB2Sources(b *testing.B) {
	files, script := map[string]string{}, ""
	for n := range 50 {
		script += fmt.Sprintf("from gen%d import shapes_pb2, shapes_pb2_grpc\n", n)
		files[fmt.Sprintf("plug/gen%d/shapes_pb2.py", n)] = pb2(b, "shapes")
		files[fmt.Sprintf("plug/gen%d/shapes_pb2_grpc.py", n)] = "import grpc\nimport shapes_pb2\n"
	}
	files["plug/main.py"], files["plug/common_pb2.py"] = script, pb2(b, "common")
	root, python := staticTree(b, true, files)
	for b.Loop() {
		if sources, err := openedAt(python, filepath.Join(root, "plug", "main.py")).PB2Sources(); err != nil || len(sources) != 51 {
			b.Fatal(len(sources), err)
		}
	}
}
