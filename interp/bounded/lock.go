package bounded

import (
	"errors"
	"io/fs"
	"os"
)

// ErrLocked is the error of [Lock] if the file is locked already.
var ErrLocked = errors.New("another process has locked it")

// Lock locks a file until it is closed or this process ends. It does not wait: the error is [ErrLocked] if the
// file is locked already, also by another open file of this process. Others can still read and write it.
func Lock(f *os.File) error {
	err := lock(f, true)
	if err == nil || errors.Is(err, ErrLocked) {
		return err
	}
	return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
}

// Locked reports whether a file is locked. While it checks, a concurrent [Lock] may fail.
func Locked(f *os.File) bool { return errors.Is(lock(f, false), ErrLocked) }

// IsOurs reports whether a file belongs to this user. Windows has access lists instead of owners: there it always
// does.
func IsOurs(info fs.FileInfo) bool { return Owner(info) == os.Geteuid() }
