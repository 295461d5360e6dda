package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestOtherOwner checks that root, who does not see the plugins of other users, learns who runs
// one.
func TestOtherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is not root, and cannot make files of another user")
	}
	_, without := shells(t)
	without()
	dir := filepath.Join(sharedTemp, "pyplug-54321")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "theirs.sock")
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(socket, 54321, 54321); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]string{
		"theirs": "theirs is not running as root, but as #54321", "nosuch": "nosuch is not running",
	} {
		if e := NotRunningError(name); e.Error() != want || name == "theirs" && !strings.HasPrefix(hook.Words(e.Hints)[0], "run it as that user: sudo -u #54321 pyplug") {
			t.Errorf("got %v, %q", e, hook.Words(e.Hints))
		}
	}
}
