package runner

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
)

// fileStamp changes when a file does. The zero value means that the file does not exist.
type fileStamp struct {
	modified int64 // in ns since 1970
	size     int64
}

// stampOf returns the stamp of a file. It follows links.
func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime().UnixNano(), info.Size()}
}

// stamps maps the absolute paths of files to their stamps at one time.
type stamps map[string]fileStamp

// fileKind says how much a change to a file affects. Each kind includes the effects of the kinds
// before it.
type fileKind int

const (
	packageDir fileKind = iota // a directory of installed packages: a failed start may succeed after a change
	startFile                  // the manifest, the interpreter or a list of installed packages: the running plugin is out of date
	ownFile                    // a file of the plugin: --watch restarts
)

// files tracks the files that affect a plugin. It adds the files that the plugin imports when
// Python reports them. It is safe for concurrent use.
type files struct {
	fixed func() map[string]fileKind // returns the files that are known before the plugin starts
	// list returns the known files of the plugin.
	list func() []string
	// scans reports whether list finds files before the plugin imports them. If so, a file that
	// list did not return before is new. Otherwise it may be old and only imported now.
	scans bool
	stat  func(path string) fileStamp

	mu     sync.Mutex // protects the following
	kinds  map[string]fileKind
	first  stamps    // the stamp of each file when it became known
	listed time.Time // when list was last called

	counting sync.Mutex // protects the following
	last     stamps     // the stamps at the last call of version
	versions int        // the result of version
}

// newFiles returns the files of a plugin. It does not access the file system yet.
func newFiles(r *plan.Plan, t transport) *files {
	return &files{fixed: func() map[string]fileKind { return fixedFiles(r) }, list: t.watched, scans: r.Transport().Serves, stat: stampOf}
}

// fixedFiles returns the files that are known before the plugin starts: the script, the manifest,
// the interpreter and the directories of installed packages. It misses changes inside an installed
// package.
func fixedFiles(r *plan.Plan) map[string]fileKind {
	fixed := map[string]fileKind{}
	scripts, python, dirs := r.Source()
	if python.Path != "" {
		for _, dir := range python.SearchPath(r.Environ) {
			if !slices.Contains(dirs, dir) { // the plugin's own files are listed one by one
				fixed[dir] = packageDir
			}
		}
		fixed[python.Path] = startFile
		if python.Env != "" {
			fixed[r.SyncMarker()] = startFile
		}
	}
	if file := r.Plugin.Manifest.File; file != "" {
		fixed[file] = startFile
	}
	if r.Plugin.Kind != manifest.Package {
		fixed[r.Plugin.Entry] = ownFile // the entry may be a link whose target changes later
	}
	for _, path := range scripts {
		fixed[path] = ownFile
	}
	return fixed
}

// learn adds the files that list newly returns. The caller holds f.mu.
func (f *files) learn() {
	since := f.listed
	f.listed = time.Now()
	if f.kinds == nil {
		f.kinds, f.first = f.fixed(), stamps{}
		for path := range f.kinds {
			f.first[path] = f.stat(path)
		}
	}
	for _, path := range f.list() {
		if _, known := f.first[path]; known {
			continue
		}
		is := f.stat(path)
		if !since.IsZero() && (f.scans || is.modified >= since.UnixNano()) {
			is = fileStamp{} // it is unknown which version was imported, if any
		}
		f.kinds[path], f.first[path] = ownFile, is
	}
}

// look returns the stamps of the files whose kind is from or a later kind, and the sorted paths of
// those that differ from their stamps in before. It compares a file that is not in before with its
// first stamp.
func (f *files) look(from fileKind, before stamps) (now stamps, changed []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.learn()
	now = make(stamps, len(f.kinds))
	for path, kind := range f.kinds {
		if kind < from {
			continue
		}
		was, known := before[path]
		if !known {
			was = f.first[path]
		}
		if now[path] = f.stat(path); now[path] != was {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return now, changed
}

// version returns a number. The number changes when a failed start may succeed, because the
// plugin's files, its manifest, its interpreter or its installed packages have changed.
func (f *files) version() int {
	f.counting.Lock()
	defer f.counting.Unlock()
	now, changed := f.look(packageDir, f.last)
	if f.last = now; len(changed) > 0 {
		f.versions++
	}
	return f.versions
}

// Snapshot is the state of a plugin's files, its manifest and its interpreter at one time. It never
// changes and is safe for concurrent use. The zero value contains no files.
type Snapshot struct {
	files *files
	seen  stamps
}

// Changed returns the absolute paths of the files that have changed since the snapshot, sorted. It
// takes a microsecond for each file. It includes files that a functions file has imported since.
func (s Snapshot) Changed() []string {
	if s.files == nil {
		return nil
	}
	if !s.files.scans {
		_, changed := s.files.look(startFile, s.seen)
		return changed
	}
	var changed []string
	for path, was := range s.seen {
		if s.files.stat(path) != was {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}
