package daemon

import (
	"io/fs"
	"os"
)

// openFile opens one of the files of a name, which has to be one. A link would lead
// to a file of somebody else's, and a named pipe would have us wait for the one who
// opens its other end. The error is a [*FileError] then.
func openFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|noDetour, 0o600)
	if err != nil {
		if info, failed := os.Lstat(path); failed == nil && !info.Mode().IsRegular() {
			return nil, &FileError{Path: path, Type: info.Mode().Type()}
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &FileError{Path: path, Type: info.Mode().Type()}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// FileError says that something else has the place of one of a name's files.
type FileError struct {
	Path string
	// Type is what it is.
	Type fs.FileMode
}

// Error names the path and what is there.
func (e *FileError) Error() string {
	what := "something else"
	switch {
	case e.Type&fs.ModeSymlink != 0:
		what = "a link"
	case e.Type&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case e.Type&fs.ModeSocket != 0:
		what = "a socket"
	case e.Type&fs.ModeDevice != 0:
		what = "a device"
	case e.Type&fs.ModeDir != 0:
		what = "a directory"
	}
	return e.Path + " is " + what + ", want a regular file"
}
