package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
)

func TestDistribution(t *testing.T) {
	declared := []string{"Flask-Cors", "google-cloud-storage", "opencv-python-headless", "psycopg2", "kafka-python"}
	for module, want := range map[string]string{
		"requests": "requests", "requests.auth": "requests", "yaml": "PyYAML", "yaml.nodes": "PyYAML", "PIL.Image": "Pillow",
		"grpc": "grpcio", "grpc.aio": "grpcio", "grpc_health": "grpcio-health-checking", "grpc_reflection": "grpcio-reflection",
		"google.protobuf": "protobuf", "google.protobuf.internal": "protobuf", "google.rpc.status_pb2": "googleapis-common-protos",
		"ruamel.yaml": "ruamel.yaml", "distutils.core": "setuptools", "flask_cors": "Flask-Cors", "cv2": "opencv-python-headless",
		"psycopg2.extras": "psycopg2", "google.cloud.storage.blob": "google-cloud-storage",
	} {
		if got := distribution(module, declared); got != want {
			t.Errorf("%q: got %q, want %q", module, got, want)
		}
	}
	for _, module := range strings.Fields("github kafka jose nats config utils proto github.auth kafka.errors jose.jwt nats.aio config.settings utils.text proto.zoo zoo_pb2 google google.cloud google.genai ruamel imp tomllib _sqlite3 grpc_nope") {
		if got := distribution(module, declared[:1]); got != "" {
			t.Errorf("%q: got %q, want nothing", module, got)
		}
	}
	if got := distribution("cv2", nil) + distribution("", declared); got != "opencv-python" {
		t.Error(got)
	}
}

func TestDeclared(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"requirements.txt", "# some\r\na==1.0 --hash=sha256:0\r\n B_b[x, y] >= 2 ; python_version < '3.9'\nc.c\n-r more.txt\n" +
			"./d\ne @ https://example.com/e.whl\ngit+https://example.com/f\n-e g\nhttps://example.com/h.whl\ni (>1)\n", "a B_b c.c i m"},
		{"requirements-dev.txt", "a", "a"},
		{"notes.txt", "a", ""},
		{"pyproject.toml", "[project]\nname = 'own'\ndependencies = ['a>1', 'own[x]', 'local']\n[project.optional-dependencies]\nx = ['b']\n" +
			"[dependency-groups]\ndev = ['c', {include-group = 'x'}]\n[tool.uv.sources]\nlocal = {workspace = true}\n", "a b c"},
		{"pyproject.toml", "[tool.poetry.dependencies]\na = '^1'\nb = {version = '1', extras = ['x']}\nc = {path = '../c'}\n" +
			"[tool.poetry.group.dev.dependencies]\nd = '*'\n", "a b d"},
		{"pyproject.toml", "[project\n", ""},
		{"uv.lock", "version = 1\n[[package]]\nname = 'a'\nsource = { registry = 'https://pypi.org/simple' }\ndependencies = [{ name = 'x' }]\n" +
			"[[package]]\nname = 'own'\nsource = { virtual = '.' }\n", "a"},
		{"poetry.lock", "[[package]]\nname = 'a'\n[[package]]\nname = 'b'\n[package.source]\ntype = 'git'\nurl = 'x'\n", "a"},
		{"pylock.dev.toml", "[[packages]]\nname = 'a'\n[[packages]]\nname = 'b'\n[packages.directory]\npath = 'b'\n", "a"},
		{"plugin.py", "# /// script\n# dependencies = [\n#   'a<2',\n# ]\n# ///\nimport a\n", "a"},
		{"other.py", "# /// script\n# dependencies = ['a']\n# ///\n", ""},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{c.file: c.text, "more.txt": "m>1\n-r requirements.txt\n-c=limits.txt\n", "limits.txt": "n<2"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := declared([]string{dir, filepath.Join(dir, "none")}, []string{filepath.Join(dir, "plugin.py")})
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: got %q, want %q in\n%s", c.file, got, c.want, c.text)
		}
	}
}

// TestGenerate has modules that protoc generates, and where their .proto files are.
func TestGenerate(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	at := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	for _, file := range []string{"a.proto", "../d.proto", "protos/b.proto", "protos/gen/e.proto", "c/c.proto"} {
		if err := os.MkdirAll(filepath.Dir(at(file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := sourceLook{Python: "py", Place: pysrc.Place{Root: root, First: root}}
	command := func(include, file string) string {
		return "py -m grpc_tools.protoc -I " + at(include) + " --python_out=" + root + " --grpc_python_out=" + root + " " + at(file)
	}
	for _, c := range []struct {
		missing
		want string
	}{
		{missing{Module: "a_pb2"}, command("", "a.proto")},
		{missing{Module: "a_pb2_grpc.Stub"}, command("", "a.proto")},
		{missing{Module: "b_pb2"}, command("protos", "protos/b.proto")},
		{missing{Module: "gen.e_pb2"}, command("protos", "protos/gen/e.proto")},
		{missing{Module: "c.c_pb2"}, command("", "c/c.proto")},
		{missing{Module: "c_pb2", Dir: at("c")}, command("", "c/c.proto")},
		{missing{Module: "none.b_pb2"}, "if protoc generates it, use `py -m grpc_tools.protoc` of grpcio-tools"},
		{missing{Module: "d_pb2"}, "protoc generates it from its .proto file: use `py -m grpc_tools.protoc` of grpcio-tools"},
		{missing{Module: "proto"}, ""},
		{missing{Module: "_pb2"}, ""},
	} {
		if got := hook.Word(l.remedy([]missing{c.missing})); got != c.want {
			t.Errorf("%s: got %q, want %q", c.Module, got, c.want)
		}
	}
}
