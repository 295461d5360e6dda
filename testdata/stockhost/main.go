// Command stockhost calls one method of a gRPC plugin once, as an ordinary
// host of hashicorp/go-plugin does. Benchmarks compare pyplug with it.
//
//	stockhost COOKIE_KEY COOKIE_VALUE /pkg.Service/Method TEXT PROGRAM [ARG…]
//
// TEXT is field 1 of the request. The command prints field 1 of the answer.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// bare is a plugin type whose client is the connection.
type bare struct{ plugin.NetRPCUnsupportedPlugin }

func (bare) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (bare) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, cc *grpc.ClientConn) (any, error) {
	return cc, nil
}

func main() {
	if err := call(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func call(key, value, method, text string, command []string) error {
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: key, MagicCookieValue: value},
		Plugins:          plugin.PluginSet{"bare": bare{}},
		Cmd:              exec.Command(command[0], command[1:]...),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
	})
	defer client.Kill()
	protocol, err := client.Client()
	if err != nil {
		return err
	}
	made, err := protocol.Dispense("bare")
	if err != nil {
		return err
	}
	var answer wrapperspb.StringValue
	err = made.(*grpc.ClientConn).Invoke(context.Background(), method, wrapperspb.String(text), &answer)
	if err == nil {
		fmt.Println(answer.Value)
	}
	return err
}
