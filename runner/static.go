package runner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// What is told of a plugin by its source alone. An entry is that of
// [manifest.Plugin]: a file, or the directory of a package.

// scriptOf is the file that Python runs for an entry; of a link, what it leads to.
func scriptOf(entry string) string {
	if info, err := os.Stat(entry); err == nil && info.IsDir() {
		return filepath.Join(entry, "__main__.py")
	}
	if real, err := filepath.EvalSymlinks(entry); err == nil {
		return real
	}
	return filepath.Clean(entry)
}

// importDirs is the directory from which an entry imports its own, as the first one
// of Python's search path.
func importDirs(entry string) []string {
	if info, err := os.Stat(entry); err == nil && info.IsDir() {
		root, _ := packageIn(entry)
		return []string{root}
	}
	return []string{filepath.Dir(scriptOf(entry))}
}

// packageIn tells how Python imports the package in a directory: from where, and by
// which name, dotted where it is within others.
func packageIn(dir string) (root, name string) {
	root, name = filepath.Dir(dir), filepath.Base(dir)
	for {
		above, outer := filepath.Dir(root), filepath.Base(root)
		if _, err := os.Stat(filepath.Join(root, "__init__.py")); err != nil || above == root || strings.Contains(outer, ".") {
			return root, name // a name with a dot cannot be imported
		}
		root, name = above, outer+"."+name
	}
}

// looksGRPC tells whether a plugin is one of gRPC, and why: its script, or something
// that it imports, prints a handshake, and its script, or something that it imports,
// imports gRPC. A line in that form alone may be anything that a function prints,
// and a server alone one that a test starts; what prints its line in a way that
// [pysrc.Serves] cannot see needs --transport.
//
// Where Python has no gRPC only a script that prints a handshake itself is followed
// further, since no other could serve.
func looksGRPC(m *interp.Modules, entry string) (yes bool, why string) {
	script, printer := scriptOf(entry), ""
	var all pysrc.Hints
	for file := range m.Glance(script) {
		does := pysrc.Serves(file.Text)
		if !file.Own {
			does = does.Alone()
		}
		all = all.Or(does)
		switch {
		case all.PrintsHandshake && printer == "":
			printer = file.Path
		case file.Path == script && !m.Has("grpc") && !m.Has("grpclib"):
			return false, ""
		}
		if all.PrintsHandshake && all.ImportsGRPC {
			break
		}
	}
	switch {
	case !all.PrintsHandshake || !all.ImportsGRPC:
		return false, ""
	case printer == script:
		return true, "it imports gRPC and prints a handshake"
	}
	return true, shown(entry, printer) + " prints a handshake"
}

// pb2Sources reads the descriptors in the *_pb2.py files that a plugin imports.
// When they describe no service of its own, as where the script extends the
// search path before it imports them, all that lie below its directory are read
// too. An error names the file, which Python could not load either.
func pb2Sources(m *interp.Modules, entry string) ([]protoschema.Source, error) {
	r := pb2Reader{entry: entry, seen: map[string]bool{}}
	script := scriptOf(entry)
	for file := range m.Walk(script) {
		if !isPB2(file.Path) {
			continue
		}
		if err := r.read(file.Path, file.Text); err != nil {
			return nil, err
		}
	}
	if r.services > 0 {
		return r.sources, nil
	}
	imported := len(r.sources)
	r.readBelow(filepath.Dir(script))
	return agreeing(r.sources, imported), nil
}

// agreeing leaves out of all but the first certain sources those that disagree
// with an earlier one, such as a stale copy: the nearer to the plugin, the
// earlier.
func agreeing(sources []protoschema.Source, certain int) []protoschema.Source {
	if _, err := protoschema.MergeDescriptors(sources...); err == nil {
		return sources
	}
	depth := func(s protoschema.Source) int { return strings.Count(filepath.ToSlash(s.Name), "/") }
	guessed := slices.Clone(sources[certain:])
	slices.SortStableFunc(guessed, func(a, b protoschema.Source) int { return depth(a) - depth(b) })
	kept := slices.Clone(sources[:certain])
	for _, s := range guessed {
		if _, err := protoschema.MergeDescriptors(append(slices.Clone(kept), s)...); err == nil {
			kept = append(kept, s)
		}
	}
	return kept
}

func isPB2(path string) bool { return strings.HasSuffix(path, "_pb2.py") }

// pb2Reader collects what *_pb2.py files hold.
type pb2Reader struct {
	entry    string          // the plugin's, for the names of sources
	seen     map[string]bool // paths
	sources  []protoschema.Source
	services int
}

// read takes the descriptors out of one file.
func (r *pb2Reader) read(path, text string) error {
	r.seen[path] = true
	name := shown(r.entry, path)
	serialized, err := pysrc.Descriptors(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	source, err := protoschema.ReadFiles(name, serialized...)
	if err != nil {
		return err
	}
	for _, file := range source.Files {
		// The services of go-plugin and gRPC tell nothing about the plugin.
		if pkg := file.GetPackage(); pkg != "plugin" && !strings.HasPrefix(pkg, "grpc.") {
			r.services += len(file.GetService())
		}
	}
	if len(source.Files) > 0 {
		r.sources = append(r.sources, source)
	}
	return nil
}

// Bounds of what is looked at below a plugin's directory, which may be anywhere.
const (
	deepestDir  = 6
	mostEntries = 5000
	mostPB2     = 500
	largestPB2  = 4 << 20
)

// readBelow reads the files in dir and deeper, without those that are hidden or
// belong to an environment. Nobody says that they are the plugin's, so what is
// wrong with one is no error.
func (r *pb2Reader) readBelow(dir string) {
	entries, found := 0, 0
	look := func(path string, d fs.DirEntry, err error) error {
		entries++
		switch {
		case entries > mostEntries || found >= mostPB2:
			return fs.SkipAll
		case err != nil:
			return nil // it cannot be read: the walk goes on without it
		case d.IsDir() && path != dir && foreign(dir, path):
			return fs.SkipDir
		case d.Type().IsRegular() && isPB2(path) && !r.seen[path]:
			found++
			if text, ok := readText(path, d); ok {
				_ = r.read(path, text)
			}
		}
		return nil
	}
	_ = filepath.WalkDir(dir, look) // look returns no error
}

// readText reads a source file of a bearable size.
func readText(path string, d fs.DirEntry) (text string, ok bool) {
	info, err := d.Info()
	if err != nil || info.Size() > largestPB2 {
		return "", false
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	text, err = pysrc.Decode(source)
	return text, err == nil
}

// foreign tells whether a directory below dir is not the plugin's, or too deep.
func foreign(dir, path string) bool {
	name := filepath.Base(path)
	if name[0] == '.' || slices.Contains([]string{"__pycache__", "node_modules", "site-packages", "dist-packages"}, name) {
		return true
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || strings.Count(rel, string(filepath.Separator)) >= deepestDir {
		return true
	}
	_, err = os.Stat(filepath.Join(path, "pyvenv.cfg"))
	return err == nil
}

// shown is a path for messages: as seen from where the entry is, or from where it
// imports its own.
func shown(entry, path string) string {
	for _, dir := range append([]string{filepath.Dir(entry)}, importDirs(entry)...) {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}
