package grpcplugin

import (
	"context"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// broker is the host's side of go-plugin's broker. A number in a request stands for a connection to
// a service of the host, which the plugin calls back. Here every number leads to one server without
// services, so the plugin learns at once that the service is missing.
type broker struct {
	once      sync.Once // sets the following fields, or keeps them unset for good
	server    *grpc.Server
	address   []byte      // the server's address, as in an announcement
	announced chan []byte // messages to send
}

// maxAnnounced is the number of announcements that may wait for a plugin to read them.
const maxAnnounced = 16

// ofHost ends the message with which the server rejects a plugin's call. A plugin may return that
// status as its own, and the suffix shows that the host lacks the method, not the plugin.
const ofHost = " of the host"

// ownKey marks the context of the stream that pyplug opens to the plugin's broker. go-plugin's
// client opens another such stream.
type ownKey struct{}

// offer announces the numbers in a request. A plugin without a broker rejects the stream, and the
// call continues.
func (i *Instance) offer(request protoreflect.Message) {
	for _, number := range numbersIn(request) {
		i.broker.once.Do(func() {
			if err := i.openBroker(); err != nil {
				i.cfg.Debug("grpc", "broker: "+err.Error())
			}
		})
		// go-plugin's message ConnInfo: the number, and the network and address to dial.
		info := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(number))
		select {
		case i.broker.announced <- append(info, i.broker.address...):
		default: // the plugin does not read announcements
		}
	}
}

// numbersIn lists the values of fields that may be connection numbers. An absent field counts as 0.
func numbersIn(message protoreflect.Message) (numbers []uint32) {
	for n := range message.Descriptor().Fields().Len() {
		field := message.Descriptor().Fields().Get(n)
		switch {
		case field.IsList() || field.IsMap():
		case field.Kind() == protoreflect.Uint32Kind:
			numbers = append(numbers, uint32(message.Get(field).Uint()))
		case field.Message() != nil && message.Has(field):
			numbers = append(numbers, numbersIn(message.Get(field).Message())...)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// openBroker opens the stream, and starts the server, which stops when the instance is
// released.
func (i *Instance) openBroker() error {
	b := &i.broker
	network, address := "unix", filepath.Join(i.dir, "host")
	if runtime.GOOS == "windows" {
		network, address = "tcp", "127.0.0.1:0"
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	var options []grpc.ServerOption
	if i.tls != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(i.tls)))
	}
	b.server = grpc.NewServer(append(options, grpc.UnknownServiceHandler(reject))...)
	b.address = protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), listener.Addr().Network())
	b.address = protowire.AppendString(protowire.AppendTag(b.address, 3, protowire.BytesType), listener.Addr().String())
	b.announced = make(chan []byte, maxAnnounced)
	go b.server.Serve(listener) // ends with close
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), ownKey{}, true))
	stream, err := i.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
		brokerService+"StartStream", grpc.ForceCodecV2(codec{}))
	if err != nil {
		cancel()
		return err
	}
	go func() { // ends with the receiving goroutine below
		for ctx.Err() == nil {
			select {
			case info := <-b.announced:
				_ = stream.SendMsg(info) // the receiving goroutine detects the end
			case <-ctx.Done():
			}
		}
	}()
	go func() { // ends with the connection, or when the plugin has no broker
		defer cancel()
		for stream.RecvMsg(new([]byte)) == nil {
		}
	}()
	return nil
}

// reject rejects the plugin's call to its host.
func reject(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	return status.Error(codes.Unimplemented, "no method "+strings.TrimPrefix(method, "/")+ofHost)
}

// close stops the server if it runs. The server cannot be opened after that.
func (b *broker) close() {
	b.once.Do(func() {})
	if b.server != nil {
		b.server.Stop()
	}
}
