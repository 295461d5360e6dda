//go:build unix

package env

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed; false if another process has it locked.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// removeLocked removes a locked file, and then unlocks it: nobody else has locked it before it
// is gone.
func removeLocked(f *os.File) {
	os.Remove(f.Name())
	f.Close()
}
