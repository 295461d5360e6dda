package grpcplugin

import (
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// codec passes the bytes of messages on: protoschema reads them, since it makes an error
// of malformed ones, where proto.Unmarshal may panic.
type codec struct{}

// Name is the name that servers expect.
func (codec) Name() string { return grpcproto.Name }

// Marshal takes a []byte.
func (codec) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

// Unmarshal sets a *[]byte.
func (codec) Unmarshal(data mem.BufferSlice, into any) error {
	*into.(*[]byte) = data.Materialize()
	return nil
}

// options are those of a call of a hook. Only such calls are bounded by
// [Config.MaxMessage].
func (i *Instance) options() []grpc.CallOption {
	return []grpc.CallOption{grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(i.cfg.MaxMessage)}
}

// maxReflection bounds the answers of server reflection: a small MaxMessage is not
// meant for them.
func (c *Config) maxReflection() int { return max(c.MaxMessage, defaultMessage) }

// encodeDetail returns a detail of a status as JSON, or its name and bytes if its
// type is unknown.
func encodeDetail(d *protoschema.Descriptors, detail *anypb.Any) json.RawMessage {
	text, err := d.EncodeMessage(detail, false)
	if err != nil {
		text, _ = json.Marshal(map[string]any{"@type": detail.GetTypeUrl(), "value": detail.GetValue()}) // always marshals
	}
	return text
}

// tooLarge is the error for a message over [Config.MaxMessage].
func tooLarge(kind hook.Kind, format string, sizes ...any) *hook.Error {
	return &hook.Error{Kind: kind, Err: fmt.Errorf(format, sizes...), Hints: []string{"raise --max-message to allow larger messages"}}
}

// answerTooLarge is the error for a status by which gRPC on our side refused to read
// an answer over our limit, nil for others. A plugin in Go says the same of a
// request over its own limit, but not with our numbers: a request over our limit is
// not sent.
func answerTooLarge(s *status.Status, limit int) *hook.Error {
	var size, most int
	_, err := fmt.Sscanf(s.Message(), "grpc: received message larger than max (%d vs. %d)", &size, &most)
	if err != nil || s.Code() != codes.ResourceExhausted || most != limit || size <= most {
		return nil
	}
	return tooLarge(hook.Failed, "the answer has %d bytes, more than the limit of %d", size, limit)
}
