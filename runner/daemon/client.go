package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/wire"
)

// Client is an open connection to a daemon, and a [hook.Caller]. It is safe for
// concurrent use. A call that ends because the daemon did is of kind Unavailable,
// and Begun: the plugin ended with it, and nobody starts it again.
type Client struct {
	name  string
	id    Identity
	place place
	net   net.Conn
	left  *asked // what Adopt goes on with
	// Note gets what the daemon has to say about a call beside its result, such
	// as that the plugin's file has changed; nil: nobody. It is set before the
	// first call.
	Note func(text string)

	writing sync.Mutex

	gone chan struct{} // closed when the connection is over, and all that came is with its call
	mu   sync.Mutex
	last uint32 // the number of the last call
	open map[uint32]*asked
	lost error // why the connection is over; nil: it is not
}

// asked is a call or message that waits for its answer. The reader puts frames
// in, the caller takes them out.
type asked struct {
	number uint32
	hook   string
	began  time.Time
	emits  bool // takes items
	brief  bool // a daemon answers it at once, or hangs
	// A daemon that is silent for quiet at first is asked whether it is there, and
	// has patience to say so.
	quiet, patience time.Duration
	wake            chan struct{}
	credit          chan struct{} // has a token when the window of the input opened

	mu     sync.Mutex
	queue  []arrived
	under  int // bytes of items that wait or are not granted again yet
	owed   int // bytes of those that were taken
	inputs int // bytes of the input under way
}

// arrived is a frame with what was noted of it.
type arrived struct {
	wire.Frame
	note []byte
}

func newClient(name string, conn net.Conn) *Client {
	return &Client{name: name, net: conn, gone: make(chan struct{}), open: make(map[uint32]*asked)}
}

// hail says who we are with the first call, and begins to read.
func (c *Client) hail(build string) {
	go c.read(c.net) // ends with the connection
	_ = c.write(context.Background(), wire.Append(nil, wire.Hail, 0, []byte(build)))
}

// Identity says who serves the name, as it was when the connection was made.
func (c *Client) Identity() Identity { return c.id }

// Close ends the connection, and with it the calls that run on it.
func (c *Client) Close() {
	_ = c.net.Close()
	<-c.gone
}

// expect makes room for the answer to a call, whose number is 0 for the next one.
func (c *Client) expect(number uint32, hookName string, emits bool) *asked {
	a := &asked{
		hook: hookName, began: time.Now(), emits: emits, quiet: pingEvery, patience: pingLimit,
		wake: make(chan struct{}, 1), credit: make(chan struct{}, 1),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if number == 0 {
		c.last++
		number = c.last
	}
	a.number = number
	c.open[number] = a
	return a
}

func (c *Client) forget(a *asked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, a.number)
}

// read takes frames until the connection is over.
func (c *Client) read(from io.Reader) {
	defer close(c.gone)
	r := wire.NewSideReader(from, 0, wire.FromDaemon)
	notes := make(map[uint32][]byte)
	for {
		f, err := r.Next()
		if err == nil {
			err = c.take(f, notes)
		}
		if err != nil {
			c.lose(err)
			return
		}
	}
}

// take gives a frame to its call. The error ends the connection.
func (c *Client) take(f wire.Frame, notes map[uint32][]byte) error {
	switch {
	case f.Type == wire.Other:
		return &VersionError{Name: c.name, Daemon: string(f.Body), Build: c.id.Build}
	case f.Type == wire.Error && f.Call == 0:
		return c.readTold(f.Body)
	}
	c.mu.Lock()
	a := c.open[f.Call]
	c.mu.Unlock()
	if a == nil {
		delete(notes, f.Call)
		return nil // its caller has given it up
	}
	switch f.Type {
	case wire.Note:
		notes[f.Call] = f.Body
		return nil
	case wire.Credit:
		if n, ok := wire.Number(f.Body); ok {
			a.opened(int(n))
		}
		return nil
	}
	note := notes[f.Call]
	delete(notes, f.Call)
	return a.put(arrived{f, note})
}

// put is called by the reader.
func (a *asked) put(f arrived) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.Type == wire.Item {
		size := wire.ItemSize(len(f.Body))
		if !a.emits || a.under > 0 && a.under+size > wire.Window {
			return fmt.Errorf("call %d has an item that it did not ask for", f.Call)
		}
		a.under += size
	}
	a.queue = append(a.queue, f)
	wake(a.wake)
	return nil
}

// next takes a frame out; ok is false when none waits.
func (a *asked) next() (f arrived, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return arrived{}, false
	}
	f = a.queue[0]
	a.queue = a.queue[1:]
	return f, true
}

// taken notes that n bytes of items were taken, and returns how many the daemon is
// to be granted again: as many small ones come together.
func (a *asked) taken(n int) (grant int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.owed += n
	if len(a.queue) > 0 && a.owed < wire.Window/8 {
		return 0
	}
	grant, a.owed = a.owed, 0
	a.under -= grant
	return grant
}

// opened notes that n more bytes of input may be sent.
func (a *asked) opened(n int) {
	a.mu.Lock()
	a.inputs = max(0, a.inputs-n)
	a.mu.Unlock()
	wake(a.credit)
}

// claim takes room for n bytes of input, if there is some.
func (a *asked) claim(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inputs > 0 && a.inputs+n > wire.Window {
		return false
	}
	a.inputs += n
	return true
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// lose ends the connection, and notes why it is over.
func (c *Client) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = err
	}
	_ = c.net.Close()
}

// unanswered is the error of a daemon that hangs.
func (c *Client) unanswered() *UnansweredError {
	return &UnansweredError{Name: c.name, By: c.id, place: c.place}
}

// ended tells a call that the connection is over.
func (c *Client) ended(a *asked) *hook.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var (
		other *VersionError
		mute  *UnansweredError
		told  *hook.Error
		lost  = &LostError{Name: c.name, Log: c.id.Log}
	)
	switch {
	case errors.As(c.lost, &other):
		return unavailable(other) // it was not called
	case errors.As(c.lost, &mute):
		return &hook.Error{Kind: hook.Unavailable, Hook: a.hook, Begun: true, Err: mute}
	case errors.As(c.lost, &told):
		e := *told
		e.Hook = a.hook
		return &e
	case errors.Is(c.lost, net.ErrClosed):
		return &hook.Error{Kind: hook.Canceled, Hook: a.hook, Begun: true, Err: errClosed}
	case !isEnd(c.lost):
		lost.Err = c.lost
	}
	return &hook.Error{Kind: hook.Unavailable, Hook: a.hook, Begun: true, Err: lost}
}

// isEnd tells whether a connection was over since the other side is gone: what was on
// its way makes a reset of its end.
func isEnd(err error) bool {
	system := (*net.OpError)(nil)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &system)
}

// write sends whole frames. When ctx ends it may be half of one, and the
// connection is of no more use; so it is when the daemon, which always reads, takes
// nothing for long. One that is gone is told by the reader, who may have been told
// why.
func (c *Client) write(ctx context.Context, frames []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	_ = c.net.SetWriteDeadline(time.Now().Add(pingEvery + pingLimit))
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.net.SetWriteDeadline(time.Unix(1, 0))
		close(fired)
	})
	n, err := c.net.Write(frames)
	if !stop() {
		<-fired // it is over before the next write begins
	}
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.Is(err, os.ErrDeadlineExceeded):
		c.lose(c.unanswered())
	case n > 0 && ctx.Err() != nil:
		_ = c.net.Close()
	}
	return err
}

// readTold is the error that a frame tells.
func (c *Client) readTold(body []byte) *hook.Error {
	var told hook.Told
	if err := json.Unmarshal(body, &told); err != nil {
		return &hook.Error{Kind: hook.Internal, Err: fmt.Errorf("the daemon's error: %w", err)}
	}
	e := told.Error()
	if cause := (*hook.ToldError)(nil); told.Reason == stoppingReason && !told.Sent && errors.As(e, &cause) {
		cause.Err = &StoppingError{Name: c.name}
	}
	return e
}
