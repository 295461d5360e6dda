package pysrc

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// LargestFile is the size in bytes of the largest file that [Read] reads. LargestManifest is the
// limit for a manifest.
const LargestFile, LargestManifest = 4 << 20, 1 << 20

// Limits of [Files].
const (
	maxFiles   = 2000
	maxEntries = 5000
	deepest    = 6 // levels of directories below dir
)

// Files lists at most 2000 *.py files in dir and below, sorted by directory. It skips hidden
// directories, environments, __pycache__, node_modules and installed packages.
func Files(dir string) []string {
	var found []string
	entries := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // WalkDir returns no other error
		entries++
		switch {
		case entries > maxEntries || len(found) >= maxFiles:
			return fs.SkipAll
		case err != nil:
			return nil // skip unreadable directories and continue
		case d.IsDir() && path != dir && isForeign(dir, path):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(path, ".py"):
			found = append(found, path)
		}
		return nil
	})
	return found
}

// isForeign reports whether Files skips a directory below dir, because it is hidden, a cache,
// an environment or a directory of packages, or because it is too deep.
func isForeign(dir, path string) bool {
	name := filepath.Base(path)
	if name[0] == '.' || slices.Contains([]string{"__pycache__", "node_modules", "site-packages", "dist-packages"}, name) {
		return true
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || strings.Count(rel, string(filepath.Separator)) >= deepest {
		return true
	}
	_, err = os.Stat(filepath.Join(path, "pyvenv.cfg"))
	return err == nil
}

// Read returns the text of a regular file of at most limit bytes and at most 4 MiB. ok is false
// if the file is larger or cannot be read.
func Read(path string, limit int) (text string, ok bool) {
	source, _, err := bounded.Read(path, int64(min(limit, LargestFile)))
	return Decode(source), err == nil
}
