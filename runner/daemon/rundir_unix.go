//go:build unix

package daemon

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// usualRunDirs returns the run directories if $PYPLUG_RUN_DIR is not set.
func usualRunDirs() []string {
	own := filepath.Join(sharedTemp, "pyplug-"+strconv.Itoa(os.Geteuid()))
	base := os.Getenv("XDG_RUNTIME_DIR")
	// Root in a user's session does not use that user's directory.
	if info, err := os.Stat(base); !filepath.IsAbs(base) || err != nil || !bounded.IsOurs(info) {
		return []string{own}
	}
	return []string{filepath.Join(base, "pyplug"), own}
}

// stateDirs returns the directory for logs that outlives a reboot, or nothing for a user without a
// home directory.
func stateDirs() []string {
	state, base := os.Getenv("XDG_STATE_HOME"), os.Getenv("HOME")
	if filepath.IsAbs(state) {
		base = filepath.Dir(state)
	} else {
		state = filepath.Join(base, ".local", "state")
	}
	for _, dir := range []string{state, base} {
		// Root with a user's HOME must not write there, and HOME may be /nonexistent.
		if info, err := os.Stat(dir); err == nil && filepath.IsAbs(dir) && bounded.IsOurs(info) {
			return []string{filepath.Join(state, "pyplug")}
		}
	}
	return nil
}

// createDir creates a directory for this user alone.
func createDir(dir string) error { return os.Mkdir(dir, 0o700) }

// checkAccess rejects a directory that does not belong to this user, or has another mode than 0700.
// It may also return a hint.
func checkAccess(dir string, info fs.FileInfo) (hint string, err error) {
	switch owner, mode := bounded.Owner(info), info.Mode().Perm(); {
	case !bounded.IsOurs(info):
		if os.Geteuid() == 0 {
			hint = fmt.Sprintf("run pyplug as that user to reach its plugins: sudo -u '#%d' --preserve-env=PYPLUG_RUN_DIR pyplug …", owner)
		}
		return hint, fmt.Errorf("belongs to user %d, %w", owner, errNotOurs)
	case mode != 0o700:
		return "run " + schema.QuoteLine([]string{"chmod", "700", dir}) + ", or set PYPLUG_RUN_DIR to another directory", fmt.Errorf("has mode %04o, expected 0700", mode)
	}
	return "", nil
}
