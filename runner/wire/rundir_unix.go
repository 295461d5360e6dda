//go:build unix

package wire

import (
	"strconv"
	"syscall"
)

const (
	separator = "/"
	// missing is the system's error where the parent of a directory is not there.
	missing = syscall.ENOENT
)

// RunDirs are the directories that a background plugin's files may be in, the
// preferred first: $PYPLUG_RUN_DIR alone, where that is set; else
// $XDG_RUNTIME_DIR/pyplug, if that is set, ours and short enough for any socket
// at all, and /tmp/pyplug-UID. They need not exist.
//
// A client looks in all of them, since the variable is often set for one of two
// shells only. Of root in a user's session it is the user's, and not taken.
func RunDirs() []string {
	if dir, _ := syscall.Getenv("PYPLUG_RUN_DIR"); dir != "" {
		return []string{dir}
	}
	own := "/tmp/pyplug-" + strconv.Itoa(syscall.Geteuid())
	base, _ := syscall.Getenv("XDG_RUNTIME_DIR")
	if base == "" || base[0] != '/' {
		return []string{own}
	}
	for len(base) > 1 && base[len(base)-1] == '/' {
		base = base[:len(base)-1]
	}
	dir := base + "/pyplug"
	var stat syscall.Stat_t
	if _, fits := SocketPath(dir, "x"); !fits || syscall.Stat(base, &stat) != nil || int(stat.Uid) != syscall.Geteuid() {
		return []string{own}
	}
	return []string{dir, own}
}

// CheckDir refuses a run directory that is not ours alone: a directory and no
// link, owned by this user, mode 0700. The error is a [*DirError], which wraps
// [io/fs.ErrNotExist] where there is none.
func CheckDir(dir string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	var stat syscall.Stat_t
	if err := syscall.Lstat(dir, &stat); err != nil {
		return &DirError{dir, "cannot be looked at: " + err.Error(), err}
	}
	switch mode := uint32(stat.Mode); {
	case mode&syscall.S_IFMT == syscall.S_IFLNK:
		return &DirError{Dir: dir, Problem: "is a link, want the directory itself"}
	case mode&syscall.S_IFMT != syscall.S_IFDIR:
		return &DirError{Dir: dir, Problem: "is not a directory"}
	case int(stat.Uid) != syscall.Geteuid():
		return &DirError{Dir: dir, Problem: "belongs to user " + strconv.Itoa(int(stat.Uid)) + ", not to " + strconv.Itoa(syscall.Geteuid())}
	case mode&0o777 != 0o700:
		return &DirError{dir, "has mode 0" + strconv.FormatUint(uint64(mode&0o777), 8) + ", not 0700", ErrMode}
	}
	return nil
}

// absolute refuses a directory that means another one elsewhere.
func absolute(dir string) error {
	if dir == "" || dir[0] != '/' {
		return &DirError{dir, "is not an absolute path", ErrRelative}
	}
	return nil
}

// mkdir makes a directory of mode 0700, whatever the umask. One that is there it
// leaves as it is.
func mkdir(dir string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	switch err := syscall.Mkdir(dir, 0o700); err {
	case nil:
		return syscall.Chmod(dir, 0o700)
	case syscall.EEXIST:
		return nil
	default:
		return err
	}
}
