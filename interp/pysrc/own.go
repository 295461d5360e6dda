package pysrc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a source file of a plugin. Text is empty if it cannot be read.
type File struct {
	Path, Text string

	code string // rendered
}

// Serves is [LooksServing] of the file's text.
func (f File) Serves() Serves {
	if !mayServe(f.Text) {
		return Serves{}
	}
	return servesOf(f.code)
}

// Limits bound what [Own] reads.
type Limits struct {
	// Files and Bytes are the most files and the bytes of all of them, Lookups is
	// the number of paths that are tried.
	Files, Bytes, Lookups int
	// Generated includes the *_pb2.py files.
	Generated bool
}

// Short takes 10 ms at most, Whole reads as much as a plugin may have.
var (
	Short = Limits{Files: 100, Bytes: 192 << 10, Lookups: 1000}
	Whole = Limits{Files: 1000, Bytes: 32 << 20, Lookups: 20000, Generated: true}
)

// Own reads a script and the plugin's own files that it imports, directly or through
// each other: those that are found from dirs, in which the plugin's own modules lie,
// or beside the file that imports them, since generated code imports its neighbours.
// Every import counts, wherever it stands. others are the absolute imports that were
// not found there, each module once. The script is always the first file.
func Own(script string, dirs []string, most Limits) (files []File, others []Import) {
	script = filepath.Clean(script)
	w := walk{dirs: dirs, most: most, queue: []string{script}, seen: map[string]bool{script: true}, known: map[string]os.FileInfo{}}
	asked := map[string]bool{}
	for len(w.queue) > 0 && len(files) < most.Files {
		path := w.queue[0]
		w.queue = w.queue[1:]
		text, ok := "", false
		if w.most.Bytes > 0 {
			text, ok = Read(path, w.most.Bytes)
		}
		if !ok && len(files) > 0 {
			continue
		}
		file := File{path, text, render(text, quoted)}
		files = append(files, file)
		w.most.Bytes -= len(text)
		for _, imp := range importsOf(file.code) {
			if !w.follow(imp, filepath.Dir(path)) && imp.Level == 0 && !asked[imp.Module] {
				asked[imp.Module] = true
				others = append(others, imp)
			}
		}
	}
	return files, others
}

// walk is the state of [Own].
type walk struct {
	dirs  []string
	most  Limits // what is left of them
	queue []string
	seen  map[string]bool
	known map[string]os.FileInfo // what was looked up; nil: nothing is there
}

// follow queues the files that an import in a file of dir loads, and reports whether
// there are any.
func (w *walk) follow(imp Import, dir string) bool {
	if w.most.Lookups <= 0 {
		return true
	}
	bases := []string{dir}
	if imp.Level == 0 {
		bases = append(slices.Clone(w.dirs), dir)
	}
	top, _, _ := strings.Cut(imp.Module, ".")
	var paths []string
	for _, base := range slices.Compact(bases) {
		if imp.Level == 0 && w.stat(filepath.Join(base, top)) == nil && w.stat(filepath.Join(base, top+".py")) == nil {
			continue
		}
		if paths == nil {
			paths = imp.paths()
		}
		found := false
		for _, path := range paths {
			path = filepath.Join(base, filepath.FromSlash(path))
			info := w.stat(path)
			if info == nil || !info.Mode().IsRegular() {
				continue
			}
			found = true
			if !w.seen[path] && (w.most.Generated || !strings.HasSuffix(path, "_pb2.py")) {
				w.seen[path] = true
				w.queue = append(w.queue, path)
			}
		}
		if found {
			return true
		}
	}
	return false
}

// stat looks up a path once; nil if nothing is there or enough was looked up.
func (w *walk) stat(path string) os.FileInfo {
	info, known := w.known[path]
	if !known && w.most.Lookups > 0 {
		w.most.Lookups--
		info, _ = os.Stat(path) // nil if nothing is there
		w.known[path] = info
	}
	return info
}
