package daemon

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"syscall"
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
	case Is(err, Unresponsive):
		there, _ := search(name)
		for _, p := range there {
			if p.taken() {
				by, _ := p.readState() // kill fails for an unknown process
				return true, p.kill(by)
			}
		}
		return true, nil
	case err != nil:
		return false, err
	}
	return true, c.stop(ctx)
}

// remove removes what is left of a name that nobody has.
func remove(name string) error {
	there, err := search(name)
	for _, p := range there {
		if left, _ := filepath.Glob(p.file(".*")); len(left) == 0 {
			continue
		}
		if h, ok, _ := p.acquire(); ok {
			h.clear()
			h.clearLog()
			h.release()
		}
	}
	return err
}

// stop stops the daemon.
func (c *Client) stop(ctx context.Context) error {
	if c.id.API != API {
		return c.place.kill(c.id)
	}
	err := c.ask(ctx, "POST", "/stop", nil, nil)
	if err != nil && ctx.Err() != nil {
		hurry, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = c.ask(hurry, "POST", "/stop", url.Values{"now": {"1"}}, nil)
	}
	if err == nil || Is(err, Lost) || Is(err, NotRunning) {
		free, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		if c.place.awaitFree(free, c.id) {
			return nil
		}
	}
	return c.place.kill(c.id)
}

// kill ends a daemon that does not answer our requests: by SIGTERM, then by SIGKILL,
// after which its guard kills the process tree. It removes what is left except the log.
func (p place) kill(id Identity) error {
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}
	if suspended(id.PID) {
		signals = signals[1:]
	}
	for _, s := range signals {
		if err := id.signal(s); err != nil {
			return unavailable(fmt.Errorf("%s does not stop, and cannot be killed: %w", p.name, err))
		}
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		free := p.awaitFree(ctx, id)
		cancel()
		if free {
			p.clean()
			return nil
		}
	}
	return unavailable(fmt.Errorf("%s does not stop, and was killed", p.name))
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
