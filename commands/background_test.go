package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// runDir returns the path of a directory for the files of background plugins, short enough
// for sockets. Only its parent exists. A plugin that is left when the test ends fails the
// test, and is killed.
func runDir(t testing.TB) string {
	t.Helper()
	short := "/tmp"
	if runtime.GOOS == "windows" {
		short = "" // there is no /tmp
	}
	base, err := os.MkdirTemp(short, "pp")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "run")
	t.Cleanup(func() {
		states, _ := filepath.Glob(filepath.Join(dir, "*.json")) // the pattern is valid
		for _, file := range states {
			t.Errorf("%s is left", file)
			var id struct{ PID int }
			if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &id) == nil && id.PID > 1 {
				if p, err := os.FindProcess(id.PID); err == nil {
					_ = p.Kill() // it may be gone
				}
			}
		}
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// waitFor implements `waitfor COMMAND ARG...`. It runs the command until it succeeds.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: waitfor COMMAND ARG...")
	}
	t := ts.Value(testKey).(testing.TB)
	runnertest.Until(t, args[0]+" succeeds", func() bool { return ts.Exec(args[0], args[1:]...) == nil })
}
