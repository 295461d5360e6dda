package grpcplugin

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestListeners finds listeners of each kind of address.
func TestListeners(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err) // a machine without IPv6
			continue
		}
		defer l.Close()
		address := l.Addr().(*net.TCPAddr).AddrPort()
		if found := tcpListeners(address.String()); len(found) != 1 {
			t.Errorf("%s: got %q", address, found)
		}
	}
}

// TestTCPListeners prefers the socket that the system gives a connection to.
func TestTCPListeners(t *testing.T) {
	listen := func(address string) net.Listener {
		config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
			return errors.Join(c.Control(func(fd uintptr) {
				err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
			}), err)
		}}
		l, err := config.Listen(t.Context(), "tcp4", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	address := fmt.Sprintf("127.0.0.1:%d", listen("0.0.0.0:0").Addr().(*net.TCPAddr).Port)
	before := tcpListeners(address)
	listen(address)
	after := tcpListeners(address)
	if len(before) != 1 || len(after) != 1 || before[0] == after[0] {
		t.Errorf("got %q, then %q; want one socket, then the other", before, after)
	}
}

// TestOwnerError holds the messages.
func TestOwnerError(t *testing.T) {
	for _, test := range []struct {
		pids   []int
		shared bool
		want   string
	}{
		{nil, false, "the address /s belongs to another process, want the plugin"},
		{[]int{7}, false, "the address /s belongs to process 7, want the plugin"},
		{[]int{7, 8}, true, "the address /s belongs to the plugin and to processes 7, 8, want the plugin alone"},
	} {
		if e := ownerError("/s", test.pids, test.shared); e.Error() != test.want || len(e.Hints) != 1 {
			t.Errorf("got %v with %q, want %s", e, e.Hints, test.want)
		}
	}
}

// BenchmarkOwner is what the check of an address costs each connection.
func BenchmarkOwner(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for b.Loop() {
		if err := checkOwner(os.Getpid(), "tcp", l.Addr().String()); err != nil {
			b.Fatal(err)
		}
	}
}
