package pysrc

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// LargestFile is the most bytes that [Read] reads of a file. A manifest has at most
// LargestManifest.
const LargestFile, LargestManifest = 4 << 20, 1 << 20

// Bounds of [Files].
const (
	mostFiles   = 2000
	mostEntries = 5000
	deepest     = 6 // directories below the first
)

// Files lists the *.py files in dir and below, sorted by directory: at most 2000, and
// none in hidden directories, environments, __pycache__, node_modules or among
// installed packages.
func Files(dir string) []string {
	var found []string
	entries := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // which returns no other error
		entries++
		switch {
		case entries > mostEntries || len(found) >= mostFiles:
			return fs.SkipAll
		case err != nil:
			return nil // the walk continues without what cannot be read
		case d.IsDir() && path != dir && isForeign(dir, path):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(path, ".py"):
			found = append(found, path)
		}
		return nil
	})
	return found
}

// isForeign reports whether a directory below dir holds no source of its owner or is too deep.
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
