package pysrc

import "testing"

func TestAltersPath(t *testing.T) {
	for _, text := range []string{
		"import sys\nsys.path.insert(0, 'proto')",
		"import sys as _sys\n_sys . path += ['x']",
		"sys.path[:0] = [a]",
		"from sys import path\npath.append('x')",
		"import site; site.addsitedir('x')",
		"from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)",
		"sys.meta_path.append(x)",
		"sys.modules['a'] = b",
		"sys.modules[f(a)[1]]=b",
		"sys.modules.setdefault('a', b)",
		"import clr\nimport System",
		"from jpype.imports import x",
		"os.execv(sys.executable, sys.argv)",
		"exec(open('activate_this.py').read())",
		"subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'yaml'])",
		"os.system('pip install yaml')",
	} {
		if !AltersPath(text) {
			t.Errorf("%q does not, want that it does", text)
		}
	}
	for _, text := range []string{
		"",
		"import os, sys\nos.path.join(sys.argv[0])\npath = 1",
		"# sys.path.insert(0, 'x')\n'sys.path'\n\"\"\"pip install yaml\"\"\"\n",
		"m = sys.modules[__name__]\nif sys.modules['a'] == m: pass\nsys.modules.get('a')",
		"from .sys import path\nimport pip_tools\nfrom .clr import x",
		"sys.modules[",
	} {
		if AltersPath(text) {
			t.Errorf("%q does, want that it does not", text)
		}
	}
}
