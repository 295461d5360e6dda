package grpcplugin_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// serve runs a plugin in Go with go-plugin's own server: the service of zoo.proto, with reflection,
// health and controller, and with mutual TLS if the host requests it.
func serve() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "ZOO_COOKIE", MagicCookieValue: "monkey"},
		Plugins:         plugin.PluginSet{"zoo": &zooPlugin{}},
		GRPCServer:      plugin.DefaultGRPCServer,
		Logger:          hclog.NewNullLogger(),
	})
}

// serveOn serves without go-plugin. It calls print to print the handshake, and the functions in
// more to add services.
func serveOn(l net.Listener, print func(net.Listener), more ...func(reflection.GRPCServer)) {
	serveBy(grpc.NewServer(), l, print, more...)
}

func serveBy(s *grpc.Server, l net.Listener, print func(net.Listener), more ...func(reflection.GRPCServer)) {
	register(s)
	h := health.NewServer()
	h.SetServingStatus("plugin", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(s, h)
	for _, add := range more {
		add(s)
	}
	go print(l)
	if err := s.Serve(l); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// serveGracefully serves until Shutdown is called and no stream is open.
func serveGracefully() {
	s := grpc.NewServer()
	ended := make(chan struct{})
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "plugin.GRPCStdio", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{
		StreamName: "StreamStdio", ServerStreams: true,
		Handler: func(_ any, stream grpc.ServerStream) error { <-stream.Context().Done(); return nil },
	}}}, new(any))
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Shutdown",
		Handler: func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
			go func() {
				s.GracefulStop()
				close(ended)
			}()
			return new(emptypb.Empty), nil
		},
	}}}, new(any))
	serveBy(s, listen(), printLine("\n"))
	<-ended
}

// serveSlowly serves until Shutdown is called, and a little longer. Shutdown answers with an error
// at once, or takes longer than a signal would. A signal changes the exit code.
func serveSlowly(arg string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the process
		<-signals
		os.Exit(9)
	}()
	s := grpc.NewServer()
	ended := make(chan struct{})
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Shutdown",
		Handler: func(_ any, ctx context.Context, _ func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			if arg == "runs long" {
				select {
				case <-time.After(1300 * time.Millisecond):
					close(ended)
				case <-ctx.Done(): // the server waits for the signal
				}
				return new(emptypb.Empty), nil
			}
			time.AfterFunc(200*time.Millisecond, func() { close(ended) })
			return nil, status.Error(codes.Internal, "Failed to serialize response!")
		},
	}}}, new(any))
	go serveBy(s, listen(), printLine("\n"))
	<-ended
}

// printLine prints the handshake, followed by end.
func printLine(end string) func(net.Listener) {
	return func(l net.Listener) { fmt.Printf("1|1|tcp|%s|grpc%s", l.Addr(), end) }
}

// servePadded serves mutual TLS, and prints its certificate with padding.
func servePadded() {
	var pair tls.Certificate
	for len(pair.Certificate) == 0 || len(pair.Certificate[0])%3 == 0 { // a certificate of this length needs no padding
		der, pkcs8, err := newCertificate()
		if err != nil {
			panic(err)
		}
		key, err := x509.ParsePKCS8PrivateKey(pkcs8)
		if err != nil {
			panic(err)
		}
		pair = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	hosts := x509.NewCertPool()
	hosts.AppendCertsFromPEM([]byte(os.Getenv("PLUGIN_CLIENT_CERT")))
	cfg := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: hosts}
	serveBy(grpc.NewServer(grpc.Creds(credentials.NewTLS(cfg))), listen(), func(l net.Listener) {
		fmt.Printf("1|1|tcp|%s|grpc|%s\n", l.Addr(), base64.StdEncoding.EncodeToString(pair.Certificate[0]))
	})
}

// serveOwnCA serves TLS with its own certificate, and trusts only clients of its own CA. arg
// selects whether it rejects other clients, closes the connection without an alert, as grpcio does,
// has a certificate for another name, or prints no certificate.
func serveOwnCA(arg string) {
	names := []string{"localhost"}
	if arg == "another name" {
		names[0] = "plugin.internal"
	}
	der, pkcs8, err := newCertificate(names...)
	if err != nil {
		panic(err)
	}
	key, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		panic(err)
	}
	cfg := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool(), NextProtos: []string{"h2"}}
	line := "1|1|tcp|%s|grpc|" + base64.RawStdEncoding.EncodeToString(der) + "\n"
	l := listen()
	switch arg {
	case "leaves":
		cfg.ClientAuth = tls.RequireAnyClientCert
	case "plain":
		line = "1|1|tcp|%s|grpc\n"
	}
	fmt.Printf(line, l.Addr())
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if arg != "plain" {
			_ = tls.Server(conn, cfg).Handshake() // the client gets its error
		}
		conn.Close() // without an alert
	}
}

type zooPlugin struct{ plugin.NetRPCUnsupportedPlugin }

func (*zooPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	register(s)
	return nil
}

func (*zooPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

// describeZoo returns zoo.proto as if it were compiled into this program.
func describeZoo() protoreflect.FileDescriptor {
	_, here, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(here), "../../testdata/plugins/grpc/zoo.proto")
	sources, err := protoFile(path)()
	if err != nil {
		panic(err)
	}
	file, err := protodesc.NewFile(sources[0].Files[0], protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	if err := protoregistry.GlobalFiles.RegisterFile(file); err != nil {
		panic(err)
	}
	return file
}

// unary contains the methods that accept and return one message.
var unary = map[string]func(ctx context.Context, in, out *dynamicpb.Message) error{
	// Echo also returns unknown fields.
	"Echo": func(_ context.Context, in, out *dynamicpb.Message) error {
		copyText(in, out)
		out.SetUnknown(in.GetUnknown())
		return nil
	},
	"Fail": func(_ context.Context, in, _ *dynamicpb.Message) error {
		if text := text(in); text != "" {
			return status.Error(codes.ResourceExhausted, text)
		}
		return status.Error(codes.Unknown, "on purpose")
	},
	"Hang": func(ctx context.Context, _, _ *dynamicpb.Message) error { <-ctx.Done(); return ctx.Err() },
	"Stubborn": func(context.Context, *dynamicpb.Message, *dynamicpb.Message) error {
		freeze()
		return nil
	},
	"Leave": func(_ context.Context, in, _ *dynamicpb.Message) error {
		os.Exit(int(number(in)))
		return nil
	},
	// Metadata always answers a megabyte.
	"Metadata": func(_ context.Context, _, out *dynamicpb.Message) error {
		out.Set(out.Descriptor().Fields().ByName("text"), protoreflect.ValueOfString(strings.Repeat("x", 1<<20)))
		return nil
	},
	"Print": func(_ context.Context, in, out *dynamicpb.Message) error {
		fmt.Println(text(in))
		copyText(in, out)
		return nil
	},
}

func register(s *grpc.Server) {
	service := describeZoo().Services().Get(0)
	desc := &grpc.ServiceDesc{ServiceName: "zoo.Zoo", HandlerType: (*any)(nil), Metadata: "zoo.proto"}
	for name, do := range unary {
		m := service.Methods().ByName(protoreflect.Name(name))
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: name,
			Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				in, out := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
				if err := decode(in); err != nil {
					return nil, err
				}
				return out, do(ctx, in, out)
			}})
	}
	count := service.Methods().ByName("Count")
	desc.Streams = []grpc.StreamDesc{{StreamName: "Count", ServerStreams: true,
		Handler: func(_ any, stream grpc.ServerStream) error {
			in := dynamicpb.NewMessage(count.Input())
			if err := stream.RecvMsg(in); err != nil {
				return err
			}
			for n := range number(in) {
				out := dynamicpb.NewMessage(count.Output())
				out.Set(out.Descriptor().Fields().ByName("n"), protoreflect.ValueOfInt64(n))
				if err := stream.SendMsg(out); err != nil {
					return err
				}
			}
			return nil
		}}, {StreamName: "Chat", ServerStreams: true, ClientStreams: true,
		Handler: func(_ any, stream grpc.ServerStream) error {
			for {
				m := dynamicpb.NewMessage(service.Methods().ByName("Chat").Input())
				if err := stream.RecvMsg(m); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
				if err := stream.SendMsg(m); err != nil {
					return err
				}
			}
		}}}
	s.RegisterService(desc, new(any))
}

func copyText(in, out *dynamicpb.Message) {
	out.Set(out.Descriptor().Fields().ByName("text"), protoreflect.ValueOfString(text(in)))
}

func text(m *dynamicpb.Message) string {
	return m.Get(m.Descriptor().Fields().ByName("text")).String()
}

func number(m *dynamicpb.Message) int64 {
	return m.Get(m.Descriptor().Fields().ByName("n")).Int()
}
