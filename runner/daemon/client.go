package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// StatusLimit is the timeout of a status request. The daemon answers such a request without calling
// the plugin.
const StatusLimit = 2 * time.Second

// Client makes requests to the daemon of a name. It is a [hook.Plugin]. Each request has its own
// connection. It is safe for concurrent use.
//
// A call fails with reason [Lost] and Begun set if the daemon ended before it answered, and with
// reason [Unresponsive] if the daemon hangs.
type Client struct {
	place  place
	id     Identity
	sent   net.Conn  // the connection from Adopt, or nil once its call continues
	answer io.Reader // the answer to that call
	series bool      // the daemon accepts series of calls
}

var _ hook.Plugin = (*Client)(nil)

// Open finds the daemon of a name. It does not wait for a daemon that is starting. Requests do wait
// for it.
//
// Errors are [*hook.Error]: of kind Unavailable, with reason [NotRunning], [Unresponsive] or
// [OtherVersion], or without a reason for a directory that cannot be used; of kind Usage for an
// invalid name or directory; of kind Canceled or Timeout if ctx ended.
func Open(ctx context.Context, name string) (*Client, error) {
	c, err := look(ctx, name)
	if err == nil && c.id.API != API {
		err = versionError(name, c.id)
	}
	return c, err
}

// look is like [Open], but accepts a daemon of any version.
func look(ctx context.Context, name string) (*Client, error) {
	there, refused := search(name)
	for _, p := range there {
		if p.taken() {
			c := &Client{place: p}
			return c, c.identify(ctx)
		}
	}
	if refused != nil {
		return nil, refused
	}
	return nil, NotRunningError(name)
}

// identify reads the identity of the daemon from the state file or, if that was
// removed, from the status.
func (c *Client) identify(ctx context.Context) (err error) {
	if c.id, err = c.place.readState(); err == nil {
		return nil
	}
	body, err := c.status(ctx, StatusLimit, nil)
	c.id = body.Identity
	return err
}

// Identity describes the daemon and its plugin.
func (c *Client) Identity() Identity { return c.id }

// Close does nothing, because the client keeps no connection.
func (c *Client) Close(context.Context) error { return nil }

// Call calls one hook. If ctx has no deadline, the daemon's own limit applies. An Input that does
// not end with ctx may be read once more after Call has returned. Call drops that item.
func (c *Client) Call(ctx context.Context, call hook.Call) (hook.Result, error) {
	x := &exchange{client: c, hook: call.Hook}
	query := url.Values{}
	if call.Replay {
		query.Set("replay", "1")
	}
	mediaType, body := jsonType, []byte(call.Args.JSON)
	switch {
	case call.Input != nil:
		mediaType, x.input = streamType, call.Input
	case len(call.Args.Words) > 0:
		mediaType, body = wordsType, wire.EncodeWords(call.Args)
	}
	r, err := x.send(ctx, "POST", "/hooks/"+url.PathEscape(call.Hook), query, mediaType, body)
	if err != nil {
		return hook.Result{}, err
	}
	defer x.close()
	return x.result(r, call.Emit)
}

// Hooks describes the hooks, or one of them.
func (c *Client) Hooks(ctx context.Context, q schema.Query) (s schema.Schema, err error) {
	target := "/hooks"
	if q.Hook != "" {
		target += "/" + url.PathEscape(q.Hook)
	}
	var query url.Values
	if q.Input {
		query = url.Values{"input": {"1"}}
	}
	return s, c.ask(ctx, "GET", target, query, &s)
}

// Health probes the plugin once.
func (c *Client) Health(ctx context.Context) error {
	return c.ask(ctx, "GET", "/health", nil, nil)
}

// Restart replaces the workers.
func (c *Client) Restart(ctx context.Context, reason string) error {
	return c.ask(ctx, "POST", "/restart", url.Values{"reason": {reason}}, nil)
}

// ask makes a request and decodes the answer, which is one JSON value, into value unless value is
// nil.
func (c *Client) ask(ctx context.Context, method, target string, query url.Values, value any) error {
	x := &exchange{client: c, quick: target == "/status" && query == nil}
	r, err := x.send(ctx, method, target, query, jsonType, nil)
	if err != nil {
		return err
	}
	defer x.close()
	body, err := io.ReadAll(r.Body)
	if err == nil && value != nil {
		err = schema.Decode(body, value)
	}
	if err != nil {
		return x.failure(err)
	}
	return nil
}

// Status returns the plugin's status within [StatusLimit], even while calls run or the
// plugin starts.
func (c *Client) Status(ctx context.Context) (hook.Status, error) {
	body, err := c.status(ctx, StatusLimit, nil)
	return body.Status, err
}

// Stacks returns the status with the place in the code that each running call has reached.
func (c *Client) Stacks(ctx context.Context) (hook.Status, error) {
	body, err := c.status(ctx, StatusLimit, url.Values{"stacks": {"1"}})
	return body.Status, err
}

func (c *Client) status(ctx context.Context, limit time.Duration, query url.Values) (body statusBody, err error) {
	ctx, cancel := hook.WithLimit(ctx, limit)
	defer cancel()
	return body, c.ask(ctx, "GET", "/status", query, &body)
}

// Ready waits until the first start is over. It returns the status and notes for the
// caller, or the error of the start. No other method may be called at the same time.
func (c *Client) Ready(ctx context.Context) (hook.Status, []string, error) {
	var body statusBody
	err := c.ask(ctx, "GET", "/status", url.Values{"ready": {"1"}}, &body)
	c.series = body.Series
	return body.Status, body.Notes, err
}

// Events yields every transition from now on.
func (c *Client) Events(ctx context.Context) iter.Seq2[hook.Event, error] {
	return func(yield func(hook.Event, error) bool) {
		x := &exchange{client: c}
		r, err := x.send(ctx, "GET", "/events", nil, jsonType, nil)
		if err != nil {
			yield(hook.Event{}, err)
			return
		}
		defer x.close()
		for lines := json.NewDecoder(r.Body); ; {
			var text json.RawMessage
			var line struct {
				hook.Event
				Error *hook.Error `json:"error"`
			}
			err := lines.Decode(&text)
			if err == nil {
				err = schema.Decode(text, &line)
			}
			if err != nil {
				if e := x.failure(err); e.Kind != hook.Canceled {
					yield(hook.Event{}, e)
				}
				return
			}
			if line.Error != nil {
				err = line.Error
			}
			if !yield(line.Event, err) {
				return
			}
		}
	}
}

// Adopt returns a client of the daemon of name in the run directory dir. Its first Call continues a
// call that was already sent over conn. read contains the bytes that were already read from conn.
// The client owns conn.
func Adopt(dir, name string, conn *os.File, read []byte) (*Client, error) {
	c := &Client{place: place{dir, name}}
	c.id, _ = c.place.readState() // the zero Identity if the daemon has ended
	sent, err := net.FileConn(conn)
	_ = conn.Close()
	switch {
	case err != nil:
		e := lostError(name, c.id)
		e.Begun = true
		return nil, e
	case c.id.PID != 0 && c.id.API != API: // the daemon does not understand the request
		_ = sent.Close()
		return nil, versionError(name, c.id)
	}
	c.sent, c.answer = sent, io.MultiReader(bytes.NewReader(read), sent)
	return c, nil
}

const (
	// stopLimit is how long a daemon may take to release its name after it was killed, was asked to
	// kill its plugin, or has closed the connection.
	stopLimit = 10 * time.Second
	// freeLimit is how long AwaitFree waits.
	freeLimit = 30 * time.Second
)

// Stop stops the daemon of a name, even if it does not answer or belongs to another version. It
// returns when the process tree and the daemon are gone. If nothing runs, ran is false, and Stop
// removes what a dead daemon left, except its log. If ctx ends, Stop kills the plugin.
// [StopOptions] say who asks, and how long running calls may continue.
func Stop(ctx context.Context, name string, how StopOptions) (ran bool, err error) {
	c, err := look(ctx, name)
	switch {
	case Is(err, NotRunning):
		there, err := search(name)
		for _, p := range there {
			p.clean()
		}
		return false, err
	case err != nil:
		return false, err
	}
	exited := watch(c.id.PID)
	if c.id.API != API {
		err = c.kill()
	} else {
		err = c.stop(ctx, how.query())
	}
	exited(err == nil && c.id.PID != os.Getpid())
	return true, err
}

// StopOptions say how a daemon is stopped.
type StopOptions struct {
	// Reason says who asks for the stop, for the log.
	Reason string
	// Calls is how long running calls may continue, or nil for the default, 5 s.
	Calls *time.Duration
}

func (o StopOptions) query() url.Values {
	query := url.Values{}
	if o.Reason != "" {
		query.Set("reason", o.Reason)
	}
	if o.Calls != nil {
		query.Set("timeout", o.Calls.String())
	}
	return query
}

// stop stops a daemon by a request.
func (c *Client) stop(ctx context.Context, query url.Values) error {
	err := c.ask(ctx, "POST", "/stop", query, nil)
	if err != nil && ctx.Err() != nil {
		now, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = c.ask(now, "POST", "/stop", url.Values{"now": {"1"}}, nil)
	}
	if (err == nil || Is(err, Lost) || Is(err, NotRunning)) && c.freed(context.Background(), stopLimit) {
		return nil
	}
	return c.kill()
}

// kill ends a daemon that does not answer requests: with SIGTERM, then with SIGKILL, after which
// its guard kills the process tree. It removes the daemon's files except the log.
func (c *Client) kill() error {
	for _, signal := range []func(*os.Process) error{terminate, (*os.Process).Kill} {
		if err := c.signal(signal); err != nil {
			return unavailable(fmt.Errorf("%s did not stop and cannot be killed: %w", c.place.name, err))
		}
		if c.freed(context.Background(), stopLimit) {
			c.place.clean()
			return nil
		}
	}
	return unavailable(fmt.Errorf("%s did not stop and was killed", c.place.name))
}

// signal sends a signal to the daemon. It opens the process before it checks that the daemon still
// has the name. So no other process gets the signal on a system with process handles.
func (c *Client) signal(send func(*os.Process) error) error {
	if c.id.PID <= 1 || c.id.PID == os.Getpid() {
		return errors.New("its process is unknown")
	}
	process, err := os.FindProcess(c.id.PID)
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }()
	if now, err := c.place.readState(); err == nil && !now.same(c.id) || !c.place.taken() {
		return nil // the daemon has ended
	}
	if err := send(process); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// AwaitFree waits until the daemon, which is being stopped, has released its name. Errors are
// [*hook.Error]: of kind Unavailable and reason [Stopping] after half a minute, of kind
// Canceled or Timeout if ctx ended.
func (c *Client) AwaitFree(ctx context.Context) error {
	switch {
	case c.freed(ctx, freeLimit):
		return nil
	case ctx.Err() != nil:
		return hook.Ended(ctx, "", "the name was not released", false)
	}
	return stoppingError(c.place.name) // its running calls take longer than the limit
}

// freed waits until the daemon has released its name. Another process may then have it. freed
// returns false if ctx ends or the limit passes first.
func (c *Client) freed(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for c.place.taken() {
		if now, err := c.place.readState(); err == nil && !now.same(c.id) {
			return true
		}
		if hook.Within(ctx.Done(), pollEvery) {
			return false
		}
	}
	return true
}
