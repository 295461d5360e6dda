package wire

import "errors"

// A background plugin's files are in a run directory: NAME.sock, which is 0600,
// NAME.lock, NAME.json, NAME.log and NAME.log.1.

// MaxSocket is the longest path of a socket that every system takes: macOS has
// 104 bytes with the NUL, Linux 108.
const MaxSocket = 103

// ValidName tells whether a name can be a background plugin's:
// [a-z0-9][a-z0-9_-]*. A name that is valid is no path and no flag.
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

// SocketPath is where the socket of a name is in a run directory. ok is false
// when that is too long to be a socket's: then the next directory is taken.
func SocketPath(dir, name string) (path string, ok bool) {
	path = dir + separator + name + ".sock"
	return path, len(path) <= MaxSocket
}

// DirError says why a run directory is not used.
type DirError struct {
	Dir, Problem string
	// Err is what the system said, such as [syscall.ENOENT], or [ErrRelative] or
	// [ErrMode]; nil for all else.
	Err error
}

// What is wrong with a run directory that its user can mend.
var (
	// ErrRelative says that a path means another directory elsewhere.
	ErrRelative = errors.New("relative path")
	// ErrMode says that others may look into it, or its owner may not.
	ErrMode = errors.New("wrong mode")
)

// Error names the directory and what is wrong with it.
func (e *DirError) Error() string { return "run directory " + e.Dir + " " + e.Problem }

// Unwrap returns what the system said.
func (e *DirError) Unwrap() error { return e.Err }

// MakeDir makes a run directory if there is none, but not the one it is in, and
// checks it as [CheckDir] does. The error is a [*DirError].
func MakeDir(dir string) error {
	wrong := (*DirError)(nil)
	switch err := mkdir(dir); {
	case err == nil:
		return CheckDir(dir)
	case errors.As(err, &wrong):
		return err
	case errors.Is(err, missing):
		return &DirError{dir, "cannot be made: there is no " + parent(dir), err}
	default:
		return &DirError{dir, "cannot be made: " + err.Error(), err}
	}
}

// parent is the directory that another one is in.
func parent(dir string) string {
	isSlash := func(i int) bool { return dir[i] == '/' || dir[i] == separator[0] }
	end := len(dir)
	for end > 1 && isSlash(end-1) {
		end--
	}
	for end > 1 && !isSlash(end-1) {
		end--
	}
	for end > 1 && isSlash(end-1) {
		end--
	}
	return dir[:end]
}
