package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/pysrc"
)

// The bounds of what is read of a plugin, which may have any size.
const (
	mostFiles   = 1000
	mostSource  = 32 << 20
	largestFile = 4 << 20
	largestGen  = 256 << 10 // of a generated file that is compiled
	mostWants   = 2000
)

// sourceFile is a file that the plugin loads.
type sourceFile struct {
	path, text string
	// own: it is the plugin's, and not a library's.
	own bool
	// hard: loading the plugin cannot succeed without it.
	hard bool
	size int64
}

// generated tells whether protoc has written it, by its name.
func (f *sourceFile) generated() bool {
	return strings.HasSuffix(f.path, "_pb2.py") || strings.HasSuffix(f.path, "_pb2_grpc.py")
}

// compiles tells whether it is to be compiled. Large generated code takes long, and
// nobody writes mistakes into it.
func (f *sourceFile) compiles() bool { return f.own && !(f.generated() && f.size > largestGen) }

// want is a module that an import asks for.
type want struct {
	// module is its dotted name. With a dir it is relative to that directory.
	module, dir string
	names       []string // that are taken out of it
	// hard: loading the plugin cannot succeed without it.
	hard bool
	file string
	line int
}

// question is what source.py is asked about it.
func (w *want) question() string {
	if w.dir != "" {
		return relativeWord + w.module + ":" + strings.Join(w.names, ",") + ":" + w.dir
	}
	return moduleWord + w.module + ":" + strings.Join(w.names, ",")
}

// sourceTree is what a plugin loads: its own files and the generated ones that
// they need, in the order in which they are reached, what cannot be done without
// first.
type sourceTree struct {
	modules *interp.Modules
	search  *interp.Search
	order   []*sourceFile
	files   map[string]*sourceFile
	wants   []*want
	wanted  map[string]*want // by their questions
	// altered: the plugin changes where Python finds modules.
	altered bool
	bytes   int64
	hard    []string // still to be read
	soft    []string
}

// readTree reads the scripts and what they load.
func readTree(r sourceRequest) *sourceTree {
	t := &sourceTree{modules: r.Modules, search: r.Modules.Search(), files: map[string]*sourceFile{}, wanted: map[string]*want{}}
	for _, script := range r.Scripts {
		t.hard = append(t.hard, filepath.Clean(script))
	}
	for len(t.hard)+len(t.soft) > 0 {
		from, hard := &t.hard, true
		if len(t.hard) == 0 {
			from, hard = &t.soft, false
		}
		path := (*from)[0]
		*from = (*from)[1:]
		t.read(path, hard, slices.Contains(r.Scripts, path))
	}
	return t
}

// read reads a file that was not read yet, and what it imports.
func (t *sourceTree) read(path string, hard, script bool) {
	if t.files[path] != nil || len(t.files) >= mostFiles {
		return
	}
	f := &sourceFile{path: path, hard: hard, own: script || t.modules.Owns(path)}
	t.files[path] = f
	info, err := os.Stat(path) // before it is opened, which would wait for a pipe's writer
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestFile || t.bytes+info.Size() > mostSource {
		return
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return
	}
	f.size = int64(len(source))
	t.bytes += f.size
	t.order = append(t.order, f)
	if f.text, err = pysrc.Decode(source); err != nil {
		return // the interpreter has the words for it
	}
	if f.own && !t.altered {
		t.altered = pysrc.AltersPath(f.text)
	}
	for _, imp := range pysrc.Imports(f.text) {
		t.follow(imp, f)
		if f.own && !imp.Guarded {
			t.want(imp, f)
		}
	}
}

// libraries are packages whose generated code is looked at too: their releases
// come with their own, and few keep them in step with protobuf.
var libraries = []string{"grpc_channelz", "grpc_health", "grpc_reflection", "grpc_status"}

// follow queues what an import in f loads: the plugin's own files, and what leads
// to generated code.
func (t *sourceTree) follow(imp pysrc.Import, f *sourceFile) {
	plain := imp
	plain.Names = nil
	loaded := onlyPackages(t.search.Files(plain, f.path))
	hard := f.hard && imp.Hard()
	for _, path := range loaded {
		t.push(path, f, hard)
	}
	init := ""
	if n := len(loaded); n > 0 && filepath.Base(loaded[n-1]) == "__init__.py" {
		init = t.textOf(loaded[n-1])
	}
	for _, path := range onlyPackages(t.search.Files(imp, f.path)) {
		if !slices.Contains(loaded, path) {
			t.push(path, f, hard && !mayDefine(init, moduleName(path)))
		}
	}
}

// push queues a file if it is one of those that are looked at.
func (t *sourceTree) push(path string, from *sourceFile, hard bool) {
	file := &sourceFile{path: path}
	within := func(name string) bool {
		return strings.Contains(filepath.ToSlash(path), "-packages/"+name+"/")
	}
	switch {
	case t.modules.Owns(path), slices.ContainsFunc(libraries, within), from.own && file.generated():
	default:
		return
	}
	if hard {
		t.hard = append(t.hard, path)
	} else {
		t.soft = append(t.soft, path)
	}
}

// onlyPackages leaves out the modules that are beside a package of their name,
// which hides them.
func onlyPackages(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		stem, ok := strings.CutSuffix(path, ".py")
		return ok && slices.Contains(paths, filepath.Join(stem, "__init__.py"))
	})
}

// moduleName is the last part of a module's name, by its file.
func moduleName(path string) string {
	if filepath.Base(path) == "__init__.py" {
		return filepath.Base(filepath.Dir(path))
	}
	return strings.TrimSuffix(filepath.Base(path), ".py")
}

// textOf is the text of a file that may not have been read yet.
func (t *sourceTree) textOf(path string) string {
	if f := t.files[path]; f != nil {
		return f.text
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestFile {
		return ""
	}
	source, _ := os.ReadFile(path)  // one that cannot be read defines nothing
	text, _ := pysrc.Decode(source) // nor does one that is no text
	return text
}

// mayDefine tells whether a package's __init__.py may define a name itself, so that
// no module of that name is needed.
func mayDefine(init, name string) bool {
	return slices.ContainsFunc([]string{name, "*", "__getattr__", "globals", "locals", "vars", "exec", "setattr", "sys.modules"},
		func(word string) bool { return strings.Contains(init, word) })
}

// want notes what an import in f asks for, once for each module.
func (t *sourceTree) want(imp pysrc.Import, f *sourceFile) {
	names := slices.DeleteFunc(slices.Clone(imp.Names), func(n string) bool { return n == "*" || strings.HasPrefix(n, "__") })
	w := want{module: imp.Module, names: names, hard: f.hard && imp.Hard(), file: f.path, line: imp.Line}
	if imp.Level == 0 {
		t.note(w)
		return
	}
	w.dir = filepath.Dir(f.path)
	for range imp.Level - 1 {
		w.dir = filepath.Dir(w.dir)
	}
	init := filepath.Join(w.dir, "__init__.py")
	if info, err := os.Stat(init); err != nil || !info.Mode().IsRegular() {
		w.hard = false // its other parts may be anywhere
	}
	if imp.Module != "" {
		t.note(w)
		return
	}
	text := t.textOf(init)
	for _, name := range names {
		if one := w; !mayDefine(text, name) {
			one.module, one.names = name, nil
			t.note(one)
		}
	}
}

func (t *sourceTree) note(w want) {
	q := w.question()
	if known := t.wanted[q]; known != nil {
		if w.hard && !known.hard {
			*known = w
		}
		return
	}
	if len(t.wants) >= mostWants {
		return
	}
	t.wanted[q] = &w
	t.wants = append(t.wants, &w)
}
