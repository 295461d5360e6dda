package grpcplugin

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// servesLimit bounds the question where the context has no deadline.
	servesLimit = 2 * time.Second
	// nowhere is a method that no plugin has, and beside one that no service
	// has.
	nowhere = "/pyplug.Absent/Absent"
	beside  = "/PyplugAbsent"
	// What a server in Go says of a method whose service it does not have.
	unknownService = "unknown service "
	// refusals is how many have to come before a stream counts as open. In
	// grpcio a call that comes while another is handed over may go before those
	// that wait, about once in a thousand questions; the next one would have to
	// do the same.
	refusals = 3
)

// errAnyMethod is the error of a plugin that answers whatever it is asked.
var errAnyMethod = errors.New("the plugin answers a method that does not exist, want UNIMPLEMENTED")

// askingKey is in the context of the streams by which Serves asks.
type askingKey struct{}

// Serves tells which of the methods the plugin serves, by their full names such
// as "/plugin.GRPCController/Shutdown". None is sent a message, so that none
// runs; grpcio alone enters the handler of a method that takes a stream before
// its first message, and the handler finds the stream cancelled. A server in Go
// is asked for the services alone, whose methods it has as a whole. The plugin
// may take a moment after the answer to see that it was all.
//
// Serves may be called at any time, and counts as a call under way; a context
// without a deadline is given two seconds. The error is an [*hook.Error] like
// that of a call: Timeout, Canceled, Crash, Unavailable, or Failed when the
// plugin answers other than a server does.
func (i *Instance) Serves(ctx context.Context, methods ...string) (map[string]bool, error) {
	began := time.Now()
	if err := i.begin(); err != nil {
		return nil, &hook.Error{Kind: hook.Unavailable, Err: err}
	}
	defer i.finish()
	ctx, cancel := bounded(ctx, servesLimit)
	defer cancel()
	served, err := serves(ctx, i.conn, methods)
	if err != nil {
		return nil, i.unasked(ctx, err, began)
	}
	return served, nil
}

func serves(ctx context.Context, cc *grpc.ClientConn, methods []string) (map[string]bool, error) {
	absent, err := refusal(ctx, cc, nowhere)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(absent, unknownService) {
		return servesInGo(ctx, cc, methods)
	}
	return servesInOrder(ctx, cc, methods, absent)
}

// refusal is what a server says of a method that it does not have, without the
// method's name.
func refusal(ctx context.Context, cc *grpc.ClientConn, method string) (string, error) {
	err := cc.Invoke(ctx, method, new(emptypb.Empty), new(emptypb.Empty))
	switch status.Code(err) {
	case codes.OK:
		return "", errAnyMethod
	case codes.Unimplemented:
		return nameless(err, method), nil
	}
	return "", err
}

// nameless is what a status says, without the name of the method.
func nameless(err error, method string) string {
	return strings.ReplaceAll(status.Convert(err).Message(), strings.TrimPrefix(method, "/"), "")
}

// servesInGo asks each service for a method that it does not have: a server in
// Go tells apart what it does not know. It would enter a method that takes a
// stream at once, and go-plugin's broker does not survive the end of its stream.
func servesInGo(ctx context.Context, cc *grpc.ClientConn, methods []string) (map[string]bool, error) {
	served := make(map[string]bool, len(methods))
	for _, method := range methods {
		service := method[:max(strings.LastIndexByte(method, '/'), 0)]
		words, err := refusal(ctx, cc, service+beside)
		if err != nil {
			return nil, err
		}
		served[method] = !strings.HasPrefix(words, unknownService)
	}
	return served, nil
}

// servesInOrder opens a stream for each of the methods, and sends no message. A
// server refuses at once what it does not have, and waits for the message where
// it has the method. No time has to pass to know that it waits: the methods of a
// connection are looked up in their order, so that the refusals of one that
// nobody has come after those of the others.
func servesInOrder(ctx context.Context, cc *grpc.ClientConn, methods []string, absent string) (map[string]bool, error) {
	asking, cancel := context.WithCancel(context.WithValue(ctx, askingKey{}, true))
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
		if _, err := refusal(ctx, cc, nowhere); err != nil {
			return nil, err
		}
	}
	cancel() // a refusal that is there already is read before the cancellation
	served := make(map[string]bool, len(streams))
	for method, stream := range streams {
		err := stream.RecvMsg(new(emptypb.Empty))
		if lostConnection(err) {
			return nil, err
		}
		// A method that is there may say UNIMPLEMENTED by itself, in other words.
		served[method] = status.Code(err) != codes.Unimplemented || nameless(err, method) != absent
	}
	return served, nil
}

// unasked tells why there is no answer.
func (i *Instance) unasked(ctx context.Context, err error, began time.Time) *hook.Error {
	s, isStatus := status.FromError(err)
	switch {
	case ctx.Err() != nil, ranOut(ctx, s.Code()):
		return hook.Ended(ctx, "", "no answer as to which methods are served", began, true)
	case !isStatus:
		return &hook.Error{Kind: hook.Failed, Begun: true, Err: err}
	case i.asked():
		return &hook.Error{Kind: hook.Canceled, Begun: true, Err: errAsked}
	case (lostConnection(err) || s.Code() == codes.Canceled) && i.diedWithin(lostLimit):
		exit := i.Exit()
		return &hook.Error{Kind: hook.Crash, Begun: true, Exit: &exit, Err: errEnded}
	}
	return &hook.Error{Kind: hook.Failed, Begun: true, Status: newStatus(s, nil), Err: statusText(s)}
}
