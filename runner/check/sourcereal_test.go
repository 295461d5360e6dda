package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestSourcePythons checks one file with every Python of the machine, and every
// module of each one's standard library.
func TestSourcePythons(t *testing.T) {
	for _, python := range runnertest.Pythons(t) {
		t.Run(python, func(t *testing.T) {
			out, err := proc.Run(t.Context(), proc.Tool{Path: python, Env: os.Environ(), Args: []string{"-c", standardLibrary}})
			if err != nil || out.Exit.Code != 0 {
				t.Fatalf("%v %s", err, out.Stderr)
			}
			text := string(out.Stdout)
			if strings.Count(text, "\n") < 100 {
				t.Fatalf("a standard library of\n%s", text)
			}
			s := lookAtSource(t.Context(), sourceIn(t, python, map[string]string{"plugin.py": text}))
			if s.Verdict != hook.OK {
				t.Error(tell(s))
			}
			s = lookAtSource(t.Context(), sourceIn(t, python, map[string]string{"plugin.py": "import a, zz_zz\n", "a.py": "x = 1\ny = (]\n"}))
			if len(s.Findings) != 2 || s.Findings[0].Line != 2 || s.Findings[1].ID != importMissing {
				t.Error(tell(s))
			}
		})
	}
}

// standardLibrary prints an import of everything that there is.
const standardLibrary = `
import os, pkgutil, sys
std = os.path.dirname(os.__file__)
names = set(sys.builtin_module_names) | {m.name for m in pkgutil.iter_modules([std, os.path.join(std, "lib-dynload")])}
for name in sorted(filter(str.isidentifier, names)):
    print("import", name)
print("import os.path, collections.abc, xml.etree.ElementTree, concurrent.futures, email.mime.text")
`

// TestNoFalseAlarms checks real packages as if each were a plugin.
func TestNoFalseAlarms(t *testing.T) {
	python := runnertest.GRPCIO(t)
	check := func(t *testing.T, script string) {
		t.Helper()
		for _, f := range lookAtSource(t.Context(), sourceOf(t, python, os.Environ(), script)).Findings {
			if f.Verdict == hook.Failure {
				t.Errorf("%s: %s %s", script, f.ID, f.Message)
			}
		}
	}
	packages, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(python)), "lib", "python3*", "site-packages", "*", "__init__.py"))
	if len(packages) == 0 && !strings.HasPrefix(python, "/usr/") {
		t.Errorf("no packages of %s", python)
	}
	for _, script := range packages {
		check(t, script)
		check(t, deepImports(t, filepath.Dir(script)))
	}
}

// TestProtobufTooNew checks code as protoc 3.18 generates it, which no protobuf from 4 on loads.
func TestProtobufTooNew(t *testing.T) {
	l := sourceIn(t, runnertest.GRPCIO(t), map[string]string{"plugin.py": "import a_pb2\n", "a_pb2.py": `
from google.protobuf import descriptor as _descriptor
DESCRIPTOR = _descriptor.FileDescriptor(name='a.proto', package='', serialized_pb=b'\n\x07a.proto\"\x03\n\x01M')
_M = _descriptor.Descriptor(
    name='M', full_name='M', filename=None, file=DESCRIPTOR, containing_type=None, fields=[], nested_types=[],
    enum_types=[], extensions=[], create_key=_descriptor._internal_create_key)
`})
	out, err := proc.Run(t.Context(), proc.Tool{Path: l.python.Path, Args: l.Scripts, Env: l.Env, Dir: l.Dir})
	if err != nil || out.Exit.Code == 0 || !strings.Contains(string(out.Stderr), "Descriptors cannot be created directly") {
		t.Fatalf("%v %s", err, out.Stderr)
	}
	if told := tell(lookAtSource(t.Context(), l)); !strings.Contains(told, "failure protobuf-too-new: a_pb2.py was generated for protobuf 3.18 or older, but ") {
		t.Error(told)
	}
	l.Env = append(l.Env, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python")
	if s := lookAtSource(t.Context(), l); s.Verdict != hook.OK {
		t.Error(tell(s))
	}
}

// deepImports is a script that imports everything that an installed package has.
func deepImports(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		rel, _ := filepath.Rel(filepath.Dir(dir), path)
		if module, ok := strings.CutSuffix(rel, ".py"); ok && !d.IsDir() && !strings.Contains(rel, "-") {
			module = strings.TrimSuffix(module, string(filepath.Separator)+"__init__")
			fmt.Fprintln(&text, "import", strings.ReplaceAll(module, string(filepath.Separator), "."))
		}
		return nil
	})
	script := filepath.Join(t.TempDir(), "plugin.py")
	if err := os.WriteFile(script, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return script
}

// BenchmarkSource is the cost of a small plugin, and that of its interpreter alone.
func BenchmarkSource(b *testing.B) {
	r := sourceIn(b, runnertest.Python(b), map[string]string{"plugin.py": "import os, json, re\nimport a\n", "a.py": "def f(x): return x\n"})
	b.Run("source", func(b *testing.B) {
		for b.Loop() {
			if s := lookAtSource(b.Context(), r); s.Verdict != hook.OK {
				b.Fatal(tell(s))
			}
		}
	})
	b.Run("pass", func(b *testing.B) {
		for b.Loop() {
			if _, err := proc.Run(b.Context(), proc.Tool{Path: r.python.Path, Args: []string{"-I", "-S", "-c", "pass"}, Env: r.Env, Dir: r.Dir}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
