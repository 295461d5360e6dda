package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// counting is a plugin that counts its imports and its calls.
const counting = `
import os
with open(os.path.join(os.path.dirname(__file__), "imports"), "a") as file:
    file.write(".")
calls = 0

def count():
    global calls
    calls += 1
    return calls

def imports():
    return os.path.getsize(os.path.join(os.path.dirname(__file__), "imports"))
`

// TestSeveralPools checks that the pools of one opened plugin share its import while one of them
// lives, that a fresh worker does not import it again, and that nothing is left after the last pool
// ends.
func TestSeveralPools(t *testing.T) {
	runnertest.NothingLeft(t)
	o, err := runner.Open(t.Context(), file(t, counting))
	if err != nil {
		t.Fatal(err)
	}
	start := func() *runner.Pool {
		t.Helper()
		p, err := o.Fresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	end := func(p *runner.Pool) {
		t.Helper()
		for range 2 { // the second Close does nothing
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
	wants := func(p *runner.Pool, counted, imports int) {
		t.Helper()
		answers(t, p, call("count", "[]"), strconv.Itoa(counted))
		answers(t, p, call("imports", "[]"), strconv.Itoa(imports))
	}
	one, two := start(), start()
	wants(one, 1, 1)
	wants(two, 1, 1)
	end(one)
	wants(two, 2, 1)
	if err := two.Replace(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	wants(two, 1, 1)
	three := start()
	end(two)
	wants(three, 1, 1)
	end(three)
	four := start()
	wants(four, 1, 2)
	if err := four.Restart(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	wants(four, 1, 3)
	end(four)
}

// TestFileChanges checks after which changes a plugin's file counts as changed and the next worker
// imports it again.
func TestFileChanges(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, test := range map[string]struct {
		change func(file string, was os.FileInfo) error
		want   bool
	}{
		"another size": {func(file string, was os.FileInfo) error {
			return errors.Join(os.WriteFile(file, []byte("x = 12\n"), 0o600), os.Chtimes(file, was.ModTime(), was.ModTime()))
		}, true},
		"another time":  {func(file string, was os.FileInfo) error { return os.Chtimes(file, was.ModTime(), was.ModTime().Add(1)) }, true},
		"an older time": {func(file string, was os.FileInfo) error { return os.Chtimes(file, was.ModTime(), time.Unix(1, 0)) }, true},
		"removed":       {func(file string, _ os.FileInfo) error { return os.Remove(file) }, true},
		"replaced by the same": {func(file string, was os.FileInfo) error {
			put(t, filepath.Dir(file), "new.txt", "x = 1\n")
			text := filepath.Join(filepath.Dir(file), "new.txt")
			return errors.Join(os.Chtimes(text, was.ModTime(), was.ModTime()), os.Rename(text, file))
		}, false},
		"another file": {func(file string, _ os.FileInfo) error { return os.WriteFile(file+".txt", nil, 0o600) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := file(t, "import helper\n"+counting)
			helper := filepath.Join(cfg.Cwd, "helper.py")
			put(t, cfg.Cwd, "helper.py", "x = 1\n")
			cfg.Preload = "force"
			o, err := runner.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			p := o
			err = o.Start(t.Context()) // the worker reports the imported files
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close(context.Background())
			seen, err := o.Snapshot(t.Context())
			was, missing := os.Stat(helper)
			if err := errors.Join(err, missing, p.Replace(t.Context(), "a test")); err != nil {
				t.Fatal(err)
			}
			imports := len(read(t, filepath.Join(cfg.Cwd, "imports")))
			if err := test.change(helper, was); err != nil {
				t.Fatal(err)
			}
			if changed := seen.Changed(); (len(changed) > 0) != test.want {
				t.Errorf("the runner saw %q changed", changed)
			}
			err = p.Replace(t.Context(), "a test")
			if anew := err != nil || len(read(t, filepath.Join(cfg.Cwd, "imports"))) > imports; anew != test.want {
				t.Errorf("imported anew: %v (%v), want %v", anew, err, test.want)
			}
		})
	}
}

// TestFileChangesInImport checks that the next worker imports a file again if it was edited during
// the import, because it is unknown which version was imported.
func TestFileChangesInImport(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := file(t, "import helper\nopen(helper.__file__, 'a').write('x = 2\\n')\n"+counting)
	put(t, cfg.Cwd, "helper.py", "x = 1\n")
	if err := os.Chtimes(filepath.Join(cfg.Cwd, "helper.py"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	cfg.Preload = "force"
	o, err := runner.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := o
	err = o.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	if err := p.Replace(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	if n := len(read(t, filepath.Join(cfg.Cwd, "imports"))); n != 2 {
		t.Errorf("%d imports, want 2", n)
	}
}
