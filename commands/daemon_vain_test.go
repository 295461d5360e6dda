//go:build linux

package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// A file that is broken by an edit, whatever it raises, is told with its traceback by
// the first call after the old worker died, and by all others until it is mended.
func TestDaemonVainStart(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	file := filepath.Join(t.TempDir(), "edited.py")
	edit := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("def version(): return 1\n")
	d.stopped("edited")
	d.wants("edited", "start", "--watch", file)
	edit("raise RuntimeError('no room')\n")
	runnertest.Until(t, "the log tells of it", func() bool {
		out, _, _ := d.pyplug("logs", "edited")
		return strings.Contains(out, "does not start")
	})
	d.wants("1", "call", "edited", "version")
	if err := syscall.Kill(d.worker("edited"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "its death is seen", func() bool { return d.worker("edited") == 0 })
	for range 2 { // while it is being started again, and then while that is waited with
		out, errs, code := d.pyplug("call", "edited", "version")
		if code != 5 || out != "" || !strings.Contains(errs, "RuntimeError: no room") || !strings.Contains(errs, "edited.py:1") || !strings.Contains(errs, "restarts in") && !strings.Contains(errs, "is restarting") {
			t.Errorf("got %q, exit code %d\n%s", out, code, errs)
		}
	}
	out, _, _ := d.pyplug("status")
	if !strings.Contains(out, "it does not start: RuntimeError: no room") || strings.Contains(out, "old one stays") {
		t.Errorf("status says\n%s", out)
	}
	d.fails(9, "RuntimeError: no room", "health", "edited")
	edit("def version(): return 333\n")
	d.wants("333", "call", "edited", "version")
}
