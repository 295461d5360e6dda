package proc

import (
	"fmt"
	"os"
	"runtime"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// TempDir returns a directory for this pyplug's temporary files, which nobody else
// can read. It creates it on first use. [Close] removes it with its content, or, if
// pyplug is killed, the guard does.
func TempDir() (string, error) { return running.tempIn(os.TempDir()) }

// ShortTempDir returns TempDir if its path has at most maxLen bytes, else such a
// directory in /tmp: a long TMPDIR leaves no room for the name of a socket.
func ShortTempDir(maxLen int) (string, error) {
	dir, err := TempDir()
	if err != nil || len(dir) <= maxLen || runtime.GOOS == "windows" {
		return dir, err
	}
	short, err := running.tempIn("/tmp")
	if err != nil {
		return "", fmt.Errorf("%s is too long, and there is no shorter one: %w", dir, err)
	}
	return short, nil
}

func (r *registry) tempIn(parent string) (string, error) {
	r.guardMu.Lock()
	defer r.guardMu.Unlock()
	dir := r.temp[parent]
	if info, err := os.Lstat(dir); dir != "" && err == nil && info.IsDir() {
		return dir, nil
	}
	dir, err := os.MkdirTemp(parent, "pyplug-") // mode 0700
	if err != nil {
		return "", fmt.Errorf("temporary directory: %w", err)
	}
	r.temp[parent] = dir
	if r.guard.alive() {
		r.guard.send(guard.Temp + dir)
	} else {
		r.ensureGuard() // now, and not after the first process: pyplug may be killed by then
	}
	return dir, nil
}
