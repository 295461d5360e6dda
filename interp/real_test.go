package interp

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a real Python. Only tests start processes in this package.
func run(ctx context.Context, path string, args []string) ([]byte, string, error) {
	out, err := exec.CommandContext(ctx, path, args...).Output()
	return out, "", err
}

// TestRealPythons compares what files say about the Pythons of this machine with their own answers.
func TestRealPythons(t *testing.T) {
	candidates := []string{"/usr/bin/python3", "/usr/bin/pypy3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"}
	if found, err := Find(t.Context(), Request{Environ: os.Environ(), Cwd: t.TempDir(), Run: run}); err == nil {
		candidates = append(candidates, found.Path)
	}
	if home, err := os.UserHomeDir(); err == nil {
		managed, _ := filepath.Glob(filepath.Join(home, ".pyenv", "versions", "*", "bin", "python"))
		candidates = append(candidates, managed...)
	}
	seen := 0
	for _, path := range candidates {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		known, broken := new(finder).inspect(path, real, SourcePath)
		if broken != nil {
			t.Errorf("%s: %v", path, broken)
			continue
		}
		says, _, broken := ask(t.Context(), run, path)
		if broken != nil {
			// Python 2 has no -I, and the error of exec does not contain its output.
			t.Logf("%s: %v", path, broken)
			continue
		}
		seen++
		if known.Version.Known() && (!known.Version.sameMinor(says) || known.Version.Patch >= 0 && known.Version.Patch != says.Patch) {
			t.Errorf("%s: files tell %s, it says %s", path, known.Version, says)
		}
		t.Logf("%s: files tell %s, it says %s", path, known.Version, says)
	}
	if seen == 0 {
		if strings.Contains(os.Getenv("PYPLUG_TEST_REQUIRE"), "python") {
			t.Fatal("no python on this machine")
		}
		t.Skip("no python on this machine")
	}
}

// BenchmarkFind should stay below 1 ms. No process may be started.
func BenchmarkFind(b *testing.B) {
	root := tree(b, append(lines(base("opt"), venv("plug/.venv", "opt", "3.12.1")), "d work", "d empty")...)
	request := Request{
		Cwd: filepath.Join(root, "work"), Requires: []Requirement{{Spec: ">=3.11", From: "plugin.py"}},
		Run: func(context.Context, string, []string) ([]byte, string, error) { panic("a process was started") },
	}
	dirs := strings.Repeat(filepath.Join(root, "empty")+"-missing"+string(filepath.ListSeparator), 12)
	request.Environ = []string{"PATH=" + dirs + filepath.Join(root, "opt", "bin")}
	b.Run("path", func(b *testing.B) { benchmark(b, request) })
	request.Dirs = []string{filepath.Join(root, "plug")}
	b.Run("venv", func(b *testing.B) { benchmark(b, request) })
}

func benchmark(b *testing.B, r Request) {
	for b.Loop() {
		if _, err := Find(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
