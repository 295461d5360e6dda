package runner_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestImportedFiles checks the effects of a change to a file that Python has imported: a snapshot
// reports it, and a failed start is tried again.
func TestImportedFiles(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, "import helper\ndef ok(n): return helper.ok(n)\ndef die(): helper.os._exit(3)\ndef late(): import late\n")
	put(t, cfg.Cwd, "helper.py", "import os\ndef ok(n): return n\n")
	put(t, cfg.Cwd, "late.py", "")
	put(t, cfg.Cwd, "unused.py", "")
	o, err := runner.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	since, err := o.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := o
	err = o.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	changed := func(want string) {
		t.Helper()
		var names []string
		for _, path := range since.Changed() {
			names = append(names, filepath.Base(path))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("changed are %q, want %q", got, want)
		}
	}
	changed("")
	put(t, cfg.Cwd, "unused.py", "# changed")
	put(t, cfg.Cwd, "late.py", "# changed")
	changed("")
	put(t, cfg.Cwd, "helper.py", "import nosuch\n")
	changed("helper.py")
	answers(t, p, call("late", ""), "null")
	changed("helper.py")
	put(t, cfg.Cwd, "late.py", "# changed again")
	changed("helper.py late.py")

	if _, err := p.Call(t.Context(), call("die", "")); kindOf(err) != hook.Crash {
		t.Fatalf("got %v, want a crash", err)
	}
	for range 3 {
		if _, err := p.Call(t.Context(), call("ok", "[1]")); kindOf(err) != hook.Start || !strings.Contains(err.Error(), "nosuch") {
			t.Fatalf("got %v, want the import's error", err)
		}
	}
	// A missing module appears with an old time, because it was moved here.
	put(t, cfg.Cwd, "moved", "import pack.deep\n")
	old := time.Unix(1e9, 0)
	if err := errors.Join(os.Chtimes(filepath.Join(cfg.Cwd, "moved"), old, old),
		os.Rename(filepath.Join(cfg.Cwd, "moved"), filepath.Join(cfg.Cwd, "nosuch.py"))); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(t.Context(), call("ok", "[1]")); kindOf(err) != hook.Start || !strings.Contains(err.Error(), "pack") {
		t.Fatalf("got %v, want the next error", err)
	}
	if err := os.Mkdir(filepath.Join(cfg.Cwd, "pack"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, cfg.Cwd, "pack/__init__.py", "")
	if _, err := p.Call(t.Context(), call("ok", "[1]")); kindOf(err) != hook.Start || !strings.Contains(err.Error(), "pack.deep") {
		t.Fatalf("got %v, want the third error", err)
	}
	put(t, cfg.Cwd, "pack/deep.py", "")
	put(t, cfg.Cwd, "helper.py", "import nosuch\ndef ok(n): return n + 1\n")
	answers(t, p, call("ok", "[1]"), "2")
}
