package grpcplugin

import (
	"context"
	"fmt"
	"sync/atomic"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	// The details that servers usually send with a status.
	_ "google.golang.org/genproto/googleapis/rpc/errdetails"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// codeName is a code's name as Python and the protocol have it, such as
// "INVALID_ARGUMENT"; of a code that the protocol does not have, "Code(20)".
func codeName(c codes.Code) string {
	if name, ok := code.Code_name[int32(c)]; ok {
		return name
	}
	return c.String()
}

// newStatus is a status as hook tells it. Details of types that nobody knows
// are told by their name and bytes.
func newStatus(s *status.Status, d *protoschema.Descriptors) *hook.RPCStatus {
	told := &hook.RPCStatus{Code: codeName(s.Code()), Message: s.Message()}
	for _, detail := range s.Proto().GetDetails() {
		told.Details = append(told.Details, encodeDetail(d, detail))
	}
	return told
}

// statusText is what a status says, on one line where the plugin did.
func statusText(s *status.Status) error {
	if s.Message() == "" {
		return fmt.Errorf("%s", codeName(s.Code()))
	}
	return fmt.Errorf("%s: %s", codeName(s.Code()), s.Message())
}

// answered is set when the plugin itself ended a call with a status. Without it
// a status is gRPC's own word for a call that broke.
type answered struct{ atomic.Bool }

type answeredKey struct{}

// watched is a context whose call notes in a that the plugin answered.
func watched(ctx context.Context, a *answered) context.Context {
	return context.WithValue(ctx, answeredKey{}, a)
}

// answers is the part of gRPC that sees trailers, which only a server sends.
type answers struct{}

func (answers) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (answers) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.InTrailer); !ok {
		return
	}
	if a, ok := ctx.Value(answeredKey{}).(*answered); ok {
		a.Store(true)
	}
}

func (answers) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (answers) HandleConn(context.Context, stats.ConnStats) {}
