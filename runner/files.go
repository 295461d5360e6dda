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
	"sync"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// fileStamp changes when a file does. The zero value is that of a file that does not
// exist.
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

// changed lists the files that are not as they were, sorted.
func (s fileStamps) changed() []string {
	var changed []string
	for path, before := range s {
		if stampOf(path) != before {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
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
// and what that imports from the plugin's own directory or below. Installed packages
// and the standard library are not among them. There is always one, which may no longer
// exist. Ending ctx ends the search.
func (o *Opened) Files(ctx context.Context) []string {
	files, err := hook.Interruptible(ctx, func() ([]string, error) { return o.ownFiles(), nil })
	if err != nil {
		return []string{o.plugin.Entry}
	}
	return files
}

// ownFiles are, of a functions file, what Python runs and what that imports from the
// plugin's own directory or below; of a gRPC plugin the *.py files of the script's
// directory and below, see [pysrc.Files].
func (o *Opened) ownFiles() []string {
	var files []string
	if o.plugin.Kind != manifest.Package {
		files = append(files, o.plugin.Entry) // a link may be led elsewhere
	}
	scripts, _, dirs := o.Source()
	for _, script := range scripts {
		if o.settings.Transport == "grpc" {
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

// startedFrom lists what decides how a start ends: the plugin's own files, its
// manifest, its interpreter, and the directories from which installed packages are
// imported. What is put into a package that is there already is not seen.
func (o *Opened) startedFrom() (own, others []string) {
	own = o.ownFiles()
	if file := o.plugin.Manifest.File; file != "" {
		others = append(others, file)
	}
	_, python, dirs := o.Source()
	if python.Path == "" {
		return own, others
	}
	others = append(others, python.Path)
	for _, dir := range python.SearchPath(o.environ) {
		if !slices.Contains(dirs, dir) { // its files are among the plugin's own
			others = append(others, dir)
		}
	}
	return own, others
}

// files knows what a plugin is started from. It lists that anew only when something
// that it has seen has changed. It is safe for concurrent use.
type files struct {
	list func() (own, others []string)

	mu   sync.Mutex // protects following
	seen fileStamps // nil: nothing was listed yet
	last string
}

// stamp changes when a failed start may succeed: the plugin's files, its manifest, its
// interpreter or what is installed for it changed.
func (f *files) stamp() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen != nil && len(f.seen.changed()) == 0 {
		return f.last
	}
	own, others := f.list()
	f.seen = look(append(own, others...))
	f.last = f.seen.digest()
	for _, file := range own { // a new file there may be imported
		dir := filepath.Dir(file)
		f.seen[dir] = stampOf(dir)
	}
	return f.last
}

// Snapshot is how a plugin's files, its manifest and its interpreter were at one
// time. It never changes and is safe for concurrent use. The zero value knows no
// file.
type Snapshot struct{ seen fileStamps }

// Snapshot looks at the plugin's files. The error is of kind Canceled, if ctx ended.
func (o *Opened) Snapshot(ctx context.Context) (Snapshot, error) {
	return hook.Interruptible(ctx, func() (Snapshot, error) {
		paths := o.ownFiles()
		if file := o.plugin.Manifest.File; file != "" {
			paths = append(paths, file)
		}
		if _, python, _ := o.Source(); python.Path != "" {
			paths = append(paths, python.Path)
		}
		return Snapshot{look(paths)}, nil
	})
}

// Changed lists the files that are not as they were, absolute and sorted. It looks at
// the files that it knows, in a microsecond each: a file that is imported newly shows
// by the change of the one that imports it.
func (s Snapshot) Changed() []string { return s.seen.changed() }
