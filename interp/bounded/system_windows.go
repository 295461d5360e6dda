package bounded

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a byte far beyond the end of the file, because other processes cannot read locked
// bytes. It replaces a lock that f holds, as flock does.
func lock(f *os.File, exclusive bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	file, place := windows.Handle(f.Fd()), &windows.Overlapped{OffsetHigh: 1 << 30}
	_ = windows.UnlockFileEx(file, 0, 1, 0, place) // fails if f holds no lock
	err := windows.LockFileEx(file, how, 0, 1, 0, place)
	if err == windows.ERROR_LOCK_VIOLATION {
		return ErrLocked
	}
	return err
}

// Owner returns this user.
func Owner(fs.FileInfo) int { return os.Geteuid() }
