package interp

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/pysrc"
)

// SourceFile is a file that a script imports, directly or through others.
type SourceFile struct {
	// Path is absolute.
	Path string
	// Text is what [pysrc.Decode] gave.
	Text string
	// Own says that it is the plugin's: in one of the directories that Modules was
	// handed first, or below, and not among installed packages there.
	Own bool
}

// The bounds of every walk. Of what is installed it sees the surface, of each
// package the same little, because a large one has a thousand files and each takes
// a tenth of a millisecond.
const (
	ownLargest   = 4 << 20 // bytes of one file
	otherFiles   = 80
	otherBytes   = 128 << 10
	packageFiles = 20 // of one installed package, so that none keeps others out
	packageBytes = 32 << 10
)

// bounds are those of one kind of walk: how much it reads of the plugin's own, and
// how often it asks whether a file is there. Generated code counts as the plugin's
// own; its descriptors may not be wanted.
type bounds struct {
	files, bytes, lookups int
	descriptors           bool
	own                   bool // nothing else is followed
}

var (
	whole  = bounds{files: 1000, bytes: 32 << 20, lookups: 20000, descriptors: true}
	glance = bounds{files: 100, bytes: 192 << 10, lookups: 1000}
	owned  = bounds{files: 1000, bytes: 32 << 20, lookups: 20000, descriptors: true, own: true}
)

// passed are packages that are never followed: they are large, and neither a
// plugin's start nor its descriptors are in them.
var passed = []string{
	"grpc", "grpc_channelz", "grpc_csds", "grpc_health", "grpc_observability", "grpc_reflection", "grpc_status",
	"grpc_testing", "grpc_tools", "grpclib", "google.protobuf",
}

// Walk yields the file entry, then those that it imports, then those that they
// import, and so on, as far as bounds allow: 1000 files of the plugin's own, and a
// few of each installed package. Every import counts, wherever it stands. The
// libraries of gRPC are left out, and so are files that cannot be read, that are
// no text, or that are larger than 4 MiB.
//
// What is nowhere on the search path is looked for in the directory of the file
// that imports it, if that is the plugin's own or generated: generated code
// imports its neighbours so, and whoever uses it adds that directory to the path
// when the program runs.
func (m *Modules) Walk(entry string) iter.Seq[SourceFile] { return m.within(whole, entry) }

// Glance is a Walk that takes 10 ms at most, however much there is: of the plugin's
// own it yields 100 files and 192 KiB in all, and no *_pb2.py.
func (m *Modules) Glance(entry string) iter.Seq[SourceFile] { return m.within(glance, entry) }

// WalkOwn is a Walk of the plugin's own files alone. It also yields those that cannot
// be read, without a text, and the entry even when there is none.
func (m *Modules) WalkOwn(entry string) iter.Seq[SourceFile] { return m.within(owned, entry) }

func (m *Modules) within(most bounds, entry string) iter.Seq[SourceFile] {
	return func(yield func(SourceFile) bool) {
		w := walk{Modules: m, most: most, seen: map[string]bool{}, held: map[string][]place{}, parts: map[string]amount{},
			lookups: lookups{known: map[string]fs.FileMode{}, left: most.lookups}}
		w.push(filepath.Clean(entry), "")
		for len(w.queue) > 0 {
			next := w.queue[0]
			w.queue = w.queue[1:]
			text, ok := w.read(next)
			if !ok && !most.own {
				continue
			}
			if !yield(SourceFile{Path: next.path, Text: text, Own: next.part == ""}) {
				return
			}
			for _, imp := range pysrc.Imports(text) {
				w.follow(imp, next)
			}
		}
	}
}

// walk is one walk.
type walk struct {
	*Modules
	lookups
	most  bounds
	queue []stop
	seen  map[string]bool
	held  map[string][]place // what holding said
	own   amount             // what was read of the plugin's own
	other amount             // and of what is installed
	parts map[string]amount  // each package of that: files that were queued, bytes that were read
}

type amount struct{ files, bytes int }

// stop is a file to be read. part is the top-level package that it is of, empty
// for the plugin's own.
type stop struct{ path, part string }

// follow queues the files that an import in the file from may load.
func (w *walk) follow(imp pysrc.Import, from stop) {
	if w.left <= 0 {
		return
	}
	imp.Names = imp.Names[:min(len(imp.Names), w.left)]
	if imp.Level > 0 {
		if w.wants(imp, from.part) {
			found, _ := w.files(imp, from.path, true)
			w.pushAll(found, from.part)
		}
		return
	}
	top, _, _ := strings.Cut(imp.Module, ".")
	if top == "" || !w.wants(imp, top) || slices.ContainsFunc(passed, func(p string) bool {
		return imp.Module == p || strings.HasPrefix(imp.Module, p+".")
	}) {
		return
	}
	found, beside := w.files(imp, from.path, from.part == "" || generated(from.path))
	if beside {
		w.pushAll(found, from.part)
		return
	}
	for _, path := range found {
		w.push(path, w.partOf(path, top))
	}
}

// files are those that an import in the file from may load, and whether an
// absolute one was found nowhere but beside that file, if that is looked at.
func (w *walk) files(imp pysrc.Import, from string, lookBeside bool) (found []string, beside bool) {
	near := []place{{placeName: placeName{dir: filepath.Dir(from)}}}
	if imp.Level > 0 {
		return w.find(imp, near), false
	}
	top, _, _ := strings.Cut(imp.Module, ".")
	places, known := w.held[top]
	if !known {
		places = w.holding(top)
		w.held[top] = places
	}
	if found = w.find(imp, places); len(found) > 0 || !lookBeside {
		return found, false
	}
	return w.find(imp, near), true
}

// wants tells whether more is to be seen of a package, before it is looked for.
func (w *walk) wants(imp pysrc.Import, part string) bool {
	return w.parts[part].files < packageFiles || asksForGenerated(imp)
}

func (w *walk) pushAll(paths []string, part string) {
	for _, path := range paths {
		w.push(path, part)
	}
}

// push queues a file, once, and of an installed package no more than a few.
func (w *walk) push(path, part string) {
	if w.seen[path] || w.most.own && part != "" || !w.most.descriptors && strings.HasSuffix(path, "_pb2.py") {
		return
	}
	if part != "" && !generated(path) {
		sum := w.parts[part]
		if sum.files++; sum.files > packageFiles {
			return
		}
		w.parts[part] = sum
	}
	w.seen[path] = true
	w.queue = append(w.queue, stop{path, part})
}

// partOf is the package that a file of the top-level name is of: none when it is
// the plugin's own.
func (m *Modules) partOf(path, top string) string {
	for _, dir := range m.first {
		if !isWithin(dir, path) {
			continue
		}
		rel, _ := filepath.Rel(filepath.Dir(dir), path) // dir may itself be one of installed packages
		names := strings.Split(rel, string(filepath.Separator))
		if !slices.Contains(names, "site-packages") && !slices.Contains(names, "dist-packages") {
			return ""
		}
	}
	return top
}

// generated tells whether protoc has written a file, by its name.
func generated(path string) bool {
	return asksForGenerated(pysrc.Import{Module: strings.TrimSuffix(path, ".py")})
}

// asksForGenerated tells whether an import is of what protoc has written.
func asksForGenerated(imp pysrc.Import) bool {
	is := func(name string) bool { return strings.HasSuffix(name, "_pb2") || strings.HasSuffix(name, "_pb2_grpc") }
	return is(imp.Module) || slices.ContainsFunc(imp.Names, is)
}

// read reads a file, if enough is left of the bounds.
func (w *walk) read(s stop) (text string, ok bool) {
	sum, most := &w.own, amount{w.most.files, min(ownLargest, w.most.bytes-w.own.bytes)}
	installed := s.part != "" && !generated(s.path)
	if installed {
		sum, most = &w.other, amount{otherFiles, min(packageBytes-w.parts[s.part].bytes, otherBytes-w.other.bytes)}
	}
	if sum.files >= most.files {
		return "", false
	}
	source, ok := readSource(s.path, most.bytes)
	if !ok {
		return "", false
	}
	sum.files++
	sum.bytes += len(source)
	if installed {
		part := w.parts[s.part]
		part.bytes += len(source)
		w.parts[s.part] = part
	}
	text, err := pysrc.Decode(source)
	return text, err == nil
}

// readSource reads a regular file of at most so many bytes.
func readSource(path string, most int) ([]byte, bool) {
	info, err := os.Stat(path) // before it is opened, which would wait for a pipe's writer
	if err != nil || !info.Mode().IsRegular() || info.Size() > int64(most) {
		return nil, false
	}
	text, err := readHead(path, int64(most))
	return []byte(text), err == nil
}
