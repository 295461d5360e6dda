package check

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner"
)

// How the plugin is opened and started: what check asks of package runner, but for
// questions about a plugin that is open.

// open resolves the plugin without starting it.
func (c *check) open(ctx context.Context) (*runner.Session, error) {
	cfg := c.o.Config
	cfg.GRPC.AnyHealth = true // health is a stage of its own
	cfg.Output = c.output.watch(cfg.Output)
	return runner.Prepare(ctx, cfg)
}

// openForHost resolves the plugin as its own host would, without --python.
func (c *check) openForHost(ctx context.Context) (*runner.Session, error) {
	cfg := c.o.Config
	cfg.Python = ""
	return runner.Prepare(ctx, cfg)
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
	s, err := runner.Open(ctx, cfg)
	_ = s.Close(c.kill) // the stage stop has reported how it ends
	return err
}

// restartable is the plugin as it is kept alive: started again after each kill, without
// a delay, and as healthy as at its first start.
type restartable struct {
	kept                  *runner.Kept
	events                *lastEvent
	callLimit, startLimit time.Duration
}

func (c *check) restartable(ctx context.Context) (*restartable, error) {
	r := &restartable{events: &lastEvent{came: make(chan struct{}, 1)}}
	cfg := c.o.Config
	cfg.GRPC.AnyHealth, cfg.Output = !c.healthy, nil
	cfg.Keep = runner.Keep{Workers: 1, Restart: "always", MaxRestarts: 2, Backoff: 1, BackoffMax: 1, HealthyAfter: 1, Preload: "off", Events: r.events.take}
	s, err := runner.Prepare(ctx, cfg)
	if err != nil {
		return nil, err
	}
	limits := s.Settings().Timeouts
	const others = 5 * time.Second // for what comes before and after a start
	r.callLimit, r.startLimit = limits.Call, 2*(limits.Start+limits.Stop)+others
	r.kept, err = s.Keep(ctx)
	return r, err
}
