package runner

import (
	"fmt"
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

// looksGRPC reports whether a plugin is one of gRPC, and why: its script, or a file that
// it imports, prints a handshake, and one of them imports gRPC. Its own files are read
// first, then the packages that they import, if its Python has gRPC. A line in that form
// alone may be anything that a function prints, and a server alone one that a test
// starts; what prints its line in a way that [pysrc.LooksServing] cannot see needs
// --transport.
func looksGRPC(python interp.Interpreter, environ []string, entry string) (yes bool, why string) {
	script, printer := scriptOf(entry), ""
	var all pysrc.Serves
	look := func(path string, does pysrc.Serves) bool {
		if all = all.With(does); all.PrintsHandshake && printer == "" {
			printer = path
		}
		return all.PrintsHandshake && all.ImportsGRPC
	}
	files, others := pysrc.Own(script, importDirs(entry), pysrc.Short)
	serves := slices.ContainsFunc(files, func(f pysrc.File) bool { return look(f.Path, f.Serves()) })
	if !serves && len(others) > 0 {
		dirs := python.SearchPath(environ)
		if interp.Locate(dirs, "grpc") == "" && interp.Locate(dirs, "grpclib") == "" {
			return false, ""
		}
		left := mostInstalledBytes
		serves = slices.ContainsFunc(installedFiles(dirs, others, ".py"), func(path string) bool {
			if left <= 0 {
				return false
			}
			text, _ := pysrc.Read(path, min(left, largestInstalled))
			left -= len(text)
			return look(path, pysrc.LooksServing(text).Alone())
		})
	}
	switch {
	case !serves:
		return false, ""
	case printer == script:
		return true, "it imports gRPC and prints a handshake"
	}
	return true, shown(entry, printer) + " prints a handshake"
}

// Bounds of what is read of installed packages.
const (
	largestInstalled   = 32 << 10
	mostInstalledBytes = 128 << 10
	mostInstalled      = 80 // files
	mostOfOne          = 20 // files of one package
)

// installedFiles lists files of the packages that imports name, by the end of their
// names. gRPC's own packages are left out: neither a plugin's start nor its
// descriptors are in them.
func installedFiles(dirs []string, imports []pysrc.Import, ending string) []string {
	var found []string
	for _, imp := range imports {
		top, _, _ := strings.Cut(imp.Module, ".")
		if strings.HasPrefix(top, "grpc") || imp.Module == "google" || strings.HasPrefix(imp.Module, "google.protobuf") {
			continue
		}
		path := interp.Locate(dirs, imp.Module)
		var files []string
		if entries, err := os.ReadDir(path); err == nil && path != "" {
			for _, entry := range entries {
				if strings.HasSuffix(entry.Name(), ending) {
					files = append(files, filepath.Join(path, entry.Name()))
				}
			}
		} else if strings.HasSuffix(path, ending) {
			files = append(files, path)
		}
		found = append(found, files[:min(len(files), mostOfOne)]...)
	}
	return found[:min(len(found), mostInstalled)]
}

// pb2Sources reads the descriptors in the *_pb2.py files that a plugin imports. If they
// describe no service of its own, as where the script extends the search path before it
// imports them, it reads those of the installed packages that it imports, and then all
// below its directory. An error names the file, which Python could not load either.
func pb2Sources(python interp.Interpreter, environ []string, entry string) ([]protoschema.Source, error) {
	r := pb2Reader{entry: entry, seen: map[string]bool{}}
	script := scriptOf(entry)
	files, others := pysrc.Own(script, importDirs(entry), pysrc.Whole)
	for _, file := range files {
		if isPB2(file.Path) {
			if err := r.read(file.Path, file.Text); err != nil {
				return nil, err
			}
		}
	}
	isGenerated := func(imp pysrc.Import) bool {
		return slices.ContainsFunc(append([]string{imp.Module}, imp.Names...), func(name string) bool {
			return strings.HasSuffix(name, "_pb2") || strings.HasSuffix(name, "_pb2_grpc")
		})
	}
	if r.services == 0 || slices.ContainsFunc(others, isGenerated) {
		for _, path := range installedFiles(python.SearchPath(environ), others, "_pb2.py") {
			if text, ok := pysrc.Read(path, 0); ok && !r.seen[path] {
				if err := r.read(path, text); err != nil {
					return nil, err
				}
			}
		}
	}
	if r.services > 0 {
		return r.sources, nil
	}
	imported := len(r.sources)
	for _, path := range pysrc.Files(filepath.Dir(script)) {
		if text, ok := pysrc.Read(path, 0); ok && isPB2(path) && !r.seen[path] {
			_ = r.read(path, text) // nobody says that the file is the plugin's
		}
	}
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
