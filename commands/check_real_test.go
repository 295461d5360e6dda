//go:build linux

package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestCheckExamples checks go-plugin's own examples in place.
func TestCheckExamples(t *testing.T) {
	t.Parallel()
	cookie, dir := []string{"--cookie", "BASIC_PLUGIN=hello", "--cwd"}, t.TempDir()
	calls := []string{"--call", "Put key=hello value=world", "--call", "KV/Get key=hello", "--crash"}
	words := append(append(cookie, dir), calls...)
	t.Run("Python", func(t *testing.T) {
		env := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "PYTHONDONTWRITEBYTECODE=1"}
		plugin := filepath.Join(runnertest.Example(t), "plugin-python", "plugin.py")
		runnertest.ExamplePort(t)
		c := checkPlugin(t, env, append(words, plugin)...)
		c.holds(t, 0, "stop warning no-controller", "cookie warning cookie-unchecked", "host warning address-fixed")
		if st := c.stage("again"); st.Status != "ok" {
			t.Errorf("again: %+v", st)
		}
	})
	t.Run("Go", func(t *testing.T) {
		for _, mtls := range []string{"--strict", "--mtls"} {
			c := checkPlugin(t, nil, append(append(words, "--strict", mtls), runnertest.GoExample(t))...)
			c.holds(t, 0)
			if st := c.stage("source"); st.Status != "skipped" {
				t.Errorf("source: %+v", st)
			}
			if st := c.stage("again"); st.Status != "ok" {
				t.Errorf("again: %+v", st)
			}
		}
	})
}

// TestCheckGenerated checks generated code that contradicts the installed library or other
// generated code.
func TestCheckGenerated(t *testing.T) {
	t.Parallel()
	env := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "PYTHONDONTWRITEBYTECODE=1"}
	good := content(t, "testdata/plugins/grpc/good.py")
	pb2 := content(t, "testdata/plugins/grpc/zoo_pb2.py")
	newer := content(t, "testdata/plugins/grpc/gen/6.31/zoo_pb2.py")
	older := "from google.protobuf import descriptor as _descriptor\n_descriptor.Descriptor(name='M', full_name='M', filename=None, " +
		"containing_type=None, fields=[], nested_types=[], enum_types=[], extensions=[])\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
		told  string // the error of the library or of Python
	}{
		"module":       {map[string]string{"plugin.py": "import zoo_nope\n" + good, "zoo_pb2.py": pb2}, "launch failure import-missing", "'zoo_nope'"},
		"protobuf":     {map[string]string{"plugin.py": good, "zoo_pb2.py": replaced(t, newer, "    6,\n    31,", "    99,\n    31,")}, "launch failure start-failed", "gencode 99.31.1"},
		"new protobuf": {map[string]string{"plugin.py": good, "zoo_pb2.py": older}, "launch failure start-failed", "Descriptors cannot be created directly"},
		"grpcio": {map[string]string{"plugin.py": "import zoo_pb2_grpc\n" + good, "zoo_pb2.py": pb2, "zoo_pb2_grpc.py": newerGRPC},
			"launch failure start-failed", "grpcio>=99.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plugin := filepath.Join(written(t, c.files), "plugin.py")
			got := checkPlugin(t, env, "--cookie", "ZOO_COOKIE=monkey", plugin)
			got.holds(t, 5, c.want)
			if message := got.stage("launch").Message; !strings.Contains(message, c.told) {
				t.Errorf("launch: %q, want %q in it", message, c.told)
			}
		})
	}
	t.Run("disagree", func(t *testing.T) {
		t.Parallel()
		dir := written(t, map[string]string{
			"plugin.py":  "import grpc\nimport zoo_pb2\nimport other_pb2\nserve(\"SERVING\")\n" + spoken,
			"zoo_pb2.py": pb2, "other_pb2.py": replaced(t, pb2, `\x0c\n\x04text\x18`, `\x0c\n\x04test\x18`),
		})
		if err := makeFake(dir); err != nil {
			t.Fatal(err)
		}
		checkPlugin(t, []string{"PYPLUG_PYTHON="}, "--skip", "host", filepath.Join(dir, "plugin.py")).holds(t, 4, "hooks failure hooks-unknown", "stop warning no-controller")
	})
}

// newerGRPC is the beginning of files from a future version of grpcio-tools.
const newerGRPC = `"""Client and server classes corresponding to protobuf-defined services."""
import grpc

GRPC_GENERATED_VERSION = '99.1.0'
GRPC_VERSION = grpc.__version__
_version_not_supported = False

try:
    from grpc._utilities import first_version_is_lower
    _version_not_supported = first_version_is_lower(GRPC_VERSION, GRPC_GENERATED_VERSION)
except ImportError:
    _version_not_supported = True

if _version_not_supported:
    raise RuntimeError(
        f'The grpc package installed is at version {GRPC_VERSION},'
        + f' but the generated code in zoo_pb2_grpc.py depends on'
        + f' grpcio>={GRPC_GENERATED_VERSION}.'
    )
`

func content(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replaced replaces a part of a text, which must contain it.
func replaced(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("there is no %q", old)
	}
	return strings.Replace(text, old, new, 1)
}

// written returns a directory with files.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
