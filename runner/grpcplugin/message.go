package grpcplugin

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// codec writes the messages of one call as gRPC does, and reads them as protoschema
// does: malformed bytes are an error instead of a panic, and the plugin's extensions
// are known. It belongs to the goroutine that receives.
type codec struct {
	encoding.CodecV2
	set *protoschema.Descriptors
	// err is the error about an answer that could not be read. gRPC returns a
	// status for it, which looks like the plugin's own.
	err error
}

func newCodec(set *protoschema.Descriptors) *codec {
	return &codec{CodecV2: encoding.GetCodecV2(grpcproto.Name), set: set}
}

// Unmarshal reads one answer.
func (c *codec) Unmarshal(data mem.BufferSlice, into any) error {
	message, ok := into.(proto.Message)
	if !ok {
		return fmt.Errorf("cannot read into %T, want a proto.Message", into)
	}
	content := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer content.Free() // messages keep copies
	c.err = c.set.Unmarshal(content.ReadOnlyData(), message)
	return c.err
}

// options are those of a call of a hook. Only such calls are bounded by
// [Config.MaxMessage].
func (i *Instance) options(c *codec) []grpc.CallOption {
	return []grpc.CallOption{grpc.ForceCodecV2(c), grpc.MaxCallRecvMsgSize(i.cfg.MaxMessage)}
}

// encode returns an answer as JSON.
func (i *Instance) encode(set *protoschema.Descriptors, answer proto.Message) (json.RawMessage, error) {
	return protoschema.EncodeMessage(answer, protoschema.EncodeOptions{EmitDefaults: i.cfg.EmitDefaults, Descriptors: set})
}

// encodeDetail returns a detail of a status as JSON, or its name and bytes if its
// type is unknown.
func encodeDetail(d *protoschema.Descriptors, detail *anypb.Any) json.RawMessage {
	text, err := protoschema.EncodeMessage(detail, protoschema.EncodeOptions{Descriptors: d})
	if err != nil {
		text, _ = json.Marshal(map[string]any{"@type": detail.GetTypeUrl(), "value": detail.GetValue()}) // always marshals
	}
	return text
}

// sizeError is the error for a message over [Config.MaxMessage].
type sizeError string

// Error has both sizes.
func (e sizeError) Error() string { return string(e) }

// Hints names the flag.
func (e sizeError) Hints() []string { return []string{"--max-message allows larger messages"} }

// tooLarge rejects a message before it is sent.
func (i *Instance) tooLarge(message proto.Message) error {
	if size := proto.Size(message); size > i.cfg.MaxMessage {
		return sizeError(fmt.Sprintf("the request takes %d bytes, at most %d are sent", size, i.cfg.MaxMessage))
	}
	return nil
}

// answerTooLarge is the error for a status by which gRPC on our side refused to read
// an answer over our limit, nil for others. A plugin in Go says the same of a
// request over its own limit, but not with our numbers: a request over our limit is
// not sent.
func answerTooLarge(s *status.Status, limit int) error {
	var size, most int
	_, err := fmt.Sscanf(s.Message(), "grpc: received message larger than max (%d vs. %d)", &size, &most)
	if err != nil || s.Code() != codes.ResourceExhausted || most != limit || size <= most {
		return nil
	}
	return sizeError(fmt.Sprintf("the answer takes %d bytes, at most %d are read", size, limit))
}

// ownText is the text of a status of gRPC's Go side without its prefix.
func ownText(s *status.Status) string { return strings.TrimPrefix(s.Message(), "grpc: ") }
