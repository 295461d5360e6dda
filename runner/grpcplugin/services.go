package grpcplugin

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

const (
	// absentMethod is a method that no plugin has, absentInService a method that no
	// service has.
	absentMethod    = "/pyplug.Absent/Absent"
	absentInService = "/PyplugAbsent"
	// unknownService is how a server in Go rejects a method of a service that it
	// does not have.
	unknownService = "unknown service "
	// refusals is how many calls of an absent method the server must reject before a
	// stream counts as open. In grpcio, a call may overtake the calls that wait, about
	// once in a thousand times.
	refusals = 3
)

// ownKey marks the context of streams that we open, in Serves and the broker: go-plugin
// opens streams of the same methods for itself.
type ownKey struct{}

// Serves reports which of the methods the plugin serves. A method is a full name such as
// "/plugin.GRPCController/Shutdown". Serves sends no message, so no method runs. But
// grpcio enters the handler of a method with a client stream before the first message, and
// grpclib enters every handler; the handler finds the stream cancelled. Serves asks a
// server in Go only for the services, because it has all methods of each.
//
// A context without a deadline gets two seconds. The error is a [*hook.Error]: Timeout,
// Canceled, Crash if the plugin has exited, or Failed if it does not answer as a
// server does.
func (i *Instance) Serves(ctx context.Context, methods ...string) (map[string]bool, error) {
	ctx, cancel := withLimit(ctx, probeLimit)
	defer cancel()
	absent, err := refusal(ctx, i.conn, absentMethod)
	var served map[string]bool
	switch {
	case err != nil:
	case strings.HasPrefix(absent, unknownService):
		served, err = servedByGo(ctx, i.conn, methods)
	default:
		served, err = servedInOrder(ctx, i.conn, methods, absent)
	}
	if err == nil {
		return served, nil
	}
	s, isStatus := status.FromError(err)
	switch {
	case ctx.Err() != nil, ranOut(ctx, err):
		return nil, hook.Ended(ctx, "", "no answer about which methods are served", true)
	case !isStatus:
		return nil, &hook.Error{Kind: hook.Failed, Begun: true, Err: err}
	case lostConnection(err) && i.exits():
		return nil, i.exitError("")
	}
	return nil, setStatus(&hook.Error{Kind: hook.Failed, Begun: true}, s, nil)
}

// refusal returns how a server rejects a method that it does not have, without the
// method's name.
func refusal(ctx context.Context, cc *grpc.ClientConn, method string) (string, error) {
	err := cc.Invoke(ctx, method, new(emptypb.Empty), new(emptypb.Empty))
	switch {
	case err == nil:
		return "", errors.New("the plugin answers a method that does not exist, want UNIMPLEMENTED")
	case isUnimplemented(err):
		return withoutMethod(err, method), nil
	}
	return "", err
}

// withoutMethod is the text of a status without the name of the method.
func withoutMethod(err error, method string) string {
	return strings.ReplaceAll(status.Convert(err).Message(), strings.TrimPrefix(method, "/"), "")
}

// servedByGo asks each service for a method that it does not have: the rejection of a
// server in Go says whether it knows the service. Opening real methods would do harm: the
// server enters a method with a stream at once, and go-plugin's broker does not survive
// the end of its stream.
func servedByGo(ctx context.Context, cc *grpc.ClientConn, methods []string) (map[string]bool, error) {
	served := make(map[string]bool, len(methods))
	for _, method := range methods {
		service := method[:max(strings.LastIndexByte(method, '/'), 0)]
		text, err := refusal(ctx, cc, service+absentInService)
		if err != nil {
			return nil, err
		}
		served[method] = !strings.HasPrefix(text, unknownService)
	}
	return served, nil
}

// servedInOrder opens a stream for each method and sends no message. A server rejects an
// unknown method at once, and waits for the message of a known one. servedInOrder needs no
// delay to see that: the server looks up the methods of a connection in order, so when it
// has rejected an absent method, it has rejected all unknown ones before it.
func servedInOrder(ctx context.Context, cc *grpc.ClientConn, methods []string, absent string) (map[string]bool, error) {
	asking, cancel := context.WithCancel(context.WithValue(ctx, ownKey{}, true))
	defer cancel()
	streams := make(map[string]grpc.ClientStream, len(methods))
	for _, method := range methods {
		stream, err := cc.NewStream(asking, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
		if err != nil {
			return nil, err
		}
		streams[method] = stream
	}
	for range refusals {
		if _, err := refusal(ctx, cc, absentMethod); err != nil {
			return nil, err
		}
	}
	cancel() // a refusal that has arrived is read before the cancellation
	served := make(map[string]bool, len(streams))
	for method, stream := range streams {
		err := stream.RecvMsg(new(emptypb.Empty))
		if status.Code(err) == codes.Unavailable {
			return nil, err
		}
		// A method that exists may answer UNIMPLEMENTED itself, in other words.
		served[method] = !isUnimplemented(err) || withoutMethod(err, method) != absent
	}
	return served, nil
}

// reflectionName is its name in errors.
const reflectionName = "server reflection"

// reflectFiles returns the descriptors of all files that declare the server's services,
// with their imports, and the services' names; none if it has no reflection.
func reflectFiles(ctx context.Context, cc *grpc.ClientConn) (protoschema.Source, []string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, version := range []string{"v1", "v1alpha"} { // their messages are the same under other names
		r := reflector{found: protoschema.Source{Name: reflectionName}, seen: map[string]bool{}}
		stream, err := cc.NewStream(ctx, &reflectionv1.ServerReflection_ServiceDesc.Streams[0],
			"/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo")
		if err == nil {
			r.ClientStream = stream
			err = r.read()
		}
		switch {
		case err == nil:
			return r.found, r.services, nil
		case !isUnimplemented(err):
			return protoschema.Source{}, nil, err
		}
	}
	return protoschema.Source{}, nil, nil
}

// reflector collects the files that a server describes itself by.
type reflector struct {
	grpc.ClientStream
	found    protoschema.Source
	services []string
	seen     map[string]bool // files received or asked for, by name
	imports  []string        // files to ask for
}

// read asks for the files of each service, and for their imports.
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
		r.services = append(r.services, service.GetName())
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
		r.seen[name] = true // the server may not have it
	}
	return nil
}

// ask sends one request and reads its answer. An error inside the answer is
// returned as a status.
func (r *reflector) ask(request *reflectionv1.ServerReflectionRequest) (*reflectionv1.ServerReflectionResponse, error) {
	sendErr, answer := r.SendMsg(request), new(reflectionv1.ServerReflectionResponse)
	err := r.RecvMsg(answer) // has the reason if SendMsg failed
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

// add asks for files and keeps the files in the answer. It ignores files that the server
// does not have: they may not be needed.
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
