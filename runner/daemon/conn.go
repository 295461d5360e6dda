package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
)

// peerListener accepts only connections of the same user.
type peerListener struct {
	*net.UnixListener
	log *Log
}

func (l peerListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if err = checkPeer(c); err == nil {
			return &conn{UnixConn: c}, nil
		}
		l.log.note("rejected a connection: " + err.Error())
		_ = c.Close()
	}
}

// conn is a connection of a client. net/http itself answers a request that it cannot read
// or does not support, as text and before any handler. conn replaces these answers by
// ours: the documented error, with our headers.
type conn struct {
	*net.UnixConn
	handled bool // the handler has the request; set in the connection's own goroutine
}

type connKey struct{}

// withConn lets a handler find the connection of its request.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// handling records that the handler answers the request.
func handling(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		c.handled = true
	}
}

// awaitRequest records that an answer is complete.
func awaitRequest(c net.Conn, state http.ConnState) {
	if state == http.StateIdle {
		c.(*conn).handled = false
	}
}

// Write writes to the client. net/http writes each of its own answers at once.
func (c *conn) Write(b []byte) (int, error) {
	if c.handled {
		return c.UnixConn.Write(b)
	}
	head, message, _ := strings.Cut(string(b), "\r\n\r\n")
	status, _, _ := strings.Cut(strings.TrimPrefix(head, "HTTP/1.1 "), "\r\n")
	text, err := hook.Marshal(wire.Failed(hook.NewError(hook.Request, errors.New(cmp.Or(message, status)))))
	if err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(c.UnixConn, "HTTP/1.1 %s\r\n%s: %d\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		status, apiHeader, API, jsonType, len(text)+1, text)
	return len(b), err
}
