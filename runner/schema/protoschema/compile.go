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
	"google.golang.org/protobuf/types/descriptorpb"

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
	c := collector{seen: map[string]bool{}}
	for _, file := range compiled {
		c.add(file)
	}
	return Source{Name: strings.Join(names, ", "), Files: c.files}, nil
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

// collector collects compiled files, imports first, without those that come with protoc.
type collector struct {
	seen  map[string]bool
	files []*descriptorpb.FileDescriptorProto
}

func (c *collector) add(file linker.File) {
	result, compiled := file.(linker.Result)
	if !compiled || c.seen[file.Path()] {
		return
	}
	c.seen[file.Path()] = true
	for i := range file.Imports().Len() {
		c.add(file.FindImportByPath(file.Imports().Get(i).Path()))
	}
	c.files = append(c.files, protoutil.ProtoFromFileDescriptor(result))
}
