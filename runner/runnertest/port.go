package runnertest

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// ports counts those that this process has handed out.
var ports atomic.Int64

// FixedPort is a port for a plugin that always listens at the same one: nobody has
// it, and the system and go-plugin's hosts give it to nobody who does not name it.
func FixedPort(t testing.TB) string {
	t.Helper()
	const first, number, each = 25001, 7000, 16 // above go-plugin's, below those that Linux gives away
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
