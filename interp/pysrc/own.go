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

	code    string // rendered
	imports []Import
}

// Parse looks at the text of a file.
func Parse(path, text string) File {
	code := render(text, quoted)
	return File{path, text, code, importsOf(code)}
}

// Serves looks for what serves in the file. Comments and docstrings do not count.
func (f File) Serves() Serves { return servesOf(f.code, f.imports) }

// Limits bound what [Own] reads.
type Limits struct {
	// Files and Bytes are the most files and the bytes of all of them, Imports is
	// the number of imports that are followed.
	Files, Bytes, Imports int
	// Generated includes the *_pb2.py files.
	Generated bool
}

// Short takes 10 ms at most, Named half of it; Whole reads as much as a plugin may have.
var (
	Short = Limits{Files: 100, Bytes: 192 << 10, Imports: 500}
	Named = Limits{Files: 50, Bytes: 96 << 10, Imports: 250}
	Whole = Limits{Files: 1000, Bytes: 32 << 20, Imports: 10000, Generated: true}
)

// Own reads a script and the plugin's own files that it imports, directly or through
// each other: those that are found from dirs, in which the plugin's own modules lie,
// or beside the file that imports them, since generated code imports its neighbours.
// Every import counts, wherever it stands. others are the absolute imports that were
// not found there, each module once. The script is always the first file.
func Own(script string, dirs []string, most Limits) (files []File, others []Import) {
	asked := map[string]bool{}
	files = walk([]string{filepath.Clean(script)}, most, func(path string, imp Import) []string {
		loaded := imp.find(dirs, filepath.Dir(path))
		if len(loaded) == 0 && imp.Level == 0 && !asked[imp.Module] {
			asked[imp.Module] = true
			others = append(others, imp)
		}
		return loaded
	})
	return files, others
}

// walk reads files, those first that are named, and then those that follow returns for
// each of their imports, within limits. A first file that cannot be read is empty.
func walk(queue []string, most Limits, follow func(path string, imp Import) []string) (files []File) {
	seen := map[string]bool{}
	for len(queue) > 0 && len(files) < most.Files {
		path := queue[0]
		queue = queue[1:]
		if seen[path] || !most.Generated && strings.HasSuffix(path, "_pb2.py") {
			continue
		}
		seen[path] = true
		text, ok := Read(path, most.Bytes)
		if !ok && len(files) > 0 {
			continue
		}
		file := Parse(path, text)
		files = append(files, file)
		most.Bytes -= len(text)
		imports := file.imports[:min(len(file.imports), most.Imports)]
		most.Imports -= len(imports)
		for _, imp := range imports {
			queue = append(queue, follow(path, imp)...)
		}
	}
	return files
}

// find lists the files that an import in a file of dir loads.
func (i Import) find(dirs []string, dir string) []string {
	bases := []string{dir}
	if i.Level == 0 {
		bases = slices.Compact(append(slices.Clone(dirs), dir))
	}
	top, _, _ := strings.Cut(i.Module, ".")
	for _, base := range bases {
		if i.Level == 0 && !exists(filepath.Join(base, top)) && !exists(filepath.Join(base, top+".py")) {
			continue // most imports are of other packages
		}
		var found []string
		for _, path := range i.paths() {
			path = filepath.Join(base, filepath.FromSlash(path))
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				found = append(found, path)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
