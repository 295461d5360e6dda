//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLogDirs checks that logs are in the state directory. If this user has no home directory, they
// are in the run directory, and no home directory is created.
func TestLogDirs(t *testing.T) {
	home := t.TempDir()
	run := RunDirs()[0]
	for name, c := range map[string]struct{ run, home, state, want string }{
		"home":          {"", home, "", filepath.Join(home, ".local", "state", "pyplug")},
		"state":         {"", home, filepath.Join(home, "s"), filepath.Join(home, "s", "pyplug")},
		"relative":      {"", home, "s", filepath.Join(home, ".local", "state", "pyplug")},
		"no home":       {"", "", "", run},
		"none such":     {"", filepath.Join(home, "none"), "", run},
		"run directory": {home, home, "", home},
	} {
		t.Setenv("PYPLUG_RUN_DIR", c.run)
		t.Setenv("HOME", c.home)
		t.Setenv("XDG_STATE_HOME", c.state)
		if got := logDirs()[0]; got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if got := makeLogDir(run); c.want == run && got != run {
			t.Errorf("%s: made %s", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(home, "none")); err == nil {
		t.Error("a home directory was made")
	}
}
