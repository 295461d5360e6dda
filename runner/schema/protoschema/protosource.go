package protoschema

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/options"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/bufbuild/protocompile/reporter"
	"github.com/bufbuild/protocompile/sourceinfo"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// protoc brings this file along, as it does the well-known types.
	_ "google.golang.org/protobuf/types/pluginpb"
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
// imported for its options alone. Files are read by read; an error of it that is
// [fs.ErrNotExist] means look elsewhere. Errors are [*ProtoError].
func CompileProto(paths, names []string, read func(name string) ([]byte, error)) (Source, error) {
	c := protoCompiler{
		paths: slices.Clone(paths), read: read, missing: map[string]bool{},
		handler: reporter.NewHandler(nil), symbols: new(linker.Symbols), files: map[string]linker.File{},
	}
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
	s := Source{Name: strings.Join(names, ", ")}
	for _, name := range relative {
		if _, err := c.compile(name); err != nil {
			return Source{}, c.fault(err)
		}
	}
	for _, file := range c.inOrder {
		s.Files = append(s.Files, proto.Clone(protoutil.ProtoFromFileDescriptor(file)).(*descriptorpb.FileDescriptorProto))
	}
	return s, nil
}

// protoCompiler compiles .proto sources, each after what it imports. It goes
// without protocompile's Compiler, whose package takes half a millisecond to
// initialise in every program that has it.
type protoCompiler struct {
	paths []string
	read  func(string) ([]byte, error)

	handler *reporter.Handler
	symbols *linker.Symbols
	files   map[string]linker.File // nil while a file is being compiled
	inOrder []linker.File          // imports first, without what is built in
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

// compile compiles one file, once.
func (c *protoCompiler) compile(name string) (linker.File, error) {
	if file, begun := c.files[name]; file != nil {
		return file, nil
	} else if begun {
		return nil, &ProtoError{Place: name, Err: errors.New("it imports itself, directly or through others")}
	}
	if isBuiltin(name) {
		file, err := protoregistry.GlobalFiles.FindFileByPath(name)
		if err == nil {
			c.files[name], err = linker.NewFileRecursive(file)
		}
		return c.files[name], err
	}
	c.files[name] = nil
	parsed, err := c.parse(name)
	if err != nil {
		return nil, err
	}
	var imports linker.Files
	for _, imported := range parsed.FileDescriptorProto().GetDependency() {
		file, err := c.compile(imported)
		if err != nil {
			return nil, err
		}
		imports = append(imports, file)
	}
	file, err := c.link(parsed, imports)
	if err != nil {
		return nil, err
	}
	c.files[name] = file
	if !c.missing[name] {
		c.inOrder = append(c.inOrder, file)
	}
	return file, nil
}

// link makes a file whole: names are found, options read, comments kept.
func (c *protoCompiler) link(parsed parser.Result, imports linker.Files) (linker.File, error) {
	file, err := linker.Link(parsed, imports, c.symbols, c.handler)
	if err != nil {
		return nil, err
	}
	index, err := options.InterpretOptions(file, c.handler)
	if err != nil {
		return nil, err
	}
	if err := file.ValidateOptions(c.handler, c.symbols); err != nil {
		return nil, err
	}
	if parsed.AST() != nil {
		parsed.FileDescriptorProto().SourceCodeInfo = sourceinfo.GenerateSourceInfo(parsed.AST(), index)
		file.PopulateSourceCodeInfo()
	}
	return file, nil
}

// parse reads one file. One that is not there is taken for empty, and noted.
func (c *protoCompiler) parse(name string) (parser.Result, error) {
	content, err := c.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		c.missing[name] = true
		return parser.ResultWithoutAST(&descriptorpb.FileDescriptorProto{Name: &name}), nil
	}
	if err != nil {
		return nil, err
	}
	tree, err := parser.Parse(name, bytes.NewReader(content), c.handler)
	if err != nil {
		return nil, err
	}
	result, err := parser.ResultFromAST(tree, true, c.handler)
	if err == nil && c.lacksImport(result.FileDescriptorProto()) {
		dropCustomOptions(result.FileDescriptorProto().ProtoReflect())
	}
	return result, err
}

// lacksImport tells whether a file imports what is not there.
func (c *protoCompiler) lacksImport(file *descriptorpb.FileDescriptorProto) bool {
	return slices.ContainsFunc(file.GetDependency(), func(name string) bool {
		if isBuiltin(name) {
			return false
		}
		_, err := c.open(name)
		return errors.Is(err, fs.ErrNotExist)
	})
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
				if !slices.ContainsFunc(option.GetName(), (*descriptorpb.UninterpretedOption_NamePart).GetIsExtension) {
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

// fault splits the compiler's error into place and cause.
func (c *protoCompiler) fault(err error) error {
	if own := (*ProtoError)(nil); errors.As(err, &own) {
		return own
	}
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
