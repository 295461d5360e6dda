//go:build unix

package env

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed. It returns false if another process holds the lock.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}
