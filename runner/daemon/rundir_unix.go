//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/pyplug/pyplug/runner/schema"
)

// RunDirs are the directories where the files of background plugins can be, the
// preferred one first: $PYPLUG_RUN_DIR alone if it is set; otherwise
// $XDG_RUNTIME_DIR/pyplug, if that variable names a directory of this user, and
// /tmp/pyplug-UID. They need not exist.
//
// A client searches all of them, since the variable is often set in only one of two
// shells. Package commands/fastcall has the same rule.
func RunDirs() []string {
	if dir := os.Getenv("PYPLUG_RUN_DIR"); dir != "" {
		return []string{dir}
	}
	own := "/tmp/pyplug-" + strconv.Itoa(os.Geteuid())
	base := os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(base) {
		return []string{own}
	}
	dir := filepath.Join(base, "pyplug")
	var stat syscall.Stat_t
	if _, fits := socketPath(dir, "x"); !fits || syscall.Stat(base, &stat) != nil || int(stat.Uid) != os.Geteuid() {
		return []string{own} // root in a user's session does not use that user's directory
	}
	return []string{dir, own}
}

// checkDir rejects a run directory that other users could change: it must be a
// directory and no link, belong to this user and have mode 0700. The error wraps
// [fs.ErrNotExist] if there is none.
func checkDir(dir string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	var stat syscall.Stat_t
	if err := syscall.Lstat(dir, &stat); err != nil {
		return &dirError{dir: dir, problem: "cannot be read: " + err.Error(), err: err}
	}
	switch mode := uint32(stat.Mode); {
	case mode&syscall.S_IFMT == syscall.S_IFLNK:
		return &dirError{dir: dir, problem: "is a link, want the directory itself"}
	case mode&syscall.S_IFMT != syscall.S_IFDIR:
		return &dirError{dir: dir, problem: "is not a directory"}
	case int(stat.Uid) != os.Geteuid():
		return &dirError{dir: dir, problem: fmt.Sprintf("belongs to user %d, not to %d", stat.Uid, os.Geteuid())}
	case mode&0o777 != 0o700:
		return &dirError{dir: dir, problem: fmt.Sprintf("has mode 0%o, not 0700", mode&0o777),
			hint: schema.QuoteLine([]string{"chmod", "700", dir}) + ", or name another one with PYPLUG_RUN_DIR"}
	}
	return nil
}

// mkdir makes a directory with mode 0700 whatever the umask is. It leaves an
// existing one as it is.
func mkdir(dir string) error {
	switch err := os.Mkdir(dir, 0o700); {
	case err == nil:
		return os.Chmod(dir, 0o700)
	case errors.Is(err, fs.ErrExist):
		return nil
	default:
		return err
	}
}
