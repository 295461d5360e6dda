package interp

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp/pysrc"
)

func TestSearch(t *testing.T) {
	root, m := plugged(t, "f plug/main.py", "f plug/a/__init__.py", "f plug/a/b.py", "f plug/gen/x_pb2_grpc.py", "f plug/gen/x_pb2.py",
		"f "+fakeSite+"grpc/__init__.py", "f "+fakeSite+"sdk/__init__.py", "f "+fakeSite+"sdk/beside.py")
	s := m.Search()
	for _, c := range []struct{ text, from, want string }{
		{"from a import b, c", "plug/main.py", "plug/a/__init__.py plug/a/b.py"},
		{"from . import b", "plug/a/__init__.py", "plug/a/__init__.py plug/a/b.py"},
		{"import x_pb2", "plug/gen/x_pb2_grpc.py", "plug/gen/x_pb2.py"},
		{"import grpc", "plug/main.py", fakeSite + "grpc/__init__.py"},
		{"import beside", fakeSite + "sdk/__init__.py", ""},
		{"import os", "plug/main.py", ""},
	} {
		var got []string
		for _, path := range s.Files(pysrc.Imports(c.text)[0], filepath.Join(root, c.from)) {
			rel, _ := filepath.Rel(root, path)
			got = append(got, filepath.ToSlash(rel))
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.text, c.from, all, c.want)
		}
	}
	for path, want := range map[string]bool{"plug/a/b.py": true, "plug/env/lib/site-packages/x.py": false, "other/x.py": false} {
		if m.Owns(filepath.Join(root, path)) != want {
			t.Errorf("%s: want own %v", path, want)
		}
	}
}

func TestModulesPath(t *testing.T) {
	root, _ := plugged(t, "d "+fakeSite, "d more", "d path")
	plant(t, root, "f "+fakeSite+`more.pth $ROOT/more\n`)
	m := python(root, "env/bin/python").Modules([]string{filepath.Join(root, "plug")}, []string{"PYTHONPATH=" + filepath.Join(root, "path")})
	before, after := m.Path()
	wantBefore := []string{filepath.Join(root, "plug"), filepath.Join(root, "path")}
	wantAfter := []string{filepath.Join(root, filepath.FromSlash(strings.TrimSuffix(fakeSite, "/"))), filepath.Join(root, "more")}
	if !slices.Equal(before, wantBefore) || !slices.Equal(after, wantAfter) {
		t.Errorf("got %q and %q, want %q and %q", before, after, wantBefore, wantAfter)
	}
}
