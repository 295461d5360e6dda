package pysrc

import (
	"fmt"
	"strings"
	"testing"
)

// show is an import in a few characters: its flags g, l and c, its line, what it
// asks for.
func show(i Import) string {
	flags := ""
	for _, f := range []struct {
		set  bool
		flag string
	}{{i.Guarded, "g"}, {i.Local, "l"}, {i.Conditional, "c"}} {
		if f.set {
			flags += f.flag
		}
	}
	text := fmt.Sprintf("%s%d:%s%s", flags, i.Line, strings.Repeat(".", i.Level), i.Module)
	if i.Names != nil {
		text += "(" + strings.Join(i.Names, ",") + ")"
	}
	return text
}

func TestImports(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "import os\n", "1:os"},
		{"several", "import a.b as c, d , e . f\n", "1:a.b 1:d 1:e.f"},
		{"from", "from a.b import c as d, e\n", "1:a.b(c,e)"},
		{"relative", "from . import a\nfrom .b import c\nfrom ... d import e", "1:.(a) 2:.b(c) 3:...d(e)"},
		{"star", "from a import *", "1:a(*)"},
		{"brackets and comments", "from a import (  # one\n  b, # two\n\n  c as d,\n)\nimport e", "1:a(b,c) 6:e"},
		{"continued", "import \\\n a\nfrom a import b, \\\n  c\n", "1:a 3:a(b,c)"},
		{"semicolons", "x = 1; import a; import b;\n", "1:a 1:b"},
		{"in strings and comments", "'''\nimport a\n'''\n# import b\n\"import c\"\n'\\\nimport d'\nx = r'\\\\'; import e\n", "8:e"},
		{"words that are none", "importer = 1\nx.import_ = 2\nraise A from b\nyield_from = 3\n_import(a)\n", ""},
		{"not finished", "import\nfrom\nfrom a\nfrom a import\nfrom import b\nimport a.\nimport a as\nfrom a import b as\nimport a b\nfrom a import b c\n", ""},
		{"no line end", "if x: import a", "c1:a"},
		{"try", "try:\n  import a\nexcept ImportError:\n  import b\nimport c", "g2:a c4:b 5:c"},
		{"try, other exception", "try:\n  import a\nexcept x.ImportError:\n  pass", "2:a"},
		{"try, second handler", "try:\n  import a\nexcept ValueError: pass\nexcept (A, ModuleNotFoundError) as e: pass\nelse:\n  import b\nfinally:\n  import c", "g2:a c6:b 8:c"},
		{"try, bare, on one line", "try: import a; import b\nexcept: import c\n", "g1:a g1:b c2:c"},
		{"try within try", "try:\n  try:\n    import a\n  except ValueError:\n    import b\nexcept ImportError:\n  pass", "g3:a gc5:b"},
		{"function within try", "try:\n  def f():\n    import a\nexcept ImportError:\n  pass", "l3:a"},
		{"try within function", "def f():\n  try:\n    import a\n  except ImportError:\n    pass", "gl3:a"},
		{"exception group", "try:\n  import a\nexcept* ImportError:\n  pass", "g2:a"},
		{"suppress", "with contextlib.suppress(ImportError), x as y:\n  import a\nwith suppress(OSError):\n  import b", "g2:a 4:b"},
		{"type checking", "if TYPE_CHECKING:\n  import a\nelif x:\n  import b\nelse:\n  import c", "g2:a c4:b c6:c"},
		{"type checking, else", "if t.TYPE_CHECKING:\n  import a\nelse:\n  import b", "g2:a 4:b"},
		{"not type checking", "if not TYPE_CHECKING: import a\nelse: import b", "1:a g2:b"},
		{"type checking or more", "if TYPE_CHECKING or x:\n  import a", "c2:a"},
		{"branches", "if x:\n\timport a\nelse:\n        import b\nfor i in x: import c\nwhile lambda: 0: import d\n", "c2:a c4:b c5:c c6:d"},
		{"class and async", "class A:\n  import a\n  async def f(x: int) -> 'y':\n    async with b as c:\n      import d", "2:a l5:d"},
		{"match", "match x:\n  case {'a': 1}: import a\n  case y if z:\n    import b\nmatch = 1\ncase = 2\nmatch: int\nimport c", "c2:a c4:b 8:c"},
		{"slices and dicts", "if x[1:2] == {1: 2}: import a", "c1:a"},
		{"lazy", "lazy import a\nlazy from b import c\nlazy = 1\n", "l1:a l2:b(c)"},
		{"form feed", "if x:\n  pass\n\fimport a", "3:a"},
		{"f-strings", "x = f'{a['import b']}{c:{d}}'; import e\nx = f'{{'; import f\nx = rf'\\{y}' f\"{z:'>{w}}\"; import g\nx = f'''{\n1}'''; import h", "1:e 2:f 3:g 5:h"},
		{"named characters", "x = f'\\N{LEFT CURLY BRACKET}'; import a", "1:a"},
		{"string not closed", "x = 'abc\nimport a", "2:a"},
		{"bracket not opened", "x = )\nimport a", "2:a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, i := range Imports(c.text) {
				got = append(got, show(i))
			}
			if all := strings.Join(got, " "); all != c.want {
				t.Errorf("got %s, want %s", all, c.want)
			}
		})
	}
}

func TestHard(t *testing.T) {
	hard := 0
	for _, i := range Imports("import a\ntry: import b\nexcept ImportError: import c\ndef f(): import d\n") {
		if i.Hard() {
			hard++
		}
	}
	if hard != 1 {
		t.Errorf("%d are hard, want 1", hard)
	}
}

func FuzzImports(f *testing.F) {
	f.Add("try:\n  from .a import (b as c, d)\nexcept ImportError: import e; x = f'{y[\"z\"]:{w}}'\n")
	f.Add("match x:\n  case 1: import a\nif not TYPE_CHECKING:\n\timport b\nelse: print('1|1|tcp|x|grpc')\n")
	f.Add("x = f'1|{a|b|c}'\n")
	f.Add("x = f'''{f\"{f'{1:{2}}'}\"}''' \\\n; lazy import grpc.aio as g\ng.server()")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, i := range Imports(text) {
			if i.Line < 1 || i.Line > lines || i.Module == "" && i.Level == 0 || i.Names != nil && len(i.Names) == 0 {
				t.Errorf("%+v in %d lines", i, lines)
			}
		}
		Serves(text)
		AltersPath(text)
		// Tokens come in order, and nothing is cut twice.
		s := newScanner(text)
		for last := 0; ; {
			token := s.next()
			if token.start < last || token.end < token.start || token.end > len(text) {
				t.Fatalf("%+v after %d", token, last)
			}
			if last = token.end; token.kind == endOfText {
				break
			}
		}
	})
}

func TestPaths(t *testing.T) {
	for text, want := range map[string]string{
		"import a":             "a/__init__.py a.py",
		"import a.b":           "a/__init__.py a/b/__init__.py a/b.py",
		"from a import b, c":   "a/__init__.py a.py a/b/__init__.py a/b.py a/c/__init__.py a/c.py",
		"from a import *":      "a/__init__.py a.py",
		"from . import b":      "__init__.py b/__init__.py b.py",
		"from .a import b":     "__init__.py a/__init__.py a.py a/b/__init__.py a/b.py",
		"from ...a.b import *": "../../__init__.py ../../a/__init__.py ../../a/b/__init__.py ../../a/b.py",
	} {
		if got := strings.Join(Imports(text)[0].Paths(), " "); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
