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

// reflectionName is the name of the source in errors.
const reflectionName = "server reflection"

// reflectFiles returns the descriptors of all files that declare the server's services, and of
// their imports. It returns none if the server has no reflection.
func reflectFiles(ctx context.Context, cc *grpc.ClientConn) (protoschema.Source, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, version := range []string{"v1", "v1alpha"} { // the messages of both have the same fields under different names
		r := reflector{found: protoschema.Source{Name: reflectionName}, seen: map[string]bool{}}
		stream, err := cc.NewStream(ctx, &reflectionv1.ServerReflection_ServiceDesc.Streams[0],
			"/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo")
		if err == nil {
			r.ClientStream = stream
			err = r.read()
		}
		switch {
		case err == nil:
			return r.found, nil
		case !isUnimplemented(err):
			return protoschema.Source{}, err
		}
	}
	return protoschema.Source{}, nil
}

// reflector collects the files with which a server describes itself.
type reflector struct {
	grpc.ClientStream
	found   protoschema.Source
	seen    map[string]bool // names of files that were received or requested
	imports []string        // files to request
}

// read requests the files of each service, and their imports.
func (r *reflector) read() error {
	list, err := r.ask(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{ListServices: "*"},
	})
	if err != nil {
		return err
	}
	for _, service := range list.GetListServicesResponse().GetService() {
		if protoschema.IsHostService(service.GetName()) {
			continue
		}
		err := r.add(&reflectionv1.ServerReflectionRequest{
			MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service.GetName()},
		})
		if err != nil {
			return err
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
			return err
		}
		r.seen[name] = true // even if the server does not have the file
	}
	return nil
}

// ask sends one request and reads its answer. It returns an error inside the answer as a status.
func (r *reflector) ask(request *reflectionv1.ServerReflectionRequest) (*reflectionv1.ServerReflectionResponse, error) {
	sendErr, answer := r.SendMsg(request), new(reflectionv1.ServerReflectionResponse)
	err := r.RecvMsg(answer) // contains the reason if SendMsg failed
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

// add requests files and keeps the files in the answer. It ignores files that the server does not
// have, because they may not be needed.
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
