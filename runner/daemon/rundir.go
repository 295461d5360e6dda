package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// sharedTemp is a directory that exists in every environment, except on Windows. Tests replace it.
var sharedTemp = "/tmp"

// RunDirs returns the directories that may contain the files of background plugins, the preferred
// one first. If $PYPLUG_RUN_DIR is set, it is the only one. Otherwise they are
// $XDG_RUNTIME_DIR/pyplug, if that variable names a directory of this user, and /tmp/pyplug-UID. On
// Windows it is %LOCALAPPDATA%\pyplug-run. They need not exist.
//
// A daemon acquires its name in all of them, and a client searches all, because the variable is
// often set in only one of two shells. Package commands/fastcall has the same rule.
func RunDirs() []string {
	if dir := os.Getenv("PYPLUG_RUN_DIR"); dir != "" {
		return []string{dir}
	}
	return usualRunDirs()
}

// logDirs returns the directories that may contain logs, the preferred one first. If
// $PYPLUG_RUN_DIR is set, it is the only one. Otherwise they are $XDG_STATE_HOME/pyplug, by default
// ~/.local/state/pyplug, which outlives a reboot, and the run directories, for a user without a
// home directory. On Windows they are the run directories, which outlive a reboot.
func logDirs() []string {
	if os.Getenv("PYPLUG_RUN_DIR") != "" {
		return RunDirs()
	}
	return append(stateDirs(), RunDirs()...)
}

// LogDir returns the preferred directory for logs.
func LogDir() string { return logDirs()[0] }

// makeLogDir creates and returns the preferred directory for logs. If that cannot be used, it
// returns runDir, the existing run directory of the name.
func makeLogDir(runDir string) string {
	dir := logDirs()[0]
	if dir == runDir || os.MkdirAll(filepath.Dir(dir), 0o700) != nil || makeDir(dir) != nil {
		return runDir
	}
	return dir
}

// errNotOurs is wrapped by the error of a run directory that this user did not create. Any user can
// create the path in /tmp.
var errNotOurs = errors.New("expected a directory of this user")

// existing returns the run directories that exist and can be used, and the error of one that cannot
// be used. A directory of another user is an error only if no other directory exists or could be
// created, because it contains none of this user's plugins. Otherwise its error is the result
// skipped.
func existing(dirs []string) (there []string, skipped, err error) {
	others := false
	for _, dir := range dirs {
		switch failed := checkDir(dir); {
		case failed == nil:
			there = append(there, dir)
		case errors.Is(failed, fs.ErrNotExist):
			others = true
		case errors.Is(failed, errNotOurs):
			skipped = failed
		case err == nil:
			err = failed
		}
	}
	if err == nil && !others && len(there) == 0 {
		return nil, nil, skipped
	}
	return there, skipped, err
}

// Skipped returns the error of a run directory that is not searched although others are, or nil if
// all are searched.
func Skipped() error {
	_, skipped, err := existing(RunDirs())
	if err != nil {
		return nil // the caller of existing reports the error
	}
	return skipped
}

// checkDir rejects a run directory that other users could change: it must be a directory, not a
// link, and pass [checkAccess]. The error wraps [fs.ErrNotExist] if the directory
// does not exist, and errNotOurs if it belongs to another user.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return dirError(hook.Usage, dir, errors.New("is not an absolute path"), "set PYPLUG_RUN_DIR to an absolute path")
	}
	info, err := os.Lstat(dir)
	hint := "set PYPLUG_RUN_DIR to another directory"
	switch {
	case err != nil:
		err = fmt.Errorf("cannot be read: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		err = fmt.Errorf("is a symbolic link, %w", errNotOurs)
	case !info.IsDir():
		err = fmt.Errorf("is not a directory, %w", errNotOurs)
	default:
		advice, failed := checkAccess(dir, info)
		if failed == nil {
			return nil
		}
		err, hint = failed, cmp.Or(advice, hint)
	}
	return dirError(hook.Unavailable, dir, err, hint)
}

// makeDir creates a run directory unless it exists, but not its parent, and checks it.
func makeDir(dir string) error {
	if err := checkDir(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := createDir(dir)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist):
		return checkDir(dir)
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("there is no " + filepath.Dir(filepath.Clean(dir)))
	}
	return dirError(hook.Unavailable, dir, fmt.Errorf("cannot be created: %w", err),
		"set PYPLUG_RUN_DIR to another directory; pyplug creates it, but not its parent")
}

// dirError returns the error for a run directory.
func dirError(kind hook.Kind, dir string, problem error, hint string) *hook.Error {
	return &hook.Error{Kind: kind, Hints: schema.Hints(hint), Err: fmt.Errorf("run directory %s %w", dir, problem)}
}
