package protoschema

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Source is file descriptors from one place. The zero value has none.
type Source struct {
	// Name is the place, such as "server reflection" or a file's path, for
	// errors.
	Name  string
	Files []*descriptorpb.FileDescriptorProto
}

// ReadFiles reads serialized FileDescriptorProtos, as server reflection sends
// them and generated Python code holds them. The error is a [*DescriptorError].
func ReadFiles(name string, serialized ...[]byte) (Source, error) {
	s := Source{Name: name}
	for _, content := range serialized {
		file := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(content, file); err != nil {
			return Source{}, &DescriptorError{Source: name, Err: err}
		}
		s.Files = append(s.Files, file)
	}
	return s, nil
}

// ReadProtoset reads a serialized FileDescriptorSet, as protoc -o writes it.
// The error is a [*DescriptorError].
func ReadProtoset(name string, content []byte) (Source, error) {
	set := new(descriptorpb.FileDescriptorSet)
	if err := proto.Unmarshal(content, set); err != nil {
		return Source{}, &DescriptorError{Source: name, Err: err}
	}
	return Source{Name: name, Files: set.GetFile()}, nil
}

// DescriptorError reports descriptors that cannot be read, compiled, merged or
// used.
type DescriptorError struct {
	// Source is the source that cannot be read, empty if Err names all there is
	// to know.
	Source string
	Err    error
	// Code is [Disagree], [MissingImport] or empty.
	Code string
	// Advice are the hints, one a line.
	Advice []string
}

// The codes of a DescriptorError that callers distinguish.
const (
	// Disagree means that two sources describe one symbol differently.
	Disagree = "descriptors-disagree"
	// MissingImport means that no source describes a symbol that is needed.
	MissingImport = "missing-import"
)

// Error names the source and the problem.
func (e *DescriptorError) Error() string {
	if e.Source == "" {
		return cleanProto(e.Err)
	}
	return "descriptor in " + e.Source + ": " + cleanProto(e.Err)
}

// Unwrap returns the cause.
func (e *DescriptorError) Unwrap() error { return e.Err }

// Hints says what to do.
func (e *DescriptorError) Hints() []string { return e.Advice }

// Reason is the code.
func (e *DescriptorError) Reason() string { return e.Code }

// cleanProto is the text of a protobuf error without its prefix, after which the
// library writes one of two spaces at random.
func cleanProto(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(text, "proto: ")
}
