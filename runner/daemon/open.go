package daemon

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/wire"
)

// Open connects to the daemon that serves a name. One that is about to be there,
// or to be gone, is waited for, two seconds at most, and as long one that has to be
// asked who it is.
//
// Errors are [*hook.Error]: of kind Unavailable with a [*NotRunningError], an
// [*UnansweredError] or a [*VersionError], or where a directory is not the user's
// alone; of kind Usage for what is no name, and where PYPLUG_RUN_DIR is a relative path;
// of kind Canceled or Timeout when ctx ended.
func Open(ctx context.Context, name string) (*Client, error) {
	c, err := reach(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.greet(ctx)
}

// greet begins a connection to a daemon of our version, and closes another one.
func (c *Client) greet(ctx context.Context) (*Client, error) {
	if other := c.id.Other(); other != nil {
		_ = c.net.Close()
		return nil, unavailable(other)
	}
	c.hail(wire.Build())
	return c.identify(ctx)
}

// identify asks who serves where the file that says so is not there, and closes the
// connection to one that hangs.
func (c *Client) identify(ctx context.Context) (*Client, error) {
	if c.id.PID != 0 {
		return c, nil
	}
	limit, cancel := context.WithTimeout(ctx, StatusLimit)
	defer cancel()
	var s state
	err := c.message(limit, message{Do: doStatus}, &s)
	switch {
	case err == nil:
		c.id = s.Identity
	case limit.Err() != nil && ctx.Err() == nil:
		c.Close()
		return nil, unavailable(c.unanswered())
	} // else the first call says why
	return c, nil
}

// Look connects as [Open] does, to a daemon of any version: only Status and Stop
// are answered then, all else fails with a [*VersionError].
func Look(ctx context.Context, name string) (*Client, error) {
	c, err := reach(ctx, name)
	if err != nil {
		return nil, err
	}
	c.hail("")
	return c.identify(ctx)
}

// Adopt goes on with what the warm way left, which it owns from then on:
// [Client.Resume] is how its call ends.
func Adopt(left *wire.Left) (*Client, error) {
	file := os.NewFile(uintptr(left.Conn), left.Name)
	conn, err := net.FileConn(file)
	_ = file.Close()
	if err != nil {
		return nil, &hook.Error{Kind: hook.Unavailable, Hook: left.Hook, Begun: true, Err: &LostError{Name: left.Name, Err: err}}
	}
	_ = conn.SetDeadline(time.Time{})
	c := newClient(left.Name, conn)
	if all, err := places(left.Name); err == nil {
		there, _ := seen(all)
		for _, p := range there {
			if id, err := p.readState(); err == nil && c.id.PID == 0 {
				c.id, c.place = id, p
			}
		}
	}
	c.last = left.Call
	c.left = c.expect(left.Call, left.Hook, true)
	go c.read(io.MultiReader(bytes.NewReader(left.Read), conn)) // ends with the connection
	return c, nil
}

// reach connects to whoever serves a name.
func reach(ctx context.Context, name string) (*Client, error) {
	all, err := places(name)
	if err != nil {
		return nil, err
	}
	there, refused := seen(all)
	limit := time.NewTimer(takeLimit)
	defer limit.Stop()
	again := time.NewTicker(look)
	defer again.Stop()
	for began := time.Now(); ; {
		var held *place
		for _, p := range there {
			conn, err := net.Dial("unix", p.socket)
			if err == nil {
				c := newClient(name, conn)
				c.place = p
				c.id, _ = p.readState() // the daemon knows better, if this is torn
				return c, nil
			}
			if held == nil && (busy(err) || p.locked()) {
				held = &p
			}
		}
		switch {
		case held == nil && refused != nil:
			return nil, refused
		case held == nil:
			return nil, unavailable(&NotRunningError{Name: name})
		}
		select {
		case <-again.C:
		case <-limit.C:
			return nil, unanswered(*held)
		case <-ctx.Done():
			return nil, hook.Ended(ctx, "", "no connection", began, false)
		}
	}
}

// Entry is one daemon that is alive.
type Entry struct {
	Name string
	// Identity is the zero value when it cannot be read; Err says why.
	Identity Identity
	Err      error
}

// List lists who is alive, by name. What a dead daemon left is removed, but for its
// log, which may say why. The error
// is of kind Unavailable, where a directory is not the user's alone or cannot be
// read, of kind Usage, where it is named by a relative path, and comes with what is in the others.
func List(ctx context.Context) ([]Entry, error) {
	if !supported {
		return nil, unavailable(errWindows)
	}
	var entries []Entry
	var first error
	for _, dir := range wire.RunDirs() {
		names, err := namesIn(dir)
		if err != nil && first == nil {
			first = refused(err)
		}
		for _, name := range names {
			if ctx.Err() != nil {
				return entries, hook.Ended(ctx, "", "no list", time.Now(), false)
			}
			socket, _ := wire.SocketPath(dir, name)
			p := place{dir, name, socket}
			if p.heal() {
				continue
			}
			id, err := p.readState()
			entries = append(entries, Entry{Name: name, Identity: id, Err: err})
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, first
}

// heal removes what a dead daemon left, but its log, and tells whether it was dead.
func (p place) heal() bool {
	if p.taken() {
		return false
	}
	h, ok, err := p.take()
	if err != nil || !ok {
		return false
	}
	h.clear()
	h.free()
	return true
}
