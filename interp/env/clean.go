package env

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// Clean removes the environments in a cache that no plugin needs any more, because their source
// is gone or has changed. It keeps those that inUse reports, and those that another process is
// making. It returns the removed directories and their size in bytes. With dryRun it only returns
// what it would remove.
func Clean(cache string, inUse func(dir string) bool, dryRun bool) (removed []string, bytes int64, err error) {
	records := filepath.Join(environments(cache), "plugins")
	files, err := bounded.Dir(records)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	wanted := map[string]bool{}
	for _, f := range files {
		path := filepath.Join(records, f.Name())
		r, _ := readJSON[record](path)
		if found := r.look(cache); found.Stale == "" {
			wanted[found.Dir] = true
		}
		if _, err := os.Stat(string(r.Source)); errors.Is(err, fs.ErrNotExist) && !dryRun {
			_ = os.Remove(path) // otherwise the next start reports that the environment is gone
		}
	}
	entries, err := bounded.Dir(environments(cache))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	for _, e := range entries {
		dir := filepath.Join(environments(cache), e.Name())
		if !e.IsDir() || dir == records || strings.HasSuffix(dir, workSuffix) || wanted[dir] || inUse(dir) {
			continue
		}
		size := sizeOf(dir)
		if !dryRun {
			ok, failed := remove(dir)
			if err = errors.Join(err, failed); !ok {
				continue
			}
		}
		removed, bytes = append(removed, dir), bytes+size
	}
	return removed, bytes, err
}

// remove removes an environment. It returns false if another process makes it. The marker goes
// first, so that half of an environment never looks like a whole one.
func remove(dir string) (ok bool, err error) {
	unlock, err := lockNow(dir + workSuffix + ".lock")
	if unlock == nil || err != nil {
		return false, err
	}
	defer unlock()
	if err = os.Remove(filepath.Join(dir, marker)); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(dir)
	}
	return err == nil, err
}

// sizeOf returns the size of the files below a directory.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
