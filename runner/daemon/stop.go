package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

var (
	// stopLimit is how long a daemon may take to release its name after it was killed,
	// was asked to kill its plugin, or has closed the connection. Tests wait less.
	stopLimit = 10 * time.Second
	// freeLimit is how long AwaitFree waits. Tests wait less.
	freeLimit = 30 * time.Second
)

// Stop stops the daemon of a name, even if it does not answer or belongs to another
// version. It returns when the name is free, which is when the process tree is gone.
// If nothing runs, ran is false, and Stop removes what is left of the name, such as a
// log. Ending ctx kills the plugin.
func Stop(ctx context.Context, name string) (ran bool, err error) {
	c, err := Look(ctx, name)
	switch {
	case Is(err, NotRunning):
		return false, remove(name)
	case Is(err, Unresponsive), err == nil && c.id.API != API:
		return true, c.kill()
	case err != nil:
		return false, err
	}
	return true, c.stop(ctx)
}

// remove removes what is left of a name that nobody has.
func remove(name string) error {
	there, err := search(name)
	for _, p := range there {
		if h, err := p.acquire(); err == nil {
			h.clear()
			h.clearLog()
			h.release()
		}
	}
	return err
}

// stop stops a daemon by a request.
func (c *Client) stop(ctx context.Context) error {
	err := c.ask(ctx, "POST", "/stop", nil, nil)
	if err != nil && ctx.Err() != nil {
		now, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = c.ask(now, "POST", "/stop", url.Values{"now": {"1"}}, nil)
	}
	if (err == nil || Is(err, Lost) || Is(err, NotRunning)) && c.awaitFree() {
		return nil
	}
	return c.kill()
}

// awaitFree waits until the daemon has released its name, and reports whether it did.
func (c *Client) awaitFree() bool {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	return c.place.awaitFree(ctx, c.id)
}

// kill ends a daemon that does not answer our requests: by SIGTERM, then by SIGKILL,
// after which its guard kills the process tree. It removes what is left except the log.
func (c *Client) kill() error {
	for _, signal := range []func(*os.Process) error{terminate, (*os.Process).Kill} {
		if err := c.signal(signal); err != nil {
			return unavailable(fmt.Errorf("%s does not stop, and cannot be killed: %w", c.place.name, err))
		}
		if c.awaitFree() {
			if h, err := c.place.acquire(); err == nil {
				h.clear()
				h.release()
			}
			return nil
		}
	}
	return unavailable(fmt.Errorf("%s does not stop, and was killed", c.place.name))
}

// signal sends a signal to the daemon. Where the system can hold a process, and not only
// its number, no other process gets it: the daemon has the name after it was found.
func (c *Client) signal(send func(*os.Process) error) error {
	if c.id.PID <= 1 || c.id.PID == os.Getpid() {
		return errors.New("its process is not known")
	}
	process, err := os.FindProcess(c.id.PID)
	if err != nil {
		return err
	}
	defer func() { _ = process.Release() }()
	if now, err := c.place.readState(); err == nil && !now.same(c.id) || !c.place.taken() {
		return nil // it has ended
	}
	if err := send(process); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// AwaitFree waits until nobody has a name, such as that of a daemon that is being
// stopped. Errors are [*hook.Error]: of kind Unavailable and reason [Unresponsive]
// after half a minute, of kind Canceled or Timeout if ctx ended.
func AwaitFree(ctx context.Context, name string) error {
	there, err := search(name)
	if len(there) == 0 {
		return err
	}
	began := time.Now()
	limit, cancel := context.WithTimeout(ctx, freeLimit)
	defer cancel()
	for _, p := range there {
		had, _ := p.readState() // a successor has another
		switch {
		case p.awaitFree(limit, had):
		case ctx.Err() != nil:
			return hook.Ended(ctx, "", "no free name", began, false)
		default:
			return unresponsiveError(name, had)
		}
	}
	return nil
}
