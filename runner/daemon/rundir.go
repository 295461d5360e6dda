package daemon

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/pyplug/pyplug/runner/hook"
)

// maxSocket is the longest path of a socket that every system accepts: macOS has
// 104 bytes with the NUL, Linux 108.
const maxSocket = 103

// ValidName reports whether a background plugin can have the name:
// [a-z0-9][a-z0-9_-]*. A valid name is neither a path nor a flag.
func ValidName(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && (c == '-' || c == '_'):
		default:
			return false
		}
	}
	return name != ""
}

// socketPath is the path of a name's socket in a run directory. ok is false if it
// is too long.
func socketPath(dir, name string) (path string, ok bool) {
	path = filepath.Join(dir, name+".sock")
	return path, len(path) <= maxSocket
}

// dirError says why a run directory cannot be used.
type dirError struct {
	dir, problem string
	kind         hook.Kind // Unavailable unless set
	hint         string    // what to do; "": choose another directory
	err          error     // what the system returned
}

// Error names the directory and what is wrong with it.
func (e *dirError) Error() string { return "run directory " + e.dir + " " + e.problem }

// Unwrap returns what the system returned.
func (e *dirError) Unwrap() error { return e.err }

// Hints says what to do.
func (e *dirError) Hints() []string {
	if e.hint != "" {
		return []string{e.hint}
	}
	return []string{"PYPLUG_RUN_DIR names another one"}
}

// refused is the error for a run directory that cannot be used.
func refused(err error) *hook.Error {
	if dir := (*dirError)(nil); errors.As(err, &dir) && dir.kind != 0 {
		return hook.NewError(dir.kind, err)
	}
	return unavailable(err)
}

// makeDir makes a run directory if there is none, but not its parent, and checks
// it with checkDir.
func makeDir(dir string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	err := mkdir(dir)
	if err == nil {
		return checkDir(dir)
	}
	if wrapped := (*fs.PathError)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	e := &dirError{dir: dir, problem: "cannot be made: " + err.Error(), err: err,
		hint: "PYPLUG_RUN_DIR names another one; it is made, but not the directory that it is in"}
	if errors.Is(err, fs.ErrNotExist) {
		e.problem = "cannot be made: there is no " + filepath.Dir(filepath.Clean(dir))
	}
	return e
}

// absolute rejects a path that depends on the working directory.
func absolute(dir string) error {
	if filepath.IsAbs(dir) {
		return nil
	}
	return &dirError{dir: dir, problem: "is not an absolute path", kind: hook.Usage,
		hint: "PYPLUG_RUN_DIR takes a whole path, which begins with /"}
}
