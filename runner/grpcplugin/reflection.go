package grpcplugin

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// reflectionName is its name in errors.
const reflectionName = "server reflection"

// reflectFiles returns the descriptors of all files that declare the server's services,
// with their imports, and the services' names; none if it has no reflection.
func reflectFiles(ctx context.Context, cc *grpc.ClientConn) (protoschema.Source, []string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := reflectWith(func() (reflectionStream, error) {
		return reflectionv1.NewServerReflectionClient(cc).ServerReflectionInfo(ctx)
	})
	if isUnimplemented(err) {
		r, err = reflectWith(func() (reflectionStream, error) {
			return openAlpha(ctx, cc)
		})
	}
	if isUnimplemented(err) {
		return protoschema.Source{}, nil, nil
	}
	return r.found, r.services, err
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
	found    protoschema.Source
	services []string
	seen     map[string]bool // files received or asked for, by name
	imports  []string        // to be asked for
}

func reflectWith(open func() (reflectionStream, error)) (none reflector, err error) {
	stream, err := open()
	if err != nil {
		return none, err
	}
	r := reflector{reflectionStream: stream, found: protoschema.Source{Name: reflectionName}, seen: map[string]bool{}}
	list, err := r.ask(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{ListServices: "*"},
	})
	if err != nil {
		return none, err
	}
	for _, service := range list.GetListServicesResponse().GetService() {
		if protoschema.IsHostService(service.GetName()) {
			continue
		}
		r.services = append(r.services, service.GetName())
		err := r.add(&reflectionv1.ServerReflectionRequest{
			MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service.GetName()},
		})
		if err != nil {
			return none, err
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
			return none, err
		}
		r.seen[name] = true // the server may not have it
	}
	return r, nil
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
	received, err := protoschema.ReadFiles(reflectionName, answer.GetFileDescriptorResponse().GetFileDescriptorProto()...)
	if err != nil {
		return err
	}
	for _, file := range received.Files {
		if r.seen[file.GetName()] {
			continue
		}
		r.seen[file.GetName()] = true
		r.found.Files = append(r.found.Files, file)
		r.imports = append(r.imports, file.GetDependency()...)
	}
	return nil
}
