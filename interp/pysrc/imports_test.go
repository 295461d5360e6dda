package pysrc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"import os, a.b as c\n", "os a.b"},
		{"from a.b import c as d, e\n", "a.b:c,e"},
		{"from . import x\nfrom ..a import (\n    b,  # one\n    c as d,\n)\n", ".:x ..a:b,c"},
		{"from a import *", "a:*"},
		{"def f():\n    import a; import b\nif x: from c import d\n", "a b c:d"},
		{"try:\n    lazy import a\nexcept ImportError: import b\n", "a b"},
		{"import a, \\\n    b\n", "a b"},
		{"x = '''\nimport a\n'''\n# import b\ny = \"import c\"\n", ""},
		{"raise a from b\nx = importer\nimport\nfrom a\nfrom a import\nimport a b\nimport a as\n", ""},
		{"import é\n", "é"},
	} {
		var got []string
		for _, i := range importsOf(render(c.text, quoted)) {
			text := strings.Repeat(".", i.Level) + i.Module
			if i.Names != nil {
				text += ":" + strings.Join(i.Names, ",")
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// written makes files with the given texts below a new directory. Their names have slashes.
func written(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestOwn(t *testing.T) {
	root := written(t, map[string]string{
		"main.py": "import os, gone, pkg.part\nfrom gen import a_pb2_grpc\nimport sdk.serve\n", "unused.py": "",
		"pkg/__init__.py": "", "pkg/part.py": "from . import near\nfrom .near import f\n", "pkg/near.py": "def f():\n    import main, late\n",
		"late.py": "", "gen/a_pb2_grpc.py": "import a_pb2\n", "gen/a_pb2.py": "", "gen/broken.py": "\xff",
	})
	show := func(most Limits) (string, string) {
		var own, other []string
		files, others := Own(filepath.Join(root, "main.py"), []string{root}, most)
		for _, f := range files {
			rel, _ := filepath.Rel(root, f.Path)
			own = append(own, filepath.ToSlash(rel))
		}
		for _, o := range others {
			other = append(other, o.Module)
		}
		slices.Sort(own[1:])
		return strings.Join(own, " "), strings.Join(other, " ")
	}
	for most, want := range map[Limits]string{
		Short:                                 "main.py gen/a_pb2_grpc.py late.py pkg/__init__.py pkg/near.py pkg/part.py",
		Whole:                                 "main.py gen/a_pb2.py gen/a_pb2_grpc.py late.py pkg/__init__.py pkg/near.py pkg/part.py",
		{Files: 2, Bytes: 1000, Imports: 100}: "main.py pkg/__init__.py",
		{Files: 9, Bytes: 1000, Imports: 2}:   "main.py",
	} {
		if own, _ := show(most); own != want {
			t.Errorf("%+v: got %s, want %s", most, own, want)
		}
	}
	if _, others := show(Whole); others != "os gone sdk.serve" {
		t.Errorf("others are %s", others)
	}
	if files, _ := Own(filepath.Join(root, "nowhere.py"), nil, Whole); len(files) != 1 || files[0].Text != "" {
		t.Errorf("of a script that is gone: %v", files)
	}
}

func TestFiles(t *testing.T) {
	files := map[string]string{"a.py": "", "b/c.py": "", "b/d.txt": "", ".hidden/e.py": "", "venv/pyvenv.cfg": "", "venv/f.py": "",
		"__pycache__/g.py": "", "node_modules/h.py": "", "1/2/3/4/5/6/i.py": "", "1/2/3/4/5/6/7/j.py": ""}
	root := written(t, files)
	var got []string
	for _, path := range Files(root) {
		rel, _ := filepath.Rel(root, path)
		got = append(got, filepath.ToSlash(rel))
	}
	if want := "1/2/3/4/5/6/i.py a.py b/c.py"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	for i := range 2100 {
		files[fmt.Sprintf("many/%d.py", i)] = ""
	}
	if n := len(Files(written(t, files))); n != maxFiles {
		t.Errorf("got %d files", n)
	}
}

// BenchmarkLook measures the examination of an ordinary functions file.
func BenchmarkLook(b *testing.B) {
	root := written(b, map[string]string{"main.py": "import os, json\nimport helper\n" +
		strings.Repeat("def f(a: int | None) -> str:\n    \"\"\"Say tcp.\"\"\"\n    return 'x' + str(a)\n", 50), "helper.py": "import re\n"})
	for b.Loop() {
		files, _ := Own(filepath.Join(root, "main.py"), []string{root}, Short)
		if ServesOf(files).ImportsGRPC {
			b.Fatal(files)
		}
	}
}
