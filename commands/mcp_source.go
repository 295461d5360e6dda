package commands

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/schema"
)

// listSource knows the hooks of a plugin that does not run yet. Its methods are those of [mcp.Options].
type listSource struct {
	prog *program
	cfg  *runner.Config // nil: the plugin is not started here
}

// open resolves the plugin; nil if it is not started here, or cannot be: the start reports why.
func (s listSource) open(ctx context.Context) *runner.Opened {
	if s.cfg == nil {
		return nil
	}
	opened, _ := runner.Open(ctx, *s.cfg)
	return opened
}

// kept returns the hooks that an earlier session kept for the same files.
func (s listSource) kept(ctx context.Context) ([]schema.Hook, bool) {
	if opened := s.open(ctx); opened != nil {
		return opened.KeptHooks()
	}
	return nil, false
}

func (s listSource) keep(hooks []schema.Hook) {
	if opened := s.open(context.Background()); opened != nil { // reads files only
		if err := opened.KeepHooks(hooks); err != nil {
			s.prog.streams.Log("info", "the list of hooks is not kept: "+err.Error())
		}
	}
}

func (s listSource) source(ctx context.Context) []schema.Hook {
	if s.cfg == nil {
		return nil
	}
	return runner.SourceHooks(ctx, *s.cfg)
}

// ownSource is a plugin that runs for one session. It starts while the session already answers,
// it is started again after a failed start, and loads changed files.
type ownSource struct {
	listSource
	ctx      context.Context // of the session
	p        *plugin
	started  chan struct{} // closed when it has started for the first time
	reloaded chan struct{} // has a token when other files were loaded

	mu   sync.Mutex      // held while the plugin starts or loads other files; protects the following
	seen runner.Snapshot // what runs
}

// newOwnSource returns an error if the plugin can never start.
func newOwnSource(ctx context.Context, prog *program, o *mcpOptions) (*ownSource, error) {
	cfg := &o.start.Config
	cfg.Timeouts.Call, cfg.ErrorField = o.timeout, o.errorField
	cfg.Timeouts.Stop = cmp.Or(cfg.Timeouts.Stop, mcpStop)
	cfg.Keep.DefaultConcurrency = mcpConcurrency
	s := &ownSource{
		listSource: listSource{prog, cfg}, ctx: ctx, p: prog.newPlugin(cfg.Plugin, prog.opts.quiet),
		started: make(chan struct{}), reloaded: make(chan struct{}, 1),
	}
	s.p.follow(cfg)
	s.p.followEvents(&cfg.Keep)
	if err := s.open(); err != nil && hook.AsError(err).Kind == hook.Usage {
		return nil, s.p.failed(err)
	}
	return s, nil
}

func (s *ownSource) open() error {
	if err := s.p.open(s.ctx, *s.cfg); err != nil {
		return err
	}
	return s.p.opened.MCPServer()
}

// plugin returns the plugin with its current files. If a caller gives up, the start continues for
// the others.
func (s *ownSource) plugin(ctx context.Context) (mcp.Plugin, error) {
	return hook.Interruptible(ctx, func() (mcp.Plugin, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.p.pool != nil {
			s.reload(s.ctx)
		} else if err := s.start(); err != nil {
			return nil, s.p.complete(err)
		}
		return limited{Plugin: s.p.pool, timeout: s.p.opened.Settings().Timeouts.Call}, nil
	})
}

// start starts the plugin. s.mu is held.
func (s *ownSource) start() error {
	err := s.open()
	if err == nil {
		s.seen, err = s.p.opened.Snapshot(s.ctx)
	}
	if err == nil {
		s.p.pool, err = s.p.opened.Start(s.ctx)
	}
	if err != nil {
		return err
	}
	s.p.noteReady()
	close(s.started)
	return nil
}

// reload loads changed files. If they do not start, the old plugin stays. s.mu is held.
func (s *ownSource) reload(ctx context.Context) {
	if len(s.seen.Changed()) == 0 {
		return
	}
	now, err := s.p.opened.Snapshot(ctx)
	if err == nil {
		err = s.p.pool.Restart(ctx, "its files changed")
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		s.p.note("its files changed and do not start, so the old plugin stays: " + err.Error())
	default:
		select {
		case s.reloaded <- struct{}{}:
		default:
		}
	}
	s.seen = now
}

func (s *ownSource) follow(ctx context.Context, server *mcp.Server) {
	select {
	case <-s.started:
	case <-ctx.Done():
		return
	}
	s.mu.Lock()
	seen := s.seen
	s.mu.Unlock()
	go s.p.opened.Watch(ctx, seen, func(ctx context.Context, _ []string) { // ends with ctx
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reload(ctx)
	})
	for {
		select {
		case <-s.reloaded:
			server.Reload(ctx, s.p.pool)
		case <-ctx.Done():
			return
		}
	}
}

func (s *ownSource) complete(err error) *hook.Error {
	select {
	case <-s.started:
		return s.p.complete(err)
	default:
		return hook.AsError(err) // plugin has completed it
	}
}

// close stops the plugin. Nothing of it is left soon after the stop timeout.
func (s *ownSource) close() {
	s.mu.Lock() // a start ends with s.ctx
	defer s.mu.Unlock()
	if s.p.pool != nil {
		ctx, cancel := context.WithTimeout(s.prog.signals.kill, s.cfg.Timeouts.Stop)
		defer cancel()
		_ = s.p.pool.Close(ctx) // it has killed what did not stop
	}
	s.p.output.Close()
}

// sharedSource is a background plugin, which other sessions and commands call, too.
type sharedSource struct {
	listSource
	o    *mcpOptions
	word string

	mu      sync.Mutex // protects the following
	running *plugin    // nil: not connected yet
}

// plugin connects to the plugin that runs now. With --auto-start it starts the plugin first.
func (s *sharedSource) plugin(ctx context.Context) (mcp.Plugin, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	s.running = p
	return limited{p.client, s.o.timeout, s.o.errorField}, nil
}

func (s *sharedSource) connect(ctx context.Context) (*plugin, error) {
	if s.running != nil {
		p, err := s.prog.connectTo(ctx, s.running.client.Identity().Name, s.word)
		if err == nil || !s.o.start.AutoStarted || !isNotRunning(err) {
			return p, err
		}
	}
	return s.prog.callee(ctx, target{word: s.word, start: s.o.start})
}

// reconnectEvery is how often a session checks whether a stopped plugin runs again.
const reconnectEvery = time.Second

func (s *sharedSource) follow(ctx context.Context, server *mcp.Server) {
	for ctx.Err() == nil {
		s.mu.Lock()
		p := s.running
		s.mu.Unlock()
		if p != nil {
			if now, err := s.prog.connectTo(ctx, p.client.Identity().Name, s.word); err == nil {
				p = now
				server.Reload(ctx, p.client)
			}
			for e, err := range p.client.Events(ctx) {
				if err == nil && e.To == hook.StateReady {
					server.Reload(ctx, p.client)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectEvery):
		}
	}
}

func (s *sharedSource) complete(err error) *hook.Error {
	e := *asError(err)
	if isNotRunning(&e) {
		e.Hints = schema.Hints("the user can start it with %s", schema.Command{"start", s.word})
	}
	return &e
}

func (s *sharedSource) close() {}
