package check

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner"
)

// How the plugin is opened and started: what check asks of package runner, but for
// questions about a plugin that is open.

// open resolves the plugin without starting it.
func (c *check) open(ctx context.Context) (*process, error) {
	cfg := c.o.Config
	cfg.GRPC.AnyHealth = true // health is a stage of its own
	cfg.Output = c.output.watch(cfg.Output)
	return open(ctx, cfg)
}

// openForHost resolves the plugin as its own host would, without --python.
func (c *check) openForHost(ctx context.Context) (*runner.Opened, error) {
	cfg := c.o.Config
	cfg.Python = ""
	return runner.Open(ctx, cfg)
}

// starting is a start in progress.
type starting struct {
	over   chan struct{} // closed when the rest is set
	err    error
	took   time.Duration
	cancel context.CancelFunc
}

// start begins to start the plugin. The stage "source" does so while the interpreter
// looks at the source, and reports its findings once the start has confirmed them.
func (c *check) start(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	s := &starting{over: make(chan struct{}), cancel: cancel}
	c.started = s
	c.output.start()
	go func() { // ends with the start
		defer close(s.over)
		began := time.Now()
		s.err = c.s.Start(ctx)
		s.took = time.Since(began)
	}()
}

// discard ends a plugin that was started and is not looked at, and returns when it is gone.
func (c *check) discard() {
	c.discarded = true
	c.started.cancel()
	<-c.started.over
	now, cancel := context.WithCancel(c.kill)
	cancel()
	_ = c.s.Close(now) // how it ends is of no interest
}

// withoutCookie starts the plugin once more, without its magic cookie, for as long as
// limit at most, and ends it. The error is that of the start.
func (c *check) withoutCookie(ctx context.Context, limit time.Duration) error {
	cfg := c.o.Config
	key := c.s.Program().CookieKey
	cfg.GRPC.AnyHealth, cfg.GRPC.NoCookie = true, true
	cfg.Output = nil // its error has what it prints
	cfg.Environ, cfg.Env = unset(cfg.Environ, key), unset(cfg.Env, key)
	cfg.Timeouts.Start = min(limit, c.s.Settings().Timeouts.Start)
	p, err := open(ctx, cfg)
	if err == nil {
		err = p.Start(ctx)
	}
	_ = p.Close(c.kill) // the stage stop has reported how it ends
	return err
}

// fresh starts the plugin once more, as healthy as at its first start, and returns how
// long that took.
func (c *check) fresh(ctx context.Context) (*process, time.Duration, error) {
	cfg := c.o.Config
	cfg.GRPC.AnyHealth, cfg.Output = !c.healthy, nil
	began := time.Now()
	p, err := open(ctx, cfg)
	if err == nil {
		err = p.Start(ctx)
	}
	return p, time.Since(began), err
}
