package grpcplugin

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// reflectionName is its name in errors.
const reflectionName = "server reflection"

// reflectFiles returns the serialized descriptors of all files that declare the
// server's services, with their imports; none if it has no reflection.
func reflectFiles(ctx context.Context, cc *grpc.ClientConn) ([][]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	files, err := reflectWith(func() (reflectionStream, error) {
		return reflectionv1.NewServerReflectionClient(cc).ServerReflectionInfo(ctx)
	})
	if status.Code(err) == codes.Unimplemented {
		files, err = reflectWith(func() (reflectionStream, error) {
			return openAlpha(ctx, cc)
		})
	}
	if status.Code(err) == codes.Unimplemented {
		return nil, nil
	}
	return files, err
}

// reflectionStream is a conversation with server reflection.
type reflectionStream interface {
	Send(*reflectionv1.ServerReflectionRequest) error
	Recv() (*reflectionv1.ServerReflectionResponse, error)
}

// alphaMethod is the older version, whose messages are the same under another name.
const alphaMethod = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"

// openAlpha opens a stream of the older version with the messages of the newer one.
func openAlpha(ctx context.Context, cc *grpc.ClientConn) (reflectionStream, error) {
	stream, err := cc.NewStream(ctx, &reflectionv1.ServerReflection_ServiceDesc.Streams[0], alphaMethod)
	return &grpc.GenericClientStream[reflectionv1.ServerReflectionRequest, reflectionv1.ServerReflectionResponse]{ClientStream: stream}, err
}

// reflector collects the files that a server describes itself by.
type reflector struct {
	reflectionStream
	seen    map[string]bool // files received or asked for, by name
	files   [][]byte
	imports []string // to be asked for
}

func reflectWith(open func() (reflectionStream, error)) ([][]byte, error) {
	stream, err := open()
	if err != nil {
		return nil, err
	}
	r := reflector{reflectionStream: stream, seen: map[string]bool{}}
	list, err := r.ask(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{ListServices: "*"},
	})
	if err != nil {
		return nil, err
	}
	for _, service := range list.GetListServicesResponse().GetService() {
		if isHostService(service.GetName()) {
			continue
		}
		err := r.add(&reflectionv1.ServerReflectionRequest{
			MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service.GetName()},
		})
		if err != nil {
			return nil, err
		}
	}
	for len(r.imports) > 0 {
		name := r.imports[0]
		r.imports = r.imports[1:]
		if r.seen[name] || strings.HasPrefix(name, "google/protobuf/") {
			continue
		}
		err := r.add(&reflectionv1.ServerReflectionRequest{
			MessageRequest: &reflectionv1.ServerReflectionRequest_FileByFilename{FileByFilename: name},
		})
		if err != nil {
			return nil, err
		}
		r.seen[name] = true // the server may not have it
	}
	return r.files, nil
}

// ask sends one request and reads its answer. An error inside the answer is
// returned as a status.
func (r *reflector) ask(request *reflectionv1.ServerReflectionRequest) (*reflectionv1.ServerReflectionResponse, error) {
	sendErr := r.Send(request)
	answer, err := r.Recv() // has the reason if Send failed
	if err == nil {
		err = sendErr
	}
	if err != nil {
		return nil, err
	}
	if e := answer.GetErrorResponse(); e != nil {
		return nil, status.Error(codes.Code(e.GetErrorCode()), e.GetErrorMessage())
	}
	return answer, nil
}

// add asks for files and keeps those in the answer. What the server does not have is
// missed only if it is needed.
func (r *reflector) add(request *reflectionv1.ServerReflectionRequest) error {
	answer, err := r.ask(request)
	if status.Code(err) == codes.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	for _, serialized := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(serialized, file); err != nil {
			return &protoschema.DescriptorError{Source: reflectionName, Err: err}
		}
		if r.seen[file.GetName()] {
			continue
		}
		r.seen[file.GetName()] = true
		r.files = append(r.files, serialized)
		r.imports = append(r.imports, file.GetDependency()...)
	}
	return nil
}

// isHostService reports whether a service is one for hosts and tools.
func isHostService(service string) bool {
	return strings.HasPrefix(service, "grpc.reflection.") || service == "grpc.health.v1.Health" ||
		strings.HasPrefix(service, "plugin.GRPC")
}
