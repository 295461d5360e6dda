package access

import (
	"errors"
	"net"
	"os"
	"time"
)

const (
	// writeLimit is how long a client may go without accepting or acknowledging a byte.
	writeLimit = 30 * time.Second
	// writeStep is the timeout of one write, so that pyplug detects when a client stops reading.
	writeStep = 5 * time.Second
	// writeSize is the size of one write.
	writeSize = 64 << 10
	// headerSize is the size of the headers of a request.
	headerSize = 64 << 10
	// idleLimit is how long a connection may wait for the next request.
	idleLimit = 2 * time.Minute
)

// keepAlive detects within 30 s that a client has vanished which does not have to send anything.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// listener accepts connections that end when the client stops reading.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

// conn is a connection that fails when the client stops reading. A long answer may take any time if
// the client keeps reading.
type conn struct{ net.Conn }

func (c conn) Write(b []byte) (written int, err error) {
	for waited := time.Duration(0); ; {
		if err := c.SetWriteDeadline(time.Now().Add(writeStep)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(b[:min(len(b), writeSize)])
		written, b = written+n, b[n:]
		if waited += writeStep; n > 0 {
			waited = 0
		}
		// The client may have stopped at any moment of the last partial write.
		if errors.Is(err, os.ErrDeadlineExceeded) && waited+writeStep < writeLimit {
			err = nil
		}
		if err != nil || len(b) == 0 {
			return written, err
		}
	}
}
