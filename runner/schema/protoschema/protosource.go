package protoschema

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// ProtoError says why a .proto source cannot be compiled.
type ProtoError struct {
	// Place is the file, with line and column where those are known.
	Place string
	// Missing are the imports that were not found.
	Missing []string
	Err     error
}

// Error names the place, and the imports that were not found when a name is
// undefined without them.
func (e *ProtoError) Error() string {
	text := e.Place + ": " + cleanProto(e.Err)
	if len(e.Missing) > 0 {
		text += "; import not found: " + strings.Join(e.Missing, ", ")
	}
	return text
}

// Unwrap returns the cause.
func (e *ProtoError) Unwrap() error { return e.Err }

// CompileProto compiles .proto sources. The names are relative to one of the
// import paths, or files; of a file outside the import paths the directory
// becomes one, the last. An import that is not found is tolerated when it is
// imported for its options alone. Files are read by read, never by two
// goroutines at once; an error of it that is [fs.ErrNotExist] means look
// elsewhere. Errors are [*ProtoError].
func CompileProto(paths, names []string, read func(name string) ([]byte, error)) (Source, error) {
	c := protoCompiler{paths: slices.Clone(paths), read: read, missing: map[string]bool{}}
	if len(c.paths) == 0 {
		c.paths = []string{"."}
	}
	relative := make([]string, 0, len(names))
	for _, name := range names {
		found, err := c.locate(name)
		if err != nil {
			return Source{}, &ProtoError{Place: name, Err: err}
		}
		relative = append(relative, found)
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.ResolverFunc(c.resolve), SourceInfoMode: protocompile.SourceInfoStandard,
		MaxParallelism: 1,
	}
	files, err := compiler.Compile(context.Background(), relative...)
	if err != nil {
		return Source{}, c.fault(err)
	}
	s := Source{Name: strings.Join(names, ", ")}
	seen := map[string]bool{}
	for _, file := range files {
		c.collect(file, seen, &s)
	}
	return s, nil
}

// protoCompiler finds the sources of one compilation.
type protoCompiler struct {
	paths []string
	read  func(string) ([]byte, error)

	mu      sync.Mutex
	missing map[string]bool
}

// locate says what name is called relative to an import path.
func (c *protoCompiler) locate(name string) (string, error) {
	slashed := path.Clean(filepath.ToSlash(name))
	for _, dir := range c.paths {
		dir = path.Clean(filepath.ToSlash(dir))
		rest, inside := strings.CutPrefix(slashed, dir+"/")
		if dir != "." && inside {
			return rest, nil
		}
	}
	_, err := c.open(slashed)
	if err == nil && !path.IsAbs(slashed) && !strings.HasPrefix(slashed, "../") {
		return slashed, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := c.read(name); err != nil {
		return "", err
	}
	c.paths = append(c.paths, filepath.Dir(name))
	return path.Base(slashed), nil
}

// open reads a file from the first import path that has it.
func (c *protoCompiler) open(name string) ([]byte, error) {
	var err error
	for _, dir := range c.paths {
		var content []byte
		if content, err = c.read(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return content, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, err
}

var standardImports = protocompile.WithStandardImports(protocompile.ResolverFunc(
	func(string) (protocompile.SearchResult, error) {
		return protocompile.SearchResult{}, protoregistry.NotFound
	}))

// resolve finds one file for the compiler, which may ask for several at once.
func (c *protoCompiler) resolve(name string) (protocompile.SearchResult, error) {
	if found, err := standardImports.FindFileByPath(name); err == nil {
		return found, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	content, err := c.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		c.missing[name] = true
		return protocompile.SearchResult{Proto: &descriptorpb.FileDescriptorProto{Name: &name}}, nil
	}
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	handler := reporter.NewHandler(nil)
	tree, err := parser.Parse(name, bytes.NewReader(content), handler)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	if !c.lacksImport(tree) {
		return protocompile.SearchResult{AST: tree}, nil
	}
	result, err := parser.ResultFromAST(tree, true, handler)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	dropCustomOptions(result.FileDescriptorProto().ProtoReflect())
	return protocompile.SearchResult{ParseResult: result}, nil
}

// lacksImport tells whether a file imports what is not there.
func (c *protoCompiler) lacksImport(tree *ast.FileNode) bool {
	for _, d := range tree.Decls {
		imported, ok := d.(*ast.ImportNode)
		if !ok {
			continue
		}
		name := imported.Name.AsString()
		if _, err := standardImports.FindFileByPath(name); err == nil {
			continue
		}
		if _, err := c.open(name); errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// dropCustomOptions forgets the options that extensions define, in a
// descriptor and all in it: what defines them may be in the missing import.
func dropCustomOptions(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.Name() == "uninterpreted_option":
			list := v.List()
			kept := 0
			for i := range list.Len() {
				option := list.Get(i).Message().Interface().(*descriptorpb.UninterpretedOption)
				if parts := option.GetName(); len(parts) == 0 || !parts[0].GetIsExtension() {
					list.Set(kept, list.Get(i))
					kept++
				}
			}
			list.Truncate(kept)
		case field.IsList():
			for i := range v.List().Len() {
				dropCustomOptions(v.List().Get(i).Message())
			}
		default:
			dropCustomOptions(v.Message())
		}
		return true
	})
}

// collect adds a file and its imports, imports first.
func (c *protoCompiler) collect(file protoreflect.FileDescriptor, seen map[string]bool, s *Source) {
	if seen[file.Path()] || isBuiltin(file.Path()) || c.missing[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		c.collect(file.Imports().Get(i).FileDescriptor, seen, s)
	}
	s.Files = append(s.Files, proto.Clone(protoutil.ProtoFromFileDescriptor(file)).(*descriptorpb.FileDescriptorProto))
}

// fault splits the compiler's error into place and cause.
func (c *protoCompiler) fault(err error) error {
	e := &ProtoError{Place: strings.Join(c.paths, ", "), Err: err}
	var placed reporter.ErrorWithPos
	if errors.As(err, &placed) {
		e.Place, e.Err = placed.GetPosition().String(), placed.Unwrap()
	}
	for name := range c.missing {
		e.Missing = append(e.Missing, name)
	}
	slices.Sort(e.Missing)
	return e
}
