package plan

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestMissingHints checks the hints for missing modules, given the packages that files list.
func TestMissingHints(t *testing.T) {
	python := runnertest.Python(t)
	for _, c := range []struct {
		name, module string
		file         string // the file that imports the module, by default "plugin.py"
		unfound      string // module:file, separated by spaces
		files        string // names of existing files, separated by spaces
		want         string // part of the first hint; DIR is the plugin's directory
		hints        int
	}{
		{"a package of an unknown name", "zz_a", "", "", "", "zz_a is not installed for this Python: list the package of zz_a in requirements.txt", 2},
		{"a well-known package", "yaml", "", "yaml.nodes:plugin.py", "", "yaml is not installed for this Python: list PyYAML in requirements.txt", 2},
		{"its package by the longest name", "google", "", "google.protobuf:plugin.py", "", "google is not installed for this Python: list protobuf in requirements.txt", 2},
		{"several", "zz_a", "", "zz_a:plugin.py zz_b.c:a.py zz_b:b.py zz_c:plugin.py", "a.py b.py",
			"zz_a, zz_b (a.py:7) and zz_c (plugin.py:7) are not installed for this Python: list the packages of zz_a, zz_b and zz_c in", 2},
		{"several, one of another kind", "zz_a", "", "urllib2:plugin.py helprs:plugin.py zz_b:plugin.py", "helpers.py", "zz_a and zz_b (plugin.py:7) are not installed", 2},
		{"a part of what is there", "json.zz", "", "", "", "", 0},
		{"a well-known part of what is there", "google.protobuf", "", "", "", "google.protobuf is not installed for this Python: list protobuf in", 2},
		{"another standard library's", "urllib2", "", "", "", "name a Python whose standard library has urllib2 with --python; Python 3.", 1},
		{"a module of nearly the same name", "helprs", "", "", "helpers.py", "helpers.py is next to the plugin; did you mean `import helpers`?", 1},
		{"code to generate", "zoo_pb2", "", "", "proto/zoo.proto", "-m grpc_tools.protoc -I DIR/proto --python_out=DIR --grpc_python_out=DIR DIR/proto/zoo.proto", 1},
		{"code to generate from elsewhere", "zoo_pb2_grpc", "", "", "", "protoc generates it from its .proto file", 1},
		{"beside its importer, but not on the path", "zoo_pb2", "proto/zoo_pb2_grpc.py", "", "proto/zoo_pb2.py proto/zoo_pb2_grpc.py", "put DIR/proto on PYTHONPATH", 1},
		{"in src", "shop", "", "shop.tasks:plugin.py", "src/shop/tasks.py", "put DIR/src on PYTHONPATH", 1},
		{"the project's own name", "own_tools", "", "", "", "put your own module next to the plugin", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range append(strings.Fields(c.files), "plugin.py", "pyproject.toml") {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				text := ""
				if name == "pyproject.toml" {
					text = "[project]\nname = 'own-tools'\ndynamic = ['dependencies']\n"
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			o, err := Resolve(t.Context(), Config{Plugin: filepath.Join(dir, "plugin.py"), Cwd: dir, Environ: []string{"PATH=" + filepath.Dir(python)}})
			if err != nil {
				t.Fatal(err)
			}
			at := func(name string) schema.Path { return schema.Path(filepath.Join(dir, filepath.FromSlash(name))) }
			lacks := &schema.MissingModuleError{Module: c.module}
			if c.file != "" {
				lacks.File = at(c.file)
			}
			for _, unfound := range strings.Fields(c.unfound) {
				module, file, _ := strings.Cut(unfound, ":")
				lacks.Unfound = append(lacks.Unfound, schema.Unfound{Module: module, File: at(file), Line: 7})
			}
			hints := hook.Words(o.MissingHints(lacks))
			want := regexp.MustCompile(`DIR[\w/.]*`).ReplaceAllStringFunc(c.want, func(path string) string {
				return filepath.FromSlash(strings.Replace(path, "DIR", dir, 1))
			})
			if len(hints) != c.hints || len(hints) > 0 && !strings.Contains(hints[0], want) {
				t.Errorf("got %q, want %d, the first with %q", hints, c.hints, want)
			}
			for _, hint := range hints {
				if strings.Contains(hint, "pip") {
					t.Errorf("%q would install into a Python that nobody named", hint)
				}
			}
		})
	}
}
