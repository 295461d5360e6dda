package interp

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// plugged is a tree with an environment and a plugin, and its modules.
func plugged(t testing.TB, lines ...string) (root string, m *Modules) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the trees are those of other systems")
	}
	root = tree(t, append(base("opt"), venv("env", "opt", "3.12.1")...)...)
	plant(t, root, "f env/pyvenv.cfg include-system-site-packages = false")
	plant(t, root, lines...)
	return root, python(root, "env/bin/python").Modules([]string{filepath.Join(root, "plug")}, nil)
}

func TestWalk(t *testing.T) {
	for _, c := range []struct {
		name string
		tree []string
		want string
	}{
		{
			name: "breadth first, each once, in circles",
			tree: []string{`f plug/main.py import a, b\nimport main`, `f plug/a.py import c, b`,
				"f plug/b.py import d", "f plug/c.py import a", "f plug/d.py"},
			want: "plug/a.py plug/b.py plug/c.py plug/d.py",
		}, {
			name: "in functions and what is caught",
			tree: []string{`f plug/main.py def f():\n  import a\ntry:\n  import b\nexcept ImportError:\n  import c`,
				"f plug/a.py", "f plug/b.py", "f plug/c.py"},
			want: "plug/a.py plug/b.py plug/c.py",
		}, {
			name: "relative imports",
			tree: []string{"f plug/main.py import p.q.r", "f plug/p/__init__.py", "f plug/p/q/__init__.py from . import r",
				`f plug/p/q/r.py from .. import s\nfrom ..t import u\nfrom ....x import y\nfrom . import *`,
				"f plug/p/s.py", "f plug/p/t/u.py", "f x/y.py"},
			want: "plug/p/__init__.py plug/p/q/__init__.py plug/p/q/r.py plug/p/s.py plug/p/t/u.py x/y.py",
		}, {
			name: "generated code that imports its neighbours",
			tree: []string{"f plug/main.py from gen import kv_pb2_grpc", "f plug/gen/kv_pb2_grpc.py import kv_pb2",
				"f plug/gen/kv_pb2.py import deep.common_pb2",
				"f plug/gen/deep/common_pb2.py", "f plug/common_pb2.py", "f plug/kv_pb2/data"},
			want: "plug/gen/kv_pb2_grpc.py plug/gen/kv_pb2.py plug/gen/deep/common_pb2.py",
		}, {
			name: "installed generated code too, but no other of a library",
			tree: []string{"f plug/main.py import sdk", `f ` + fakeSite + `sdk/__init__.py from . import x_pb2\nimport y`,
				"f " + fakeSite + "sdk/x_pb2.py import z_pb2", "f " + fakeSite + "sdk/y.py", "f " + fakeSite + "sdk/z_pb2.py"},
			want: fakeSite + "sdk/__init__.py " + fakeSite + "sdk/x_pb2.py " + fakeSite + "sdk/z_pb2.py",
		}, {
			name: "never into gRPC",
			tree: []string{`f plug/main.py import grpc, grpc.aio\nfrom google.protobuf import x\n` +
				`from grpc_health.v1 import health_pb2\nimport google.rpc.status_pb2`,
				"f " + fakeSite + "grpc/__init__.py", "f " + fakeSite + "grpc/aio.py", "f " + fakeSite + "google/protobuf/x.py",
				"f " + fakeSite + "grpc_health/v1/health_pb2.py", "f " + fakeSite + "google/rpc/status_pb2.py"},
			want: fakeSite + "google/rpc/status_pb2.py",
		}, {
			name: "what cannot be read",
			tree: []string{"f plug/main.py import a, b, c, d, e", "f plug/a.py # coding: cp1252", "f plug/b.py \xff",
				"d plug/c.py", "l plug/d.py nowhere", "f plug/e.py"},
			want: "plug/e.py",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, m := plugged(t, c.tree...)
			if got := walked(root, m); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWalkFromNothing(t *testing.T) {
	root, m := plugged(t, "d plug")
	for _, entry := range []string{"", root, filepath.Join(root, "plug", "main.py")} {
		for file := range m.Walk(entry) {
			t.Errorf("%q: %s", entry, file.Path)
		}
	}
}

// TestWalkOwn holds which files are the plugin's own: an environment below its
// directory is not, another place that it imports from is not either.
func TestWalkOwn(t *testing.T) {
	root, m := plugged(t, "f plug/main.py import a, b, c", "f plug/a/__init__.py from . import d", "f plug/a/d.py",
		"f "+fakeSite+"b/__init__.py from . import e", "f "+fakeSite+"b/e.py", "f "+fakeSite+"c.pth $ROOT/src", "f src/c.py")
	check(t, os.Rename(filepath.Join(root, "env"), filepath.Join(root, "plug", ".venv")))
	m = python(root, "plug/.venv/bin/python").Modules(m.first, nil)
	got := map[string]bool{}
	for file := range m.Walk(filepath.Join(root, "plug", "main.py")) {
		got[filepath.Base(filepath.Dir(file.Path))+"/"+filepath.Base(file.Path)] = file.Own
	}
	want := map[string]bool{"plug/main.py": true, "a/__init__.py": true, "a/d.py": true, "b/__init__.py": false,
		"b/e.py": false, "src/c.py": false}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestWalkOwnAlone holds that a walk of the plugin's own files leaves out all others,
// and what only they import, and keeps those that cannot be read.
func TestWalkOwnAlone(t *testing.T) {
	root, m := plugged(t, "f plug/main.py import a, b, c, e, latin", "f plug/a/__init__.py from . import d", "f plug/a/d.py import os, six",
		"f "+fakeSite+"b/__init__.py import f_pb2, helper", "f "+fakeSite+"f_pb2.py", "f "+fakeSite+"c.pth $ROOT/src", "f src/c.py",
		"f plug/helper.py", "f plug/random.py", "f plug/latin.py \xff\xfe")
	walk := func(entry string) string {
		var got []string
		for file := range m.WalkOwn(filepath.Join(root, entry)) {
			rel, _ := filepath.Rel(root, file.Path)
			got = append(got, filepath.ToSlash(rel))
			if !file.Own {
				t.Errorf("%s is not the plugin's own", rel)
			}
		}
		return strings.Join(got, " ")
	}
	if got, want := walk("plug/main.py"), "plug/main.py plug/a/__init__.py plug/latin.py plug/a/d.py"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := walk("plug/none.py"), "plug/none.py"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	plant(t, root, "f plug/e.py import random")
	if got, want := walk("plug/main.py"), "plug/main.py plug/a/__init__.py plug/e.py plug/latin.py plug/a/d.py plug/random.py"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWalkBounds holds that large libraries neither take long nor keep a walk from
// others, and that a plugin's own files and generated ones are followed.
func TestWalkBounds(t *testing.T) {
	var all []string
	many := func(dir, name string, imports string) {
		var b strings.Builder
		for n := range 100 {
			fmt.Fprintf(&b, imports, n)
			all = append(all, fmt.Sprintf("f %s/%s", dir, fmt.Sprintf(name, n)))
		}
		all = append(all, "f "+dir+"/__init__.py "+b.String())
	}
	many(fakeSite+"big", "m%d.py", `from .m%d import x\n`)
	many(fakeSite+"protos", "m%d_pb2.py", `from . import m%d_pb2\n`)
	many("plug/own", "m%d.py", `from own import m%d\n`)
	all = append(all, "f plug/main.py import big, huge, small, own, protos",
		"f "+fakeSite+"small/__init__.py from .serve import x", "f "+fakeSite+"small/serve.py",
		"f "+fakeSite+"huge/__init__.py "+strings.Repeat("#", packageBytes+1))
	root, m := plugged(t, all...)
	got := map[string]int{}
	for file := range m.Walk(filepath.Join(root, "plug", "main.py")) {
		got[filepath.Base(filepath.Dir(file.Path))]++
	}
	want := map[string]int{"plug": 1, "big": packageFiles, "small": 2, "own": 101, "protos": 101}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestWalkStops(t *testing.T) {
	root, m := plugged(t, "f plug/main.py import a", "f plug/a.py import b", "f plug/b.py")
	var got []string
	for file := range m.Walk(filepath.Join(root, "plug", "main.py")) {
		if got = append(got, filepath.Base(file.Path)); len(got) == 2 {
			break
		}
	}
	if !slices.Equal(got, []string{"main.py", "a.py"}) {
		t.Errorf("got %q", got)
	}
}

// BenchmarkModules is what a functions file pays where its Python has no gRPC.
func BenchmarkModules(b *testing.B) {
	var all []string
	for n := range 300 {
		all = append(all, fmt.Sprintf("d %slib%d", fakeSite, n), fmt.Sprintf("d %slib%d-1.0.dist-info", fakeSite, n))
	}
	root, _ := plugged(b, append(all, "f plug/main.py import lib1", "f "+fakeSite+"a.pth $ROOT/src", "d src")...)
	from, first, environ := python(root, "env/bin/python"), []string{filepath.Join(root, "plug")}, os.Environ()
	for b.Loop() {
		if from.Modules(first, environ).Has("grpc") {
			b.Fatal("there is grpc")
		}
	}
}
