package grpcplugin_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// shared listens on a port that others may listen on too, as Python's gRPC
// server does by default.
func shared(address string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}), err)
	}}
	return config.Listen(context.Background(), "tcp", address)
}

func shareAndServe(address string) {
	l, err := shared(address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
	serveOn(l, printLine("\n"))
}

// TestSharedPort refuses a port that the plugin shares with somebody.
func TestSharedPort(t *testing.T) {
	runnertest.NothingLeft(t)
	l, err := shared("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = grpcplugin.New(fake(t, "shares a port", l.Addr().String())).Launch(t.Context())
	e := want(t, err, hook.Handshake, fmt.Sprintf("belongs to the plugin and to process %d, want the plugin alone", os.Getpid()))
	if e.Reason != grpcplugin.ReasonForeignAddress {
		t.Errorf("reason %q", e.Reason)
	}
}
