package access

import (
	"errors"
	"net"
	"os"
	"time"
)

const (
	// writeLimit is how long a client may accept no byte, or not acknowledge one.
	writeLimit = 30 * time.Second
	// writeSize is the size of one write, which writeLimit concerns.
	writeSize = 64 << 10
	// headerSize is the size of the headers of a request.
	headerSize = 64 << 10
	// idleLimit is how long a connection may wait for the next request.
	idleLimit = 2 * time.Minute
)

// keepAlive finds within 30 s that a client has vanished that need not send anything.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// listener accepts connections that end when the client does not read.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

// conn is a connection each write of which has a limit. A long answer may take any time as long as the client reads.
type conn struct{ net.Conn }

func (c conn) Write(b []byte) (written int, err error) {
	for {
		if err := c.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(b[:min(len(b), writeSize)])
		if written, b = written+n, b[n:]; n > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil // it is slow
		}
		if err != nil || len(b) == 0 {
			return written, err
		}
	}
}
