package protoschema

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// CompileProto compiles .proto sources. A name is a file or relative to an import path.
// CompileProto adds the directory of a file outside the import paths to them. It ignores a
// missing import that is needed only for options. It reads files by read; if that returns
// [fs.ErrNotExist], it looks elsewhere. An error is a [*DescriptorError].
func CompileProto(paths, names []string, read func(name string) ([]byte, error)) (Source, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	open := func(name string) (io.ReadCloser, error) {
		content, err := read(name)
		return io.NopCloser(bytes.NewReader(content)), err
	}
	f := protoFinder{
		SourceResolver: protocompile.SourceResolver{ImportPaths: slices.Clone(paths), Accessor: open},
		compiled:       map[string]linker.File{}, missing: map[string]bool{},
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.ResolverFunc(f.find), SourceInfoMode: protocompile.SourceInfoStandard,
		Symbols: new(linker.Symbols), MaxParallelism: 1,
	}
	relative := make([]string, 0, len(names))
	for _, name := range names {
		found, err := f.locate(name)
		if err != nil {
			return Source{}, &DescriptorError{Err: fmt.Errorf("%s: %w", name, err)}
		}
		relative = append(relative, found)
	}
	for _, name := range relative { // one at a time, so that errors are always the same
		files, err := compiler.Compile(context.Background(), name)
		if err != nil {
			return Source{}, f.fault(err)
		}
		f.add(files[0])
	}
	return Source{Name: strings.Join(names, ", "), Files: f.files}, nil
}

// protoFinder finds .proto files for the compiler, and collects the results.
type protoFinder struct {
	protocompile.SourceResolver
	compiled map[string]linker.File
	missing  map[string]bool
	files    []*descriptorpb.FileDescriptorProto // imports first, without standard ones
}

// locate returns a file's name relative to an import path.
func (f *protoFinder) locate(name string) (string, error) {
	slashed := path.Clean(filepath.ToSlash(name))
	for _, dir := range f.ImportPaths {
		dir = path.Clean(filepath.ToSlash(dir))
		rest, inside := strings.CutPrefix(slashed, dir+"/")
		if dir != "." && inside {
			return rest, nil
		}
	}
	_, err := f.FindFileByPath(slashed)
	if err == nil && !path.IsAbs(slashed) && !strings.HasPrefix(slashed, "../") {
		return slashed, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := f.Accessor(name); err != nil {
		return "", err
	}
	f.ImportPaths = append(f.ImportPaths, filepath.Dir(name))
	return path.Base(slashed), nil
}

// standard finds the files that come with protoc.
var standard = protocompile.WithStandardImports(protocompile.ResolverFunc(func(string) (protocompile.SearchResult, error) {
	return protocompile.SearchResult{}, fs.ErrNotExist
}))

// find finds a file for the compiler, which reports the errors in it. A missing file counts
// as empty: the compiler reports its symbols where they are used.
func (f *protoFinder) find(name string) (protocompile.SearchResult, error) {
	if file := f.compiled[name]; file != nil {
		return protocompile.SearchResult{Desc: file}, nil
	}
	if found, err := standard.FindFileByPath(name); err == nil {
		return found, nil
	}
	found, err := f.FindFileByPath(name)
	if errors.Is(err, fs.ErrNotExist) {
		f.missing[name] = true
		return protocompile.SearchResult{Proto: &descriptorpb.FileDescriptorProto{Name: &name}}, nil
	}
	if err != nil {
		return found, err
	}
	handler := reporter.NewHandler(nil)
	if tree, err := parser.Parse(name, found.Source, handler); err == nil {
		if parsed, err := parser.ResultFromAST(tree, true, handler); err == nil {
			dropCustomOptions(parsed.FileDescriptorProto().ProtoReflect())
			return protocompile.SearchResult{ParseResult: parsed}, nil
		}
	}
	return f.FindFileByPath(name)
}

// dropCustomOptions removes options that extensions define from a descriptor and everything
// in it. pyplug does not use them, and the files that define them are often missing.
func dropCustomOptions(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case !field.IsList():
			dropCustomOptions(v.Message())
		case field.Name() == "uninterpreted_option":
			dropExtensions(v.List())
		default:
			for i := range v.List().Len() {
				dropCustomOptions(v.List().Get(i).Message())
			}
		}
		return true
	})
}

func dropExtensions(options protoreflect.List) {
	kept := 0
	for i := range options.Len() {
		option := options.Get(i).Message().Interface().(*descriptorpb.UninterpretedOption)
		if !slices.ContainsFunc(option.GetName(), (*descriptorpb.UninterpretedOption_NamePart).GetIsExtension) {
			options.Set(kept, options.Get(i))
			kept++
		}
	}
	options.Truncate(kept)
}

// add collects a compiled file after its imports.
func (f *protoFinder) add(file linker.File) {
	name := file.Path()
	result, compiled := file.(linker.Result)
	if !compiled || f.compiled[name] != nil || f.missing[name] {
		return // a standard file, one that was added, or one that does not exist
	}
	f.compiled[name] = file
	for i := range file.Imports().Len() {
		f.add(file.FindImportByPath(file.Imports().Get(i).Path()))
	}
	f.files = append(f.files, protoutil.ProtoFromFileDescriptor(result))
}

// fault adds the imports that were not found to an error of the compiler, which
// names the place.
func (f *protoFinder) fault(err error) error {
	if len(f.missing) == 0 {
		return &DescriptorError{Err: err}
	}
	missing := slices.Sorted(maps.Keys(f.missing))
	return &DescriptorError{
		Err:    fmt.Errorf("%w; import not found: %s", err, strings.Join(missing, ", ")),
		Advice: schema.Hints("name the directory of the imports with %s", schema.Setting("proto-path")),
	}
}
