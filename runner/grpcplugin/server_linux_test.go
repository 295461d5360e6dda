package grpcplugin_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestProbeAddressFull reports a server that does not even accept connections: its
// queue has room for one.
func TestProbeAddressFull(t *testing.T) {
	runnertest.NothingLeft(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 0) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	queued, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer queued.Close()
	want(t, probeAddress(t, l.Addr().String(), grpcplugin.Config{ConnectTimeout: 200 * time.Millisecond}),
		hook.Handshake, "cannot connect to "+l.Addr().String()+": no answer within 200ms")
}
