package grpcplugin

import (
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// mirror is one conversation with server reflection.
type mirror struct {
	stream  grpc.ClientStream
	files   map[string][]byte // by name; nil where the server has none
	inOrder [][]byte
	wanted  []string // imports that are to be looked at
}

// ask sends one request and reads its answer. An error that the server sends
// inside an answer is one of status.
func (m *mirror) ask(request *reflection.ServerReflectionRequest) (*reflection.ServerReflectionResponse, error) {
	if err := m.stream.SendMsg(request); err != nil {
		// The reason comes with the answer.
		if err := m.stream.RecvMsg(new(reflection.ServerReflectionResponse)); err != nil {
			return nil, err
		}
		return nil, err
	}
	answer := new(reflection.ServerReflectionResponse)
	if err := m.stream.RecvMsg(answer); err != nil {
		return nil, err
	}
	if e := answer.GetErrorResponse(); e != nil {
		return nil, status.Error(codes.Code(e.GetErrorCode()), e.GetErrorMessage())
	}
	return answer, nil
}

// symbol asks for the file that declares a service. A server that lists what
// it cannot describe is taken at its word for the rest.
func (m *mirror) symbol(name string) error {
	answer, err := m.ask(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name},
	})
	if status.Code(err) == codes.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return m.take(answer)
}

// imports asks for what the files import and the server did not send along.
func (m *mirror) imports() error {
	for len(m.wanted) > 0 {
		name := m.wanted[0]
		m.wanted = m.wanted[1:]
		if _, known := m.files[name]; known || strings.HasPrefix(name, "google/protobuf/") {
			continue
		}
		m.files[name] = nil
		answer, err := m.ask(&reflection.ServerReflectionRequest{
			MessageRequest: &reflection.ServerReflectionRequest_FileByFilename{FileByFilename: name},
		})
		if status.Code(err) == codes.NotFound {
			continue // it is missed only where it is needed
		}
		if err != nil {
			return err
		}
		if err := m.take(answer); err != nil {
			return err
		}
	}
	return nil
}

// take keeps the files of an answer.
func (m *mirror) take(answer *reflection.ServerReflectionResponse) error {
	for _, serialized := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(serialized, file); err != nil {
			return &protoschema.DescriptorError{Source: mirrored, Err: err}
		}
		if m.files[file.GetName()] != nil {
			continue
		}
		if len(m.inOrder) == mostFiles {
			return &protoschema.DescriptorError{Source: mirrored, Err: fmt.Errorf("more than %d files", mostFiles)}
		}
		m.files[file.GetName()] = serialized
		m.inOrder = append(m.inOrder, serialized)
		m.wanted = append(m.wanted, file.GetDependency()...)
	}
	return nil
}
