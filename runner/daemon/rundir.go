package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// sharedTemp is a directory that exists in every environment. Tests replace it.
var sharedTemp = "/tmp"

// RunDirs returns the directories that may contain the files of background plugins, the preferred
// one first. If $PYPLUG_RUN_DIR is set, it is the only one. Otherwise they are
// $XDG_RUNTIME_DIR/pyplug, if that variable names a directory of this user, and /tmp/pyplug-UID.
// They need not exist.
//
// A daemon acquires its name in all of them, and a client searches all, because the variable is
// often set in only one of two shells. Package commands/fastcall has the same rule.
func RunDirs() []string {
	if !supported {
		return nil
	}
	if dir := os.Getenv("PYPLUG_RUN_DIR"); dir != "" {
		return []string{dir}
	}
	own := filepath.Join(sharedTemp, "pyplug-"+strconv.Itoa(os.Geteuid()))
	base := os.Getenv("XDG_RUNTIME_DIR")
	// Root in a user's session does not use that user's directory.
	if info, err := os.Stat(base); !filepath.IsAbs(base) || err != nil || !bounded.IsOurs(info) {
		return []string{own}
	}
	return []string{filepath.Join(base, "pyplug"), own}
}

// logDirs returns the directories that may contain logs, the preferred one first. If
// $PYPLUG_RUN_DIR is set, it is the only one. Otherwise they are $XDG_STATE_HOME/pyplug, by default
// ~/.local/state/pyplug, which outlives a reboot, and the run directories, for a user without a
// home directory.
func logDirs() []string {
	dirs := RunDirs()
	if !supported || os.Getenv("PYPLUG_RUN_DIR") != "" {
		return dirs
	}
	state, base := os.Getenv("XDG_STATE_HOME"), os.Getenv("HOME")
	if filepath.IsAbs(state) {
		base = filepath.Dir(state)
	} else {
		state = filepath.Join(base, ".local", "state")
	}
	for _, dir := range []string{state, base} {
		// Root with a user's HOME must not write there, and HOME may be /nonexistent.
		if info, err := os.Stat(dir); err == nil && filepath.IsAbs(dir) && bounded.IsOurs(info) {
			return append([]string{filepath.Join(state, "pyplug")}, dirs...)
		}
	}
	return dirs
}

// LogDir returns the preferred directory for logs, or "" on Windows.
func LogDir() string { return append(logDirs(), "")[0] }

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
// created, because it contains none of this user's plugins. Otherwise its error is skipped.
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
// link, belong to this user and have mode 0700. The error wraps [fs.ErrNotExist] if the directory
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
	case !bounded.IsOurs(info):
		err = fmt.Errorf("belongs to user %d, %w", bounded.Owner(info), errNotOurs)
		if os.Geteuid() == 0 {
			hint = fmt.Sprintf("run pyplug as that user to reach its plugins: sudo -u '#%d' --preserve-env=PYPLUG_RUN_DIR pyplug …", bounded.Owner(info))
		}
	case info.Mode().Perm() != 0o700:
		err = fmt.Errorf("has mode %04o, not 0700", info.Mode().Perm())
		hint = schema.QuoteLine([]string{"chmod", "700", dir}) + ", or set PYPLUG_RUN_DIR to another directory"
	default:
		return nil
	}
	return dirError(hook.Unavailable, dir, err, hint)
}

// makeDir creates a run directory unless it exists, but not its parent, and checks it.
func makeDir(dir string) error {
	if err := checkDir(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := os.Mkdir(dir, 0o700)
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
