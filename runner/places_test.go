package runner_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/settings"
)

// seen ends the source of every plugin. Its function returns what the imports provided. As a
// program, the plugin prints this.
const seen = `
def seen(): return sorted(k + "=" + str(v) for k, v in globals().items() if k.startswith("x_"))
if __name__ == "__main__":
    import json
    print(json.dumps(seen()))
`

// last means that Python searches the file's directory last, because files there could hide
// Python's own modules.
const last = "last"

// TestPlaces compares plugins with Python itself: if python FILE or python -m MODULE finds a
// module, the start finds it.
func TestPlaces(t *testing.T) {
	python := runnertest.Python(t)
	site := map[string]string{"site/pydantic.py": "V = 'installed'\n", "site/app_lib/__init__.py": "V = 'installed'\n"}
	for _, c := range []struct {
		name  string
		files map[string]string // names and texts; the test appends seen to the plugin's text
		entry string            // the plugin's path below project
		// by is how Python runs the file: "" for python FILE, last, or the module of python -m.
		by   string
		from string // the working directory below project, for -m
	}{
		{"beside a module of Python's name", map[string]string{"p/__init__.py": "", "p/types.py": "1/0", "p/email.py": "1/0", "p/own.py": "V = 'own'",
			"p/plug.py": "import types, email, enum, own\nx_own = own.V"}, "p/plug.py", last, ""},
		{"in a package named like a library", map[string]string{"e/pydantic/__init__.py": "", "e/pydantic/plug.py": "import pydantic\nx_v = pydantic.V"}, "e/pydantic/plug.py", "", ""},
		{"a module of its package", map[string]string{"p/__init__.py": "V = 1", "p/types.py": "V = 2",
			"p/plug.py": "import types, p\nfrom . import V as x_v\nfrom .types import V as x_t\nx_s = types.SimpleNamespace(a=1)"}, "p/plug.py", "p.plug", ""},
		{"by its package's name", map[string]string{"p/__init__.py": "", "p/core.py": "V = 2", "p/cli/__init__.py": "",
			"p/cli/plug.py": "from p.core import V as x_v\nfrom p import cli\nx_n = cli.__name__"}, "p/cli/plug.py", "p.cli.plug", ""},
		{"a package in directories without __init__.py", map[string]string{"server/models.py": "V = 3", "server/routers/plug.py": "from server.models import V as x_v"},
			"server/routers/plug.py", "server.routers.plug", ""},
		{"relative without __init__.py", map[string]string{"server/models.py": "V = 3", "server/routers/plug.py": "from ..models import V as x_v"},
			"server/routers/plug.py", "server.routers.plug", ""},
		{"a namespace with an installed part", map[string]string{"site/space/lib.py": "V = 'lib'", "space/own.py": "V = 'own'",
			"space/plug.py": "import space.lib, space.own\nx_v = space.lib.V + space.own.V"}, "space/plug.py", "space.plug", ""},
		{"__main__.py in no package", map[string]string{"d/own.py": "V = 4", "d/__main__.py": "from own import V as x_v"}, "d/__main__.py", "", ""},
		{"__main__.py of a package", map[string]string{"p/__init__.py": "V = 5", "p/__main__.py": "from . import V as x_v"}, "p/__main__.py", "p.__main__", ""},
		{"conftest.py", map[string]string{"tests/__init__.py": "", "tests/helpers.py": "V = 6", "lib.py": "V = 7",
			"tests/conftest.py": "import lib\nfrom tests.helpers import V as x_v\nx_l = lib.V"}, "tests/conftest.py", "tests.conftest", ""},
		{"Django's app", map[string]string{"manage.py": "", "site1/__init__.py": "", "site1/settings.py": "V = 8", "polls/__init__.py": "", "polls/models.py": "V = 9",
			"polls/views.py": "from site1.settings import V as x_s\nfrom .models import V as x_v"}, "polls/views.py", "polls.views", ""},
		{"a library, not the directory above", map[string]string{"app_lib/other.py": "", "app_lib/plug.py": "import app_lib\nx_v = app_lib.V\nfrom app_lib import V as x_w"}, "app_lib/plug.py", "", ""},
		{"a link", map[string]string{"real/own.py": "V = 10", "real/plug.py": "from own import V as x_v", "link.py -> real/plug.py": ""}, "link.py", "", ""},

		{"-m of a module", map[string]string{"tools/__init__.py": "V = 1", "tools/plug.py": "from . import V as x_v"}, "-m tools.plug", "tools.plug", "."},
		{"-m of a directory's", map[string]string{"tools/plug.py": "import tools\nx_v = tools.__name__"}, "-m tools.plug", "tools.plug", "."},
	} {
		t.Run(c.name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			dir := t.TempDir()
			files := maps.Clone(c.files)
			maps.Copy(files, site)
			plug := strings.TrimPrefix(c.entry, "-m ")
			if plug != c.entry {
				plug = strings.ReplaceAll(plug, ".", "/") + ".py"
			}
			if _, own := files[plug]; !own {
				plug = "real/plug.py"
			}
			files[plug] += "\n" + seen
			place(t, dir, files)
			env := proc.Environ(os.Environ(), true, []string{"PYTHONPATH=" + filepath.Join(dir, "site")})
			args := []string{filepath.Join(dir, filepath.FromSlash(c.entry))}
			switch c.by {
			case "":
			case last:
				args = []string{"-c", "import runpy, sys\nsys.path.append(sys.argv[2])\nrunpy.run_path(sys.argv[1], run_name='__main__')", args[0], filepath.Dir(args[0])}
			default:
				args = []string{"-m", c.by}
			}
			out, err := proc.Run(t.Context(), proc.Tool{Path: python, Args: args, Env: env, Dir: dir})
			if err != nil || out.Exit.Code != 0 {
				t.Fatalf("python %v: %v %s", args, err, out.Stderr)
			}
			cfg := plan.Config{Plugin: filepath.Join(dir, filepath.FromSlash(c.entry)), Settings: settings.Settings{Python: python}, Environ: env, Cwd: dir, Once: true}
			if c.from != "" {
				cfg.Plugin = manifest.ModulePath(c.by)
			}
			o, err := runner.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			p := o
			err = o.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close(t.Context())
			var got, want []string
			r, err := p.Call(t.Context(), hook.Call{Hook: "seen"})
			if err == nil {
				err = json.Unmarshal(r.Value, &got)
			}
			if bad := json.Unmarshal(out.Stdout, &want); err != nil || bad != nil || !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("got %v, %v, want %s, %v", got, err, out.Stdout, bad)
			}
		})
	}
}

// place makes files and links. "NAME -> WHERE" is a link.
func place(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name, where, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if isLink {
			err = os.Symlink(filepath.FromSlash(where), path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
