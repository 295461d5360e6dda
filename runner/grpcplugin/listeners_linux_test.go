package grpcplugin

import (
	"net"
	"net/netip"
	"slices"
	"testing"
)

// TestListeners finds what listens in both ways, which have to agree.
func TestListeners(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err) // a machine without IPv6
			continue
		}
		defer l.Close()
		listens := l.Addr().(*net.TCPAddr).AddrPort()
		read := readListeners(listens.Port())
		if !slices.ContainsFunc(read, func(b bound) bool { return b.ip == listens.Addr() }) {
			t.Errorf("%s: read %v", listens, read)
		}
		asked, err := askListeners(listens.Port())
		if err != nil {
			t.Logf("sock_diag: %v", err) // a sandbox
			continue
		}
		if !slices.Equal(asked, read) {
			t.Errorf("%s: asked %v, read %v", listens, asked, read)
		}
	}
}

// TestNearest prefers the socket that the system gives a connection to.
func TestNearest(t *testing.T) {
	any4, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer any4.Close()
	port := any4.Addr().(*net.TCPAddr).AddrPort().Port()
	address := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port).String()
	if got := tcpListeners(address); len(got) != 1 || got[0].rank != 1 {
		t.Errorf("got %+v, want the one bound to any", got)
	}
	if got := nearest([]listener{{"a", 2}, {"b", 1}, {"c", 1}, {"b", 1}}); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("got %q, want b and c", got)
	}
}

// BenchmarkOwner is what the check of an address costs each connection.
func BenchmarkOwner(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).AddrPort().Port()
	b.Run("asked", func(b *testing.B) {
		for b.Loop() {
			if _, err := askListeners(port); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			readListeners(port)
		}
	})
}
