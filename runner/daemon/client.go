package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// StatusLimit is how long a daemon may take to answer a status request: it does not
// ask the plugin.
const StatusLimit = 2 * time.Second

// Client is the daemon of a name as its clients see it, and a [hook.Plugin]. Each
// request has a connection of its own. It is safe for concurrent use.
//
// A call fails with reason [Lost] and Begun if the daemon ended before it answered,
// and with reason [Unresponsive] if the daemon hangs.
type Client struct {
	place place
	id    Identity
	left  *leftover // of Adopt
}

var _ hook.Plugin = (*Client)(nil)

// Open finds the daemon of a name. It waits two seconds at most for a daemon that is
// just starting or ending.
//
// Errors are [*hook.Error]: of kind Unavailable and reason [NotRunning],
// [Unresponsive] or [OtherVersion], or for a directory that cannot be used; of kind
// Usage for an invalid name or directory; of kind Canceled or Timeout if ctx ended.
func Open(ctx context.Context, name string) (*Client, error) {
	c, err := Look(ctx, name)
	if err == nil && c.id.API != API {
		return nil, versionError(name, c.id)
	}
	return c, err
}

// Look is [Open] for a daemon of any version. Only [Client.Identity] and
// [Client.Stop] work with another version.
func Look(ctx context.Context, name string) (*Client, error) {
	there, refused := search(name)
	if len(there) == 0 && refused != nil {
		return nil, refused
	}
	limit, cancel := context.WithTimeout(ctx, takeLimit)
	defer cancel()
	for began := time.Now(); ; {
		var held *place
		for _, p := range there {
			switch conn, err := net.Dial("unix", p.socket); {
			case err == nil:
				_ = conn.Close()
				return identify(ctx, p)
			case held == nil && (busy(err) || p.locked()):
				held = &p
			}
		}
		if held == nil {
			if refused != nil {
				return nil, refused
			}
			return nil, NotRunningError(name)
		}
		select {
		case <-time.After(pollEvery):
		case <-limit.Done():
			if ctx.Err() != nil {
				return nil, hook.Ended(ctx, "", "no connection", began, false)
			}
			by, _ := held.readState() // the zero Identity if unknown
			return nil, unresponsiveError(name, by)
		}
	}
}

// identify reads who serves a place from its state file or, if that was removed, from
// its status.
func identify(ctx context.Context, p place) (*Client, error) {
	c := &Client{place: p}
	if id, err := p.readState(); err == nil {
		c.id = id
		return c, nil
	}
	limit, cancel := context.WithTimeout(ctx, StatusLimit)
	defer cancel()
	body, err := c.status(limit, "")
	switch {
	case err == nil:
		c.id = body.Identity
	case limit.Err() != nil && ctx.Err() == nil:
		return nil, unresponsiveError(p.name, c.id)
	default:
		return nil, err
	}
	return c, nil
}

// Identity says who serves the name.
func (c *Client) Identity() Identity { return c.id }

// Close does nothing: the client keeps no connection.
func (c *Client) Close(context.Context) error { return nil }

// Call calls one hook. If ctx has no deadline, the daemon's own limit applies. An
// Input that does not end with ctx may be read once more after Call has returned;
// that item is dropped.
func (c *Client) Call(ctx context.Context, call hook.Call) (hook.Result, error) {
	x := &exchange{client: c, hook: call.Hook, began: time.Now(), watch: true}
	if c.left != nil {
		return c.resume(ctx, x, call.Emit)
	}
	header := http.Header{}
	query := url.Values{}
	if call.Replay {
		query.Set("replay", "1")
	}
	body, err := encodeCall(call, header)
	if err != nil {
		e := hook.NewError(hook.Request, err)
		e.Hook = call.Hook
		return hook.Result{}, e
	}
	x.input = call.Input
	r, failed := x.send(ctx, "POST", "/hooks/"+escapeHook(call.Hook), query, header, body)
	if failed != nil {
		return hook.Result{}, failed
	}
	defer x.close()
	return x.result(ctx, r, call.Emit)
}

// encodeCall makes the body of a call that has no Input.
func encodeCall(call hook.Call, header http.Header) (body []byte, err error) {
	switch {
	case call.Input != nil:
		header.Set("Content-Type", streamType)
	case len(call.Args.Words) > 0:
		header.Set("Content-Type", wordsType)
		body, err = encodeWords(call.Args.Words)
	default:
		header.Set("Content-Type", jsonType)
		body = call.Args.JSON
	}
	if len(body) > maxBody {
		err = errors.New("the arguments take too much space")
	}
	return body, err
}

// escapeHook is a hook's name as one segment of a path.
func escapeHook(name string) string {
	switch name {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(name)
}

// Hooks describes the hooks.
func (c *Client) Hooks(ctx context.Context, name string) (schema.Schema, error) {
	var s schema.Schema
	target := "/hooks"
	if name != "" {
		target += "/" + escapeHook(name)
	}
	err := c.ask(ctx, "GET", target, nil, &s)
	return s, err
}

// Health asks once whether the plugin is healthy.
func (c *Client) Health(ctx context.Context) error {
	return c.ask(ctx, "GET", "/health", nil, nil)
}

// Restart replaces the workers.
func (c *Client) Restart(ctx context.Context, reason string) error {
	return c.ask(ctx, "POST", "/restart", url.Values{"reason": {reason}}, nil)
}

// Status reports how the plugin is, within [StatusLimit]. It also works while calls
// run and while the plugin starts.
func (c *Client) Status(ctx context.Context) (hook.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, StatusLimit)
	defer cancel()
	body, err := c.status(ctx, "")
	return body.Status, err
}

// Ready waits until the first start is over. It returns the status and what a caller
// should know, or the error of the start.
func (c *Client) Ready(ctx context.Context) (hook.Status, []string, error) {
	body, err := c.status(ctx, "1")
	return body.Status, body.Notes, err
}

func (c *Client) status(ctx context.Context, ready string) (statusBody, error) {
	var body statusBody
	query := url.Values{}
	if ready != "" {
		query.Set("ready", ready)
	}
	x := &exchange{client: c, began: time.Now(), watch: ready != ""}
	return body, x.ask(ctx, "GET", "/status", query, &body)
}

// ask makes a request whose answer is one JSON value.
func (c *Client) ask(ctx context.Context, method, target string, query url.Values, value any) error {
	x := &exchange{client: c, began: time.Now(), watch: true}
	return x.ask(ctx, method, target, query, value)
}

// Events yields every transition from now on.
func (c *Client) Events(ctx context.Context) iter.Seq2[hook.Event, error] {
	return func(yield func(hook.Event, error) bool) {
		x := &exchange{client: c, began: time.Now(), watch: true}
		r, failed := x.send(ctx, "GET", "/events", nil, http.Header{}, nil)
		if failed != nil {
			yield(hook.Event{}, failed)
			return
		}
		defer x.close()
		lines := json.NewDecoder(r.Body)
		for {
			var event hook.Event
			var text json.RawMessage
			if err := lines.Decode(&text); err != nil {
				if e := x.failure(ctx, err); e.Kind != hook.Canceled {
					yield(hook.Event{}, e)
				}
				return
			}
			var failed struct {
				Error *hook.Error `json:"error"`
			}
			err := json.Unmarshal(text, &event)
			if json.Unmarshal(text, &failed) == nil && failed.Error != nil {
				err = failed.Error
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// leftover is a call that commands/fastcall sent, and what came back so far.
type leftover struct {
	conn net.Conn
	read []byte
}

// Adopt returns a client whose first Call continues a call that was sent to a name's
// daemon over a connection, from which read was read. It owns the connection.
func Adopt(name string, conn *os.File, read []byte) (*Client, error) {
	c, err := net.FileConn(conn)
	_ = conn.Close()
	if err != nil {
		e := lostError(name, "", err)
		e.Begun = true
		return nil, e
	}
	_ = c.SetDeadline(time.Time{})
	client := &Client{place: place{name: name}, left: &leftover{c, read}}
	there, _ := search(name)
	for _, p := range there {
		if id, err := p.readState(); err == nil && client.id.PID == 0 {
			client.id, client.place = id, p
		}
	}
	return client, nil
}

// resume continues the call of Adopt.
func (c *Client) resume(ctx context.Context, x *exchange, emit func(hook.Item) error) (hook.Result, error) {
	left := c.left
	c.left = nil
	if c.id.PID != 0 && c.id.API != API { // such a daemon does not understand the request
		_ = left.conn.Close()
		return hook.Result{}, versionError(c.place.name, c.id)
	}
	x.start(ctx, left.conn)
	r, failed := x.receive(ctx, io.MultiReader(bytes.NewReader(left.read), left.conn), "POST")
	if failed != nil {
		return hook.Result{}, failed
	}
	defer x.close()
	return x.result(ctx, r, emit)
}
