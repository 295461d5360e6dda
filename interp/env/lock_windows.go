package env

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file until it is closed. It returns false if another process holds the lock.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return err == nil, err
}

// removeLocked unlocks a file and removes it. Windows keeps a file that another process has open.
func removeLocked(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}
