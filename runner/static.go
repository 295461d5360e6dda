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

// scriptOf is the file that Python runs for an entry.
func scriptOf(entry string) string {
	if info, err := os.Stat(entry); err == nil && info.IsDir() {
		return filepath.Join(entry, "__main__.py")
	}
	return filepath.Clean(entry)
}

// importDirs are the directories from which an entry imports its own: the one
// that it is in and, for a link, that of what it leads to, which is the one that
// Python itself takes.
func importDirs(entry string) []string {
	dirs := []string{filepath.Dir(entry)}
	if real, err := filepath.EvalSymlinks(entry); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}

// looksGRPC tells whether a plugin is one of gRPC, and why:
//
//   - its script makes a server, which needs gRPC and nothing else does,
//   - its script prints a handshake, and it or something that it imports imports
//     gRPC: a line in that form alone may be anything that a function prints,
//   - something that it imports prints a handshake: a plugin's SDK. That an import
//     makes servers tells nothing, since libraries do so for many reasons.
//
// Where Python has no gRPC an SDK is not looked for, since it could not serve; and
// of many files only the first are read, because every functions file pays for it.
func looksGRPC(m *interp.Modules, entry string) (yes bool, why string) {
	const most = 200
	script, seen := scriptOf(entry), 0
	var own pysrc.Hints // what the script itself does
	for file := range m.Walk(script) {
		if seen++; seen > most {
			break
		}
		if file.Path == script {
			own = pysrc.Serves(file.Text)
			if why := deeds(own); why != "" {
				return true, why
			}
			if !own.PrintsHandshake && !m.Has("grpc") && !m.Has("grpclib") {
				break
			}
			continue
		}
		if !own.PrintsHandshake && !mayShake(file.Text) {
			continue
		}
		switch does := pysrc.Serves(file.Text); {
		case own.PrintsHandshake && does.ImportsGRPC:
			return true, deeds(own.Or(does))
		case does.PrintsHandshake:
			return true, shown(importDirs(entry), file.Path) + " prints a handshake"
		}
	}
	return false, ""
}

// deeds says in words what makes a script a plugin of gRPC, empty when nothing does.
func deeds(h pysrc.Hints) string {
	switch {
	case h.MakesServer && h.PrintsHandshake:
		return "it makes a gRPC server and prints a handshake"
	case h.MakesServer:
		return "it makes a gRPC server"
	case h.PrintsHandshake && h.ImportsGRPC:
		return "it imports gRPC and prints a handshake"
	}
	return ""
}

// mayShake tells quickly of most files that they print no handshake: what every
// form of its line has is not there.
func mayShake(text string) bool {
	return strings.Contains(text, "|") && slices.ContainsFunc([]string{"grpc", "netrpc", "|tcp|", "|unix|"},
		func(part string) bool { return strings.Contains(text, part) })
}

// pb2Sources reads the descriptors in the *_pb2.py files that a plugin imports.
// When they describe no service of its own, as where the script extends the
// search path before it imports them, all that lie below its directory are read
// too. An error names the file, which Python could not load either.
func pb2Sources(m *interp.Modules, entry string) ([]protoschema.Source, error) {
	r := pb2Reader{dirs: importDirs(entry), seen: map[string]bool{}}
	script := scriptOf(entry)
	for file := range m.Walk(script) {
		if !isPB2(file.Path) {
			continue
		}
		if err := r.read(file.Path, file.Text); err != nil {
			return nil, err
		}
	}
	if r.services == 0 {
		for _, dir := range importDirs(script) {
			r.readBelow(dir)
		}
	}
	return r.sources, nil
}

func isPB2(path string) bool { return strings.HasSuffix(path, "_pb2.py") }

// pb2Reader collects what *_pb2.py files hold.
type pb2Reader struct {
	dirs     []string        // the plugin's, for the names of sources
	seen     map[string]bool // paths
	sources  []protoschema.Source
	services int
}

// read takes the descriptors out of one file.
func (r *pb2Reader) read(path, text string) error {
	r.seen[path] = true
	name := shown(r.dirs, path)
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

// shown is a path for messages: as seen from the first of the directories that it
// is in.
func shown(dirs []string, path string) string {
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}
