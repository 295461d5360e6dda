package runnertest

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// ports counts the ports that this process has returned.
var ports atomic.Int64

// FixedPort returns a free port for a plugin that always listens at the same one.
// Neither the system nor go-plugin's hosts assign it to others.
func FixedPort(t testing.TB) string {
	t.Helper()
	const first, number, each = 25001, 7000, 16 // above go-plugin's, below Linux's ephemeral ports
	for range each {
		port := strconv.Itoa(first + (os.Getpid()*each+int(ports.Add(1))%each)%number)
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}
