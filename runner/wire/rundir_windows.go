package wire

import "os"

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

// CheckDir refuses what is no directory. The error is a [*DirError], or the
// system's where the directory cannot be seen, such as [os.ErrNotExist].
func CheckDir(dir string) error {
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		return &DirError{dir, "is not a directory"}
	}
	return err
}

func mkdir(dir string) error { return os.Mkdir(dir, 0o700) }
