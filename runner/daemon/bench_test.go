//go:build unix

package daemon

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// BenchmarkCall is a call of a session that answers at once, through the socket;
// BenchmarkPingPong is what the socket itself takes, in Go, both ends in one process.
func BenchmarkCall(b *testing.B) {
	runDir(b)
	start(b, newFake(), Options{})
	c := open(b)
	call := hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`["World"]`)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Call(context.Background(), call); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCalls is as many as the processors take at once, on one connection.
func BenchmarkCalls(b *testing.B) {
	runDir(b)
	start(b, newFake(), Options{})
	c := open(b)
	call := hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`["World"]`)}}
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Call(context.Background(), call); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkPingPong(b *testing.B) {
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() { // ends with the listener, or the connection
		c, err := l.Accept()
		buf := make([]byte, 64)
		for err == nil {
			var n int
			if n, err = c.Read(buf); err == nil {
				_, err = c.Write(buf[:n])
			}
		}
	}()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	buf := make([]byte, 64)
	for b.Loop() {
		if _, err := c.Write(buf); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}
