package access

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// writeLimit is how long a client may go without accepting or acknowledging a byte.
	writeLimit = 30 * time.Second
	// writeStep is the timeout of one write, so that pyplug detects when a client stops reading.
	writeStep = 5 * time.Second
	// writeSize is the maximum size of one write in bytes.
	writeSize = 64 << 10
	// headerSize is the maximum size of the headers of a request in bytes.
	headerSize = 64 << 10
	// idleLimit is how long a connection may wait for the next request.
	idleLimit = 2 * time.Minute
	// stopLimit is how long a stop waits until the server has accepted all clients that connected
	// before the stop.
	stopLimit = time.Second
)

// keepAlive detects within 30 s that a client has vanished, even if the connection is idle.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// acceptor is a listener that can stop without resetting connections that wait to be accepted.
type acceptor struct {
	*net.TCPListener
	stopping atomic.Bool
	once     sync.Once
	stopped  chan struct{} // closed when Accept has returned the last connection
}

// Accept returns the next connection. After a stop, it returns [net.ErrClosed] once it has returned
// all earlier connections.
func (a *acceptor) Accept() (net.Conn, error) {
	for {
		if a.stopping.Load() {
			_ = a.SetDeadline(time.Time{})
			if raw, err := a.SyscallConn(); err != nil || closeIfEmpty(raw) {
				a.once.Do(func() { close(a.stopped) })
				return nil, net.ErrClosed
			}
		}
		c, err := a.TCPListener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) { // stop sets the deadline
			return c, err
		}
	}
}

// stop refuses new connections. Accept still returns the clients that have already connected.
func (a *acceptor) stop() {
	a.stopping.Store(true)
	_ = a.SetDeadline(time.Unix(1, 0)) // wakes Accept
	hook.Within(a.stopped, stopLimit)
}

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
