package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

// How long a daemon may be silent before it is asked whether it is there, and how
// long it may take to say so. Tests have less.
var (
	pingEvery = 5 * time.Second
	pingLimit = 10 * time.Second
)

// firstPing is how soon a daemon that was sent a message is asked whether it is there.
// It then has [StatusLimit] to say so. A call, which would be lost, has more time.
const firstPing = 100 * time.Millisecond

// StatusLimit is how long a daemon may take to say how it is: it does not ask the
// plugin.
const StatusLimit = 2 * time.Second

// stopLimit is how long one that was told to stop may take to hear it, and, when it
// was told to hurry, was killed or has closed the connection, to be gone. Tests have
// less.
var stopLimit = 10 * time.Second

// freeLimit is how long a name that is being given back is waited for. Tests have
// less.
var freeLimit = 30 * time.Second

// Status says how the plugin is. It is answered while calls run, and while the
// plugin starts.
func (c *Client) Status(ctx context.Context) (hook.Status, error) {
	return c.state(ctx, doStatus, StatusLimit)
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

// Stop stops who has a name, as [Client.Stop] does, also one that answers nobody.
// Where nothing runs, ran is false, and what is left of one that did, such as its
// log, is removed. Errors are those of [Look] and [Client.Stop].
func Stop(ctx context.Context, name string) (ran bool, err error) {
	c, err := Look(ctx, name)
	var none *NotRunningError
	var mute *UnansweredError
	switch {
	case errors.As(err, &none):
		return false, forget(name)
	case errors.As(err, &mute):
		return true, mute.place.kill(mute.By)
	case err != nil:
		return false, err
	}
	defer c.Close()
	return true, c.Stop(ctx)
}

// forget removes what is left of a name that nobody has.
func forget(name string) error {
	all, err := places(name)
	if err != nil {
		return err
	}
	there, err := seen(all)
	for _, p := range there {
		if left, _ := filepath.Glob(p.file(".*")); len(left) == 0 {
			continue
		}
		if h, ok, _ := p.take(); ok {
			h.clear()
			h.clearLog()
			h.free()
		}
	}
	return err
}

// AwaitFree waits until nobody has a name, such as that of a daemon that is being
// stopped. Errors are [*hook.Error]: of kind Unavailable with an [*UnansweredError]
// where it is not given back in half a minute, of kind Canceled or Timeout when ctx
// ended, of kind Usage for what is no name.
func AwaitFree(ctx context.Context, name string) error {
	all, err := places(name)
	if err != nil {
		return err
	}
	began := time.Now()
	limit, cancel := context.WithTimeout(ctx, freeLimit)
	defer cancel()
	there, _ := seen(all)
	for _, p := range there {
		had, _ := p.readState() // who comes then has the name, too
		switch {
		case p.vacant(limit, had):
		case ctx.Err() != nil:
			return hook.Ended(ctx, "", "no free name", began, false)
		default:
			return unanswered(p)
		}
	}
	return nil
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
	var mute *UnansweredError
	switch heeds := hears(err); {
	case heeds && c.free(ctx):
		return nil
	case !heeds && heard.Err() == nil && !errors.As(err, &mute): // it was refused
		return err
	}
	hurry, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if ctx.Err() != nil && hears(c.message(hurry, message{Do: doStop, Now: true}, nil)) && c.free(hurry) {
		return nil
	}
	return c.place.kill(c.id)
}

// hears tells whether a daemon that was told to stop does so, or is gone.
func hears(err error) bool {
	var lost *LostError
	return err == nil || errors.As(err, &lost)
}

// free waits until nobody holds the name. It is false when ctx ends first, and for a
// daemon that answers no more and is there all the same: one that stops its plugin
// answers.
func (c *Client) free(ctx context.Context) bool {
	quiet := time.NewTicker(pingEvery)
	defer quiet.Stop()
	for open := true; open; {
		select {
		case <-c.gone: // the connection's end comes just before
			open = false
		case <-quiet.C:
			if !c.ping(ctx, pingLimit) {
				return false
			}
		case <-ctx.Done():
			open = false
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return c.place.vacant(ctx, c.id)
}

// kill kills a daemon that does not listen, and removes what it leaves, but its log.
func (p place) kill(id Identity) error {
	if err := id.kill(); err != nil {
		return unavailable(fmt.Errorf("%s does not stop, and cannot be killed: %w", p.name, err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if !p.vacant(ctx, id) {
		return unavailable(fmt.Errorf("%s does not stop, and was killed", p.name))
	}
	p.heal()
	return nil
}

// ping asks a daemon that has been silent for a while whether it is there, which one
// that runs says at once whatever it does. When ctx ends before limit, it is not known.
func (c *Client) ping(ctx context.Context, limit time.Duration) bool {
	heard, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := c.expect(0, "", false)
	defer c.forget(a)
	_ = c.write(heard, isThere(a)) // its end is gone's
	select {
	case <-a.wake:
	case <-c.gone:
	case <-heard.Done():
		return ctx.Err() != nil
	}
	return true
}

// isThere is the frame that asks a daemon whether it is there.
func isThere(a *asked) []byte {
	body, _ := json.Marshal(message{Do: doStatus}) // which is plain
	return wire.Append(nil, wire.Message, a.number, body)
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
	a.quiet, a.patience = min(firstPing, pingEvery), min(StatusLimit, pingLimit)
	a.brief = m.Do == doStatus || m.Do == doStop
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
