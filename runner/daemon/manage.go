package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

// statusLimit is how long a daemon may take to say how it is: it does not ask the
// plugin.
const statusLimit = 5 * time.Second

// stopLimit is how long one that was told to stop may take to hear it, and, when it
// was told to hurry or was killed, to be gone. Tests have less.
var stopLimit = 10 * time.Second

// Status says how the plugin is. It is answered while calls run, and while the
// plugin starts.
func (c *Client) Status(ctx context.Context) (hook.Status, error) {
	return c.state(ctx, doStatus, statusLimit)
}

// Ready is Status once the first start has succeeded; the error is that of the
// start else.
func (c *Client) Ready(ctx context.Context) (hook.Status, error) {
	return c.state(ctx, doReady, 0)
}

func (c *Client) state(ctx context.Context, do string, limit time.Duration) (hook.Status, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	var s state
	err := c.message(ctx, message{Do: do}, &s)
	return s.Status, err
}

// Describe lists the hooks.
func (c *Client) Describe(ctx context.Context) (schema.Schema, error) {
	var s schema.Schema
	err := c.message(ctx, message{Do: doDescribe}, &s)
	return s, err
}

// Template is an empty request of a hook as JSON, to be filled in.
func (c *Client) Template(ctx context.Context, name string) ([]byte, error) {
	var text string
	err := c.message(ctx, message{Do: doTemplate, Name: name}, &text)
	return []byte(text), err
}

// Probe asks whether the plugin is healthy.
func (c *Client) Probe(ctx context.Context) error {
	return c.message(ctx, message{Do: doProbe}, nil)
}

// Restart replaces what runs, and returns when what follows is ready.
func (c *Client) Restart(ctx context.Context, reason string) error {
	return c.message(ctx, message{Do: doRestart, Reason: reason}, nil)
}

// Stop stops the daemon, and returns when its name is free, which is when the
// plugin's whole tree is gone. Calls that run may end first, for a while. Ending
// ctx has the plugin killed. A daemon that does not hear is killed itself, and its
// guard kills the tree. The error is of kind Unavailable, where even that did not
// help.
func (c *Client) Stop(ctx context.Context) error {
	heard, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	err := c.message(heard, message{Do: doStop}, nil)
	switch heeds := hears(err); {
	case heeds && c.free(ctx):
		return nil
	case !heeds && heard.Err() == nil: // it was refused
		return err
	}
	hurry, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if ctx.Err() != nil && hears(c.message(hurry, message{Do: doStop, Now: true}, nil)) && c.free(hurry) {
		return nil
	}
	return c.kill()
}

// hears tells whether a daemon that was told to stop does so, or is gone.
func hears(err error) bool {
	var lost *LostError
	return err == nil || errors.As(err, &lost)
}

// free waits until nobody holds the name.
func (c *Client) free(ctx context.Context) bool {
	select {
	case <-c.gone: // the connection's end comes just before
	case <-ctx.Done():
	}
	again := time.NewTicker(look)
	defer again.Stop()
	for c.place.taken() {
		if now, err := c.place.readState(); err == nil && !now.same(c.id) {
			return true // by a successor
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// kill kills a daemon that does not listen, and removes what it leaves.
func (c *Client) kill() error {
	if err := c.id.kill(); err != nil {
		return unavailable(fmt.Errorf("%s does not stop, and cannot be killed: %w", c.name, err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if !c.free(ctx) {
		return unavailable(fmt.Errorf("%s does not stop, and was killed", c.name))
	}
	c.place.heal()
	return nil
}

// message sends a message and reads its answer into value, unless that is nil.
func (c *Client) message(ctx context.Context, m message, value any) error {
	if deadline, ok := ctx.Deadline(); ok {
		m.TimeoutMS = max(1, time.Until(deadline).Milliseconds())
	}
	body, err := json.Marshal(m)
	if err != nil {
		return &hook.Error{Kind: hook.Internal, Err: err}
	}
	a := c.expect(0, "", false)
	defer c.forget(a)
	if err := c.write(ctx, wire.Append(nil, wire.Message, a.number, body)); err != nil && ctx.Err() != nil {
		return hook.Ended(ctx, "", "no answer", a.began, false)
	}
	r, failed := c.finish(ctx, a, nil, nil)
	if failed != nil {
		return failed
	}
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(r.Value, value); err != nil {
		return &hook.Error{Kind: hook.Internal, Err: fmt.Errorf("the daemon's answer: %w", err)}
	}
	return nil
}
