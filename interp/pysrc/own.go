package pysrc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// File is a source file of a plugin. Text is empty if the file cannot be read.
type File struct {
	Path, Text string

	code    string // the rendered text
	imports []Import
}

// Parse parses the text of a file.
func Parse(path, text string) File {
	code := render(text, quoted)
	return File{path, text, code, importsOf(code)}
}

// DefinesFunctions reports whether the file itself defines a public function. It returns false for
// a binary file.
func (f File) DefinesFunctions() bool {
	return !strings.Contains(f.Text, "\x00") && publicFunction().MatchString(f.code)
}

var publicFunction = Expression(`(?m)^(?:async\s+)?def\s+[^_\s]`)

// Limits bounds what [Own] reads.
type Limits struct {
	// Files, Bytes and Imports limit the number of files, their bytes in total, and the number of
	// followed imports.
	Files, Bytes, Imports int
	// Generated includes the *_pb2.py files.
	Generated bool
}

// Short bounds a read that takes at most 10 ms. Whole is enough for any plugin.
var (
	Short = Limits{Files: 100, Bytes: 192 << 10, Imports: 500}
	Whole = Limits{Files: 1000, Bytes: 32 << 20, Imports: 10000, Generated: true}
)

// Own reads a script and the plugin's own files that it imports, directly or indirectly. It looks
// for modules in dirs, in the directories that the files read so far add to the search path, and in
// the directory of the importing file, because generated code imports its neighbors. Imports count
// wherever they are in a file. others lists the absolute imports that Own does not find, each
// module once. The script is always the first file.
func Own(script string, dirs []string, most Limits) (files []File, others []Import) {
	asked := map[string]bool{}
	added := ""
	files = walk([]string{filepath.Clean(script)}, most, func(file File, imp Import) []string {
		if file.Path != added {
			added, dirs = file.Path, append(slices.Clip(dirs), file.SearchPath()...)
		}
		loaded := imp.Find(dirs, filepath.Dir(file.Path))
		if len(loaded) == 0 && imp.Level == 0 && !asked[imp.Module] {
			asked[imp.Module] = true
			others = append(others, imp)
		}
		return loaded
	})
	return files, others
}

// walk reads the files in queue within the limits. For each import that it reads, it calls follow
// and appends the returned files to the queue. If the first file cannot be read, its text is empty.
func walk(queue []string, most Limits, follow func(file File, imp Import) []string) (files []File) {
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
			queue = append(queue, follow(file, imp)...)
		}
	}
	return files
}

// Find lists the files that an import in a file of dir loads. dirs are the directories that are
// searched before dir.
func (i Import) Find(dirs []string, dir string) []string {
	bases := []string{dir}
	if i.Level == 0 {
		bases = slices.Compact(append(slices.Clone(dirs), dir))
	}
	top, _, _ := strings.Cut(i.Module, ".")
	for _, base := range bases {
		if i.Level == 0 && !bounded.Exists(filepath.Join(base, top)) && !bounded.Exists(filepath.Join(base, top+".py")) {
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

// Libraries reads the files of installed packages that the given imports load. Then it reads the
// files that these import from the same packages, until it reaches a limit. It skips gRPC's own
// packages.
func Libraries(dirs []string, imports []Import, most Limits) []File {
	var named []string
	for _, imp := range imports {
		if !imp.isGRPC() {
			named = append(named, imp.Find(dirs, "")...)
		}
	}
	return walk(named, most, func(file File, imp Import) []string {
		dir := filepath.Dir(file.Path)
		if top, _, _ := strings.Cut(imp.Module, "."); imp.Level > 0 || slices.Contains(strings.Split(dir, string(filepath.Separator)), top) {
			return imp.Find(dirs, dir)
		}
		return nil
	})
}

// isGRPC reports whether the import is of gRPC's own packages.
func (i Import) isGRPC() bool {
	return strings.HasPrefix(i.Module, "grpc") || i.Module == "google" || strings.HasPrefix(i.Module, "google.protobuf")
}
