package wire

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	separator = `\`
	// missing is the system's error where the parent of a directory is not there.
	missing = syscall.ERROR_PATH_NOT_FOUND
)

// RunDirs are the directories that a background plugin's files may be in:
// %PYPLUG_RUN_DIR% where that is set, else one in %LOCALAPPDATA%, which the user's
// access list makes private; none where neither is set. It need not exist.
func RunDirs() []string {
	if dir := os.Getenv("PYPLUG_RUN_DIR"); dir != "" {
		return []string{dir}
	}
	base := os.Getenv("LOCALAPPDATA")
	if base == "" {
		return nil
	}
	return []string{base + `\pyplug-run`}
}

// CheckDir refuses what is no directory. The error is a [*DirError], which wraps
// [io/fs.ErrNotExist] where there is nothing.
func CheckDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return &DirError{dir, "cannot be looked at: " + system(err).Error(), err}
	case !info.IsDir():
		return &DirError{Dir: dir, Problem: "is not a directory"}
	}
	return nil
}

// mkdir makes a directory. One that is there it leaves as it is.
func mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return system(err)
	}
	return nil
}

// system is what the system said, without the path.
func system(err error) error {
	if wrapped := (*fs.PathError)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
