package commands_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// protosets implements `protoset FILE.proto...`. It makes FILE.pb from each FILE.proto, as protoc
// -o does.
func protosets(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		ts.Check(makeProtoset(strings.TrimSuffix(ts.MkAbs(name), ".proto")+".pb", ts.ReadFile(name)))
	}
}

// makeProtoset writes the descriptors of a .proto file's text.
func makeProtoset(path, text string) error {
	file, err := runnertest.ProtoFile(strings.TrimSuffix(filepath.Base(path), ".pb")+".proto", text)
	if err != nil {
		return err
	}
	content, err := protobuf.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{file}})
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// serve is the fake Python's gRPC server at $ADDRESS. answer is its health: the name of a status,
// "none", or "hang". It has the service of zoo.proto, and accepts any other method whose messages
// the fake can handle.
func serve(answer string, _ int) error {
	if err := listen("", 0); err != nil {
		return err
	}
	options := []grpc.ServerOption{grpc.UnknownServiceHandler(handle), grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)})}
	if secure != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(secure)))
	}
	s := grpc.NewServer(options...)
	switch status, known := grpc_health_v1.HealthCheckResponse_ServingStatus_value[answer]; {
	case known:
		h := health.NewServer()
		h.SetServingStatus("plugin", grpc_health_v1.HealthCheckResponse_ServingStatus(status))
		grpc_health_v1.RegisterHealthServer(s, h)
	case answer == "hang":
		grpc_health_v1.RegisterHealthServer(s, hanging{})
	case answer != "none":
		return fmt.Errorf("no health %q", answer)
	}
	go func() { // ends with the process
		if err := s.Serve(opened); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return nil
}

type hanging struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (hanging) Check(ctx context.Context, _ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if err := mark(); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// handle implements every method of every service.
func handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	var in raw
	if err := stream.RecvMsg(&in); err != nil && err != io.EOF {
		return err
	}
	switch method = path.Base(method); method {
	case "Echo", "Put":
		return stream.SendMsg(&in)
	case "Large": // a message of n bytes
		text := strings.Repeat("x", int(in.number()))
		out := raw(protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text))
		return stream.SendMsg(&out)
	case "Broken": // not a valid message
		return stream.SendMsg(&raw{0xff, 0xff})
	case "Twice":
		if err := stream.SendMsg(&in); err != nil {
			return err
		}
		return stream.SendMsg(&in)
	case "Nothing":
		return nil
	case "Flood": // n megabytes on standard output, and then an answer
		if err := flood("", int(in.number())); err != nil {
			return err
		}
		return stream.SendMsg(&in)
	case "Leave":
		os.Exit(int(in.number()))
	case "Hang", "Forever":
		if method == "Forever" {
			if err := stream.SendMsg(&in); err != nil {
				return err
			}
		}
		if err := mark(); err != nil {
			return err
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	case "Count":
		for n := range in.number() {
			out := raw(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), n))
			if err := stream.SendMsg(&out); err != nil {
				return err
			}
		}
		return nil
	}
	return status.Errorf(codes.Unimplemented, "no method %s", method)
}

// raw contains the bytes of a message.
type raw []byte

// number returns field 1 of a message. It must be the first field.
func (r raw) number() uint64 {
	_, _, tag := protowire.ConsumeTag(r)
	if tag < 0 {
		return 0
	}
	n, _ := protowire.ConsumeVarint(r[tag:])
	return n
}

// codec leaves raw messages unchanged, and encodes all others as usual.
type codec struct{ encoding.CodecV2 }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if r, ok := v.(*raw); ok {
		return mem.BufferSlice{mem.SliceBuffer(*r)}, nil
	}
	return c.CodecV2.Marshal(v)
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if r, ok := v.(*raw); ok {
		*r = data.Materialize()
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
