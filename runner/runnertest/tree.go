package runnertest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TreeSite is the package directory of the environment in a [SourceTree].
const TreeSite = "env/lib/python3.12/site-packages/"

// SourceTree makes files below a new directory, given their names with slashes and their texts. It
// also makes an environment. If grpc is set, the environment contains grpc.
func SourceTree(t testing.TB, grpc bool, files map[string]string) (root string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the environments belong to other systems")
	}
	root = t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("env/pyvenv.cfg", "include-system-site-packages = false\n")
	put("env/bin/python", "#!")
	put(TreeSite+"six.py", "")
	if grpc {
		put(TreeSite+"grpc/__init__.py", `print("1|1|tcp|127.0.0.1:1|grpc")`) // never read
	}
	for name, text := range files {
		put(name, text)
	}
	return root
}
