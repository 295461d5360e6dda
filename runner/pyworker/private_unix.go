//go:build unix

package pyworker

import (
	"fmt"
	"os"
	"syscall"
)

// private returns an error if another user owns a directory or may write to it.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case ok && int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, not to %d", dir, stat.Uid, os.Geteuid())
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s may be written by others (mode %o)", dir, info.Mode().Perm())
	}
	return nil
}
