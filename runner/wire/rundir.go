package wire

import "os"

// A background plugin's files are in a run directory: NAME.sock, which is 0600,
// NAME.lock, NAME.json, NAME.log and NAME.log.1.

// maxSocket is the longest path of a socket that every system takes: macOS has
// 104 bytes with the NUL, Linux 108.
const maxSocket = 103

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
	path = dir + string(os.PathSeparator) + name + ".sock"
	return path, len(path) <= maxSocket
}

// DirError says why a run directory is not used.
type DirError struct{ Dir, Problem string }

// Error names the directory and what is wrong with it.
func (e *DirError) Error() string { return "run directory " + e.Dir + " " + e.Problem }

// MakeDir makes a run directory if there is none, but not the one it is in, and
// checks it as [CheckDir] does.
func MakeDir(dir string) error {
	if err := mkdir(dir); err != nil && !os.IsExist(err) {
		return err
	}
	return CheckDir(dir)
}
