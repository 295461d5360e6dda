package protoschema

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/bufbuild/protocompile/reporter"

	"github.com/pyplug/pyplug/runner/schema"
)

// CompileProto compiles .proto sources. A name is a file or relative to an import path.
// CompileProto adds the directory of a file outside the import paths to them. It reads files by
// read; if that returns [fs.ErrNotExist], it looks elsewhere. An error is a [*DescriptorError].
func CompileProto(paths, names []string, read func(name string) ([]byte, error)) (Source, error) {
	resolver := protocompile.SourceResolver{
		ImportPaths: append([]string{}, paths...),
		Accessor: func(name string) (io.ReadCloser, error) {
			content, err := read(name)
			return io.NopCloser(bytes.NewReader(content)), err
		},
	}
	if len(paths) == 0 {
		resolver.ImportPaths = []string{"."}
	}
	relative := make([]string, len(names))
	for i, name := range names {
		relative[i] = locate(&resolver, name)
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&resolver), SourceInfoMode: protocompile.SourceInfoStandard, MaxParallelism: 1,
	}
	compiled, err := compiler.Compile(context.Background(), relative...)
	if err != nil {
		e := &DescriptorError{Err: err}
		if at := (reporter.ErrorWithPos)(nil); errors.As(err, &at) && errors.Is(err, fs.ErrNotExist) {
			e.Advice = schema.Hints("name the directory of the imports with %s", schema.Setting("proto-path"))
		}
		return Source{}, e
	}
	source, seen := Source{Name: strings.Join(names, ", ")}, map[string]bool{}
	var add func(file linker.File) // its imports first, without those that come with protoc
	add = func(file linker.File) {
		result, isCompiled := file.(linker.Result)
		if !isCompiled || seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for imported := range each(file.Imports()) {
			add(file.FindImportByPath(imported.Path()))
		}
		source.Files = append(source.Files, protoutil.ProtoFromFileDescriptor(result))
	}
	for _, file := range compiled {
		add(file)
	}
	return source, nil
}

// locate returns a file's name relative to an import path. It adds the directory of a file that is
// in none.
func locate(r *protocompile.SourceResolver, name string) string {
	for _, dir := range r.ImportPaths {
		inside, err := filepath.Rel(dir, name)
		if filepath.Clean(dir) != "." && err == nil && filepath.IsLocal(inside) {
			return filepath.ToSlash(inside)
		}
	}
	slashed := filepath.ToSlash(filepath.Clean(name))
	if _, err := r.FindFileByPath(slashed); err == nil && filepath.IsLocal(name) {
		return slashed
	}
	r.ImportPaths = append(r.ImportPaths, filepath.Dir(name))
	return filepath.Base(name)
}
