package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/wire"
)

const (
	// maxCalls is how many calls of one connection run at once.
	maxCalls = 4096
	// hailLimit is how long a client may take to say which one it is.
	hailLimit = 10 * time.Second
	// writeLimit is how long a client may take nothing of what it is sent. An
	// item waits for its window instead, as long as its reader likes.
	writeLimit = 30 * time.Second
)

// connection is a client's, on the daemon's side.
type connection struct {
	server *Server
	net    net.Conn
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	only    bool // the client may look and stop, and not call: it is of another version
	crowded bool // the same: there are too many

	writing chan struct{} // has a token while frames are written

	mu    sync.Mutex
	calls map[uint32]*serving
}

func newConnection(s *Server, c net.Conn) *connection {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &connection{server: s, net: c, ctx: ctx, cancel: cancel, writing: make(chan struct{}, 1), calls: make(map[uint32]*serving)}
}

// drop ends the connection, and with it its calls.
func (c *connection) drop() {
	c.cancel(errGone)
	_ = c.net.Close()
}

// refuse tells a client that there are too many.
func (c *connection) refuse() {
	c.fail(0, c.tooMany())
	c.drop()
}

// tooMany says that there are.
func (c *connection) tooMany() *hook.Error {
	return unavailable(fmt.Errorf("%s has %d clients, and takes no more", c.server.id.Name, maxClients))
}

// other tells a client that it is of another version, and ends the connection.
func (c *connection) other() {
	c.write(wire.Append(nil, wire.Other, 0, []byte(c.server.id.Version)))
	c.drop()
}

// serve reads frames until the client is gone, or sends what is none.
func (c *connection) serve() {
	defer c.work.Wait()
	defer c.drop()
	r := wire.NewSideReader(c.net, 0, wire.ToDaemon)
	_ = c.net.SetReadDeadline(time.Now().Add(hailLimit))
	hail, err := r.Next()
	if err != nil || hail.Type != wire.Hail {
		return
	}
	_ = c.net.SetReadDeadline(time.Time{})
	switch string(hail.Body) {
	case c.server.id.Build:
	case "":
		c.only = true
	default:
		c.other()
		return
	}
	for {
		f, err := r.Next()
		if err != nil {
			return
		}
		if err := c.take(f); err != nil {
			c.server.log.note("a client was dropped: " + err.Error())
			return
		}
	}
}

// take acts on one frame. It does not wait for anything. The error is that of a
// client which does not keep to the protocol.
func (c *connection) take(f wire.Frame) error {
	switch f.Type {
	case wire.Ask, wire.Call, wire.Message:
		return c.begin(f)
	}
	c.mu.Lock()
	k := c.calls[f.Call]
	c.mu.Unlock()
	if k == nil {
		if f.Type == wire.Hail {
			return errors.New("a second greeting")
		}
		return nil // it has been answered meanwhile
	}
	switch f.Type {
	case wire.Cancel:
		k.cancel(errCanceled)
	case wire.Credit:
		n, ok := wire.Number(f.Body)
		if !ok {
			return errors.New("a window that is no number")
		}
		k.grant(int(n))
	case wire.Item, wire.End:
		return k.input.take(f)
	}
	return nil
}

// begin starts to answer a call or a message.
func (c *connection) begin(f wire.Frame) error {
	k := newServing(c, f.Call)
	c.mu.Lock()
	_, twice := c.calls[f.Call]
	many := len(c.calls) >= maxCalls
	if !twice && !many && f.Call != 0 {
		c.calls[f.Call] = k
	}
	c.mu.Unlock()
	switch {
	case f.Call == 0:
		return errors.New("a call without a number")
	case twice:
		return fmt.Errorf("call %d is there twice", f.Call)
	}
	work := func() {
		k.refuse(unavailable(fmt.Errorf("%d calls of this client run, and no more are taken", maxCalls)))
	}
	switch {
	case many:
	case f.Type == wire.Message:
		work = func() { k.message(f.Body) }
	case c.only:
		work = c.other
	case c.crowded:
		work = func() { k.refuse(c.tooMany()) }
	default:
		ask, err := readAsk(f)
		if err != nil {
			return err
		}
		k.expect(ask)
		work = func() { k.call(ask) }
	}
	ok := c.server.begin()
	c.work.Go(func() { // ends with the call, which ends with the connection
		defer c.server.end()
		defer c.finish(k, many)
		if f.Type != wire.Message {
			defer c.server.use()()
		}
		if !ok && f.Type != wire.Message {
			k.refuse(c.server.refusal())
			return
		}
		work()
	})
	return nil
}

// finish forgets a call that was answered.
func (c *connection) finish(k *serving, uncounted bool) {
	k.cancel(nil)
	if uncounted {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, k.number)
}

// write sends whole frames. A client that takes none is dropped.
func (c *connection) write(frames []byte) {
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	_ = c.net.SetWriteDeadline(time.Now().Add(c.server.patience()))
	if _, err := c.net.Write(frames); err != nil {
		c.drop()
	}
}

// writeWithin is write for a call whose time ctx is. While others write it only waits
// that long. What is on its way when the call is over cannot be taken back, and is
// hastened. The error is why the call is over.
func (c *connection) writeWithin(ctx context.Context, frames []byte) error {
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.writing }()
	_ = c.net.SetWriteDeadline(time.Now().Add(c.server.patience()))
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.hasten()
		close(fired)
	})
	_, err := c.net.Write(frames)
	if !stop() {
		<-fired // before another call's frames are written
	}
	if err != nil {
		c.drop()
	}
	return nil // a connection that is over ends ctx
}

// hasten gives a client that takes nothing less time for what is being written.
func (c *connection) hasten() { _ = c.net.SetWriteDeadline(time.Now().Add(partLimit)) }

// fail answers a call with an error.
func (c *connection) fail(number uint32, err error) {
	c.told(number, c.server.tell(err))
}

func (c *connection) told(number uint32, told hook.Told) {
	body, err := json.Marshal(told)
	if err != nil || len(body) > wire.MaxBody {
		body, _ = json.Marshal(hook.Tell(fmt.Errorf("the error %q cannot be told: %w", told.Text, err)))
	}
	c.write(wire.Append(nil, wire.Error, number, body))
}

// refusal is why no calls are taken.
func (s *Server) refusal() error {
	return unavailable(&StoppingError{Name: s.id.Name})
}
