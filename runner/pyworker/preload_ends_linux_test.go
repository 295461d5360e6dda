package pyworker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestPreloadBuffers holds that what the import has left in the buffer of a file is
// written once, and what workers write is written by each.
func TestPreloadBuffers(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, `
f = open(os.path.join(os.path.dirname(__file__), "out"), "a")
f.write("import\n")
def put(): f.write("put\n")
`)
	l := preloading(t, path)
	t.Cleanup(func() {
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		w, err := l.Launch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Call(t.Context(), hook.Call{Hook: "put"}); err != nil {
			t.Error(err)
		}
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "out"))
	if want := "import\n" + strings.Repeat("put\n", 3); err != nil || string(text) != want {
		t.Errorf("got %q, %v, want %q", text, err, want)
	}
}
