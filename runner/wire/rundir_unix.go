//go:build unix

package wire

import (
	"os"
	"strconv"
	"syscall"
)

// RunDirs are the directories that a background plugin's files may be in, the
// preferred first: $PYPLUG_RUN_DIR alone, where that is set; else
// $XDG_RUNTIME_DIR/pyplug, if that is set, ours and short enough for any socket
// at all, and /tmp/pyplug-UID. They need not exist.
//
// A client looks in all of them, since the variable is often set for one of two
// shells only. Of root in a user's session it is the user's, and not taken.
func RunDirs() []string {
	if dir := os.Getenv("PYPLUG_RUN_DIR"); dir != "" {
		return []string{dir}
	}
	own := "/tmp/pyplug-" + strconv.Itoa(os.Geteuid())
	base := os.Getenv("XDG_RUNTIME_DIR")
	if base == "" || base[0] != '/' {
		return []string{own}
	}
	for len(base) > 1 && base[len(base)-1] == '/' {
		base = base[:len(base)-1]
	}
	dir := base + "/pyplug"
	var stat syscall.Stat_t
	if _, fits := SocketPath(dir, "x"); !fits || syscall.Stat(base, &stat) != nil || int(stat.Uid) != os.Geteuid() {
		return []string{own}
	}
	return []string{dir, own}
}

// CheckDir refuses a run directory that is not ours alone: a directory and no
// link, owned by this user, mode 0700. The error is a [*DirError], or the
// system's where the directory cannot be seen, such as [os.ErrNotExist].
func CheckDir(dir string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	var stat syscall.Stat_t
	if err := syscall.Lstat(dir, &stat); err != nil {
		return &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	switch mode := uint32(stat.Mode); {
	case mode&syscall.S_IFMT != syscall.S_IFDIR:
		return &DirError{dir, "is not a directory"}
	case int(stat.Uid) != os.Geteuid():
		return &DirError{dir, "belongs to user " + strconv.Itoa(int(stat.Uid)) + ", not to " + strconv.Itoa(os.Geteuid())}
	case mode&0o777 != 0o700:
		return &DirError{dir, "has mode 0" + strconv.FormatUint(uint64(mode&0o777), 8) + ", not 0700"}
	}
	return nil
}

// absolute refuses a directory that means another one elsewhere.
func absolute(dir string) error {
	if dir == "" || dir[0] != '/' {
		return &DirError{dir, "is not an absolute path"}
	}
	return nil
}

// mkdir makes a directory of mode 0700, whatever the umask.
func mkdir(dir string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}
