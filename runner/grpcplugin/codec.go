package grpcplugin

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// codec writes the messages of one call as gRPC does, and reads them as
// protoschema does: malformed bytes are an error and no panic, and the plugin's
// extensions are known. It belongs to the goroutine that receives.
type codec struct {
	encoding.CodecV2
	set *protoschema.Descriptors
	// unread is the error about an answer that could not be read. gRPC makes a
	// status of it, which would look like the plugin's own.
	unread error
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
	c.unread = c.set.Unmarshal(content.ReadOnlyData(), message)
	return c.unread
}

// options are those of a call of a hook. Only such calls are bound by
// [Config.MaxMessage]; what is sent is held to it by tooLarge.
func (i *Instance) options(c *codec) []grpc.CallOption {
	return []grpc.CallOption{grpc.ForceCodecV2(c), grpc.MaxCallRecvMsgSize(i.cfg.MaxMessage)}
}
