package missing

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp/env"
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

// TestListed checks the distributions that are read from each kind of file.
func TestListed(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"requirements.txt", "# some\r\na==1.0 --hash=sha256:0\r\n B_b[x, y] >= 2 ; python_version < '3.9'\nc.c\n-r more.txt\n" +
			"./d\ne @ https://example.com/e.whl\ngit+https://example.com/f\n-e g\nhttps://example.com/h.whl\ni (>1)\n", "a B_b c.c i m"},
		{"notes.txt", "a", ""},
		{"pyproject.toml", "[project]\nname = 'own'\nversion = '1'\ndependencies = ['a>1', 'b']\n", "a b"},
		{"poetry.lock", "[[package]]\nname = \"a\"\n", "a"},
		{"plugin.py", "# /// script\n# dependencies = [\n#   'a<2',\n# ]\n# ///\nimport a\n", "a"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"plugin.py": "import a\n", "more.txt": "m>1\n", c.file: c.text} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := env.SourceOf(filepath.Join(dir, "plugin.py"), []string{dir}).Names(); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: got %q, want %q in\n%s", c.file, got, c.want, c.text)
		}
	}
}
