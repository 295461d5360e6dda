package bounded

import (
	"errors"
	"io/fs"
	"os"
)

// ErrLocked is the error of [Lock] if the file is locked already.
var ErrLocked = errors.New("another process has locked it")

// Lock locks a file until the file is closed or this process ends. It does not wait: it returns
// [ErrLocked] if the file is locked, even by another open file of this process. Others can still
// read and write the file.
func Lock(f *os.File) error {
	err := lock(f, true)
	if err == nil || errors.Is(err, ErrLocked) {
		return err
	}
	return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
}

// Locked reports whether a file is locked. While it checks, a concurrent [Lock] may fail.
func Locked(f *os.File) bool { return errors.Is(lock(f, false), ErrLocked) }

// IsOurs reports whether a file belongs to this user. It always does on Windows, which has access
// lists instead of owners.
func IsOurs(info fs.FileInfo) bool { return Owner(info) == os.Geteuid() }
