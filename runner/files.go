package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// fileStamp is what tells that a file changed. The zero one is that of a file that is
// not there.
type fileStamp struct {
	modified int64 // in ns since 1970
	size     int64
}

// stampOf looks at a file, following links.
func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime().UnixNano(), info.Size()}
}

// fileStamps are the stamps of files, by their absolute paths.
type fileStamps map[string]fileStamp

// look takes the stamps of files.
func look(paths []string) fileStamps {
	seen := make(fileStamps, len(paths))
	for _, path := range paths {
		seen[path] = stampOf(path)
	}
	return seen
}

// digest is the same for the same stamps only.
func (s fileStamps) digest() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(h, "%q %d %d\n", path, s[path].modified, s[path].size)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Files lists the plugin's own files, absolute and sorted: what it is started from,
// and, of a functions file, what that imports from the plugin's own directory or below,
// directly or through others; of a gRPC plugin the *.py files of the script's directory
// and below, see [pysrc.Files]. There is always one, which need not be there any more. The session has been prepared.
// Ending ctx leaves it, with what was known before.
func (s *Session) Files(ctx context.Context) []string {
	files, err := hook.Interruptible(ctx, func() ([]string, error) { return s.files(), nil })
	if err != nil {
		return []string{s.plugin.Entry}
	}
	return files
}

func (s *Session) files() []string {
	var files []string
	if s.plugin.Kind != manifest.Package {
		files = append(files, s.plugin.Entry) // a link may be led elsewhere
	}
	scripts, _, dirs := s.Source()
	for _, script := range scripts {
		if s.settings.Transport == "grpc" {
			files = append(append(files, script), pysrc.Files(filepath.Dir(script))...)
			continue
		}
		own, _ := pysrc.Own(script, dirs, pysrc.Whole)
		for _, file := range own {
			files = append(files, file.Path)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// Snapshot is how a plugin's files, its manifest and its interpreter were at one
// time. It never changes and is safe for concurrent use. The zero value knows no
// file.
type Snapshot struct{ seen fileStamps }

// Snapshot looks at the plugin's files. The session has been prepared. The error is of
// kind Canceled, when ctx ended.
func (s *Session) Snapshot(ctx context.Context) (Snapshot, error) {
	return hook.Interruptible(ctx, func() (Snapshot, error) { return Snapshot{look(s.subjects())}, nil })
}

// subjects are the files that a snapshot is of.
func (s *Session) subjects() []string {
	paths := s.files()
	if file := s.plugin.Manifest.File; file != "" {
		paths = append(paths, file)
	}
	if _, python, _ := s.Source(); python.Path != "" {
		paths = append(paths, python.Path)
	}
	return paths
}

// Changed lists the files that are not as they were, absolute and sorted. It looks at
// those that it knows, in a microsecond each: that one more is imported is told by the
// change of the one that does so.
func (p Snapshot) Changed() []string {
	var changed []string
	for path, before := range p.seen {
		if stampOf(path) != before {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// since tells whether a file was changed after a time.
func (p Snapshot) since(t time.Time) bool {
	for _, is := range p.seen {
		if is.modified >= t.UnixNano() {
			return true
		}
	}
	return false
}

// conditions change when a start that failed may come out otherwise: the plugin's
// files, the interpreter, or what is installed for it changed. What is put into a
// package that is there already is not seen.
func (s *Session) conditions() string {
	paths := s.subjects()
	if _, python, own := s.Source(); python.Path != "" {
		for _, dir := range python.SearchPath(s.environ) {
			if !slices.Contains(own, dir) { // its files were looked at
				paths = append(paths, dir)
			}
		}
	}
	return look(paths).digest()
}
