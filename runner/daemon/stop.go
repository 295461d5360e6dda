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

const (
	// stopLimit is how long a daemon may take to release its name after it was killed,
	// was asked to kill its plugin, or has closed the connection.
	stopLimit = 10 * time.Second
	// freeLimit is how long AwaitFree waits.
	freeLimit = 30 * time.Second
)

// Stop stops the daemon of a name, even if it does not answer or belongs to another
// version. It returns when the name is free, which is when the process tree is gone.
// If nothing runs, ran is false, and Stop removes what is left of the name, such as a
// log. Ending ctx kills the plugin.
func Stop(ctx context.Context, name string) (ran bool, err error) {
	c, err := look(ctx, name)
	switch {
	case Is(err, NotRunning):
		there, err := search(name)
		for _, p := range there {
			p.clean(true)
		}
		return false, err
	case err != nil:
		return false, err
	case c.id.API != API:
		return true, c.kill()
	}
	return true, c.stop(ctx)
}

// stop stops a daemon by a request.
func (c *Client) stop(ctx context.Context) error {
	err := c.ask(ctx, "POST", "/stop", nil, nil)
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

// kill ends a daemon that does not answer our requests: by SIGTERM, then by SIGKILL,
// after which its guard kills the process tree. It removes what is left except the log.
func (c *Client) kill() error {
	for _, signal := range []func(*os.Process) error{terminate, (*os.Process).Kill} {
		if err := c.signal(signal); err != nil {
			return unavailable(fmt.Errorf("%s does not stop, and cannot be killed: %w", c.place.name, err))
		}
		if c.freed(context.Background(), stopLimit) {
			c.place.clean(false)
			return nil
		}
	}
	return unavailable(fmt.Errorf("%s does not stop, and was killed", c.place.name))
}

// signal sends a signal to the daemon. Where the system can hold a process, and not only
// its number, no other process gets it: the daemon has the name after it was found.
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
		return nil // it has ended
	}
	if err := send(process); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// AwaitFree waits until the daemon, which is being stopped, has released its name.
// Errors are [*hook.Error]: of kind Unavailable and reason [Unresponsive] after half a
// minute, of kind Canceled or Timeout if ctx ended.
func (c *Client) AwaitFree(ctx context.Context) error {
	switch {
	case c.freed(ctx, freeLimit):
		return nil
	case ctx.Err() != nil:
		return hook.Ended(ctx, "", "no free name", false)
	}
	return unresponsiveError(c.place.name, c.id)
}

// freed waits until nobody has the name, or another process has it. It returns false if
// ctx or the limit ends first.
func (c *Client) freed(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for c.place.taken() {
		if now, err := c.place.readState(); err == nil && !now.same(c.id) {
			return true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
