package daemon

import (
	"io/fs"
	"os"
)

// openFile opens one of the files of a name, which must be a regular file. A link
// could lead to a file elsewhere, and opening a named pipe would wait for its other
// end. The error is a [*fileError] then.
func openFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|noFollow, 0o600)
	if err != nil {
		if info, failed := os.Lstat(path); failed == nil && !info.Mode().IsRegular() {
			return nil, &fileError{path, info.Mode().Type()}
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fileError{path, info.Mode().Type()}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// fileError says that something else is in the place of one of a name's files.
type fileError struct {
	path string
	mode fs.FileMode // its type
}

// Error names the path and what is there.
func (e *fileError) Error() string {
	what := "something else"
	switch {
	case e.mode&fs.ModeSymlink != 0:
		what = "a link"
	case e.mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case e.mode&fs.ModeSocket != 0:
		what = "a socket"
	case e.mode&fs.ModeDevice != 0:
		what = "a device"
	case e.mode&fs.ModeDir != 0:
		what = "a directory"
	}
	return e.path + " is " + what + ", want a regular file"
}

// Hints says what to do.
func (e *fileError) Hints() []string { return []string{"remove it: pyplug makes its own"} }

// sameFile reports whether an open file is the one at a path.
func sameFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}
