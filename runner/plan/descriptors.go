package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// DescribedBy reads the files of --proto and --protoset.
func DescribedBy(c Config) ([]protoschema.Source, error) {
	var sources []protoschema.Source
	for i, name := range slices.Concat(c.Protoset, c.Proto) {
		var source protoschema.Source
		content, err := os.ReadFile(InDir(c.Cwd, name))
		switch {
		case err != nil:
		case i < len(c.Protoset):
			source, err = protoschema.ReadProtoset(name, content)
		case !isPB2(name):
			err = notGenerated(name)
		default:
			if source, err = readPB2(name, pysrc.Decode(content)); err == nil && len(source.Files) == 0 {
				err = fmt.Errorf("%s: no descriptor, expected code that protoc generated", name)
			}
		}
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// notGenerated returns the error for a file of --proto that is not generated code. For a .proto
// file its hint is the command that compiles it.
func notGenerated(name string) error {
	e := hook.NewError(hook.Usage, fmt.Errorf("%s is not code that protoc generated, expected a *_pb2.py", name))
	if base, isSource := strings.CutSuffix(name, ".proto"); isSource {
		set := base + ".pb"
		line := []string{"python", "-m", "grpc_tools.protoc", "-I" + filepath.Dir(name), "--include_imports", "-o", set, name}
		e.Hints = schema.Hints("run `%s`, then pass %s %s", schema.QuoteLine(line), schema.Setting("protoset"), schema.QuoteLine([]string{set}))
	}
	return e
}

// PB2Sources reads the descriptors in the *_pb2.py files that a plugin imports. They may describe
// no service, for example because the script extends the search path before it imports them. In
// this case, or if the plugin uses an SDK, PB2Sources also reads the installed packages that the
// plugin imports. If these describe no service either, it reads all files below the plugin's
// directory. An error names a file that Python could not load either.
func (r *Plan) PB2Sources() ([]protoschema.Source, error) {
	found := pb2Reader{shown: r.Shown, seen: map[string]bool{}}
	files, others := pysrc.Own(r.Script, r.Dirs, pysrc.Whole)
	for _, file := range files {
		if err := found.read(file.Path, file.Text); err != nil {
			return nil, err
		}
	}
	isGenerated := func(imp pysrc.Import) bool {
		return slices.ContainsFunc(append([]string{imp.Module}, imp.Names...), func(name string) bool {
			return strings.HasSuffix(name, "_pb2") || strings.HasSuffix(name, "_pb2_grpc")
		})
	}
	imported := len(found.sources) // Python may never load the files after these
	if found.services == 0 || slices.ContainsFunc(others, isGenerated) || pysrc.ServesOf(files).SDK != "" {
		for _, file := range pysrc.Libraries(r.Python.SearchPath(r.Environ), others, pysrc.Whole) {
			_ = found.read(file.Path, file.Text)
		}
	}
	if found.services == 0 {
		for _, path := range pysrc.Files(filepath.Dir(r.Script)) {
			text, _ := pysrc.Read(path, pysrc.LargestFile) // empty if it cannot be read
			_ = found.read(path, text)
		}
	}
	if _, err := protoschema.MergeDescriptors(found.sources...); err != nil { // for example because of a stale copy
		return found.sources[:imported], nil
	}
	return found.sources, nil
}

// ShownCookie returns the magic cookie that the plugin's own files contain.
func (r *Plan) ShownCookie() (key, value string) {
	files, _ := pysrc.Own(r.Script, r.Dirs, pysrc.Short)
	return pysrc.Cookie(files)
}

// SetsUpLogging reports whether the plugin's own files set up logging.
func (r *Plan) SetsUpLogging() bool {
	files, _ := pysrc.Own(r.Script, r.Dirs, pysrc.Short)
	return pysrc.SetsUpLogging(files)
}

// readPB2 reads the descriptors in generated code.
func readPB2(name, text string) (protoschema.Source, error) {
	serialized, err := pysrc.Descriptors(text)
	if err != nil {
		return protoschema.Source{}, fmt.Errorf("%s: %w", name, err)
	}
	return protoschema.ReadFiles(name, serialized...)
}

func isPB2(path string) bool { return strings.HasSuffix(path, "_pb2.py") }

// pb2Reader collects the descriptors of *_pb2.py files.
type pb2Reader struct {
	shown    func(path string) string // formats the names of sources
	seen     map[string]bool          // paths that were read
	sources  []protoschema.Source
	services int
}

// read reads the descriptors of a file if it is generated code that was not read before.
func (r *pb2Reader) read(path, text string) error {
	if r.seen[path] || !isPB2(path) {
		return nil
	}
	r.seen[path] = true
	source, err := readPB2(r.shown(path), text)
	if err != nil {
		return err
	}
	for _, file := range source.Files {
		// The services of go-plugin and gRPC say nothing about the plugin.
		if pkg := file.GetPackage(); pkg != "plugin" && !strings.HasPrefix(pkg, "grpc.") {
			r.services += len(file.GetService())
		}
	}
	if len(source.Files) > 0 {
		r.sources = append(r.sources, source)
	}
	return nil
}
