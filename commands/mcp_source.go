package commands

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/schema"
)

// ownSource is a plugin that runs for one session. It starts while the session already answers,
// it is started again after a failed start, and loads changed files.
type ownSource struct {
	ctx      context.Context // of the session
	end      context.CancelCauseFunc
	f        *program
	o        *mcpOptions
	p        *plugin
	first    chan struct{} // closed when the plugin was resolved, or could not be
	started  chan struct{} // closed when it has started for the first time
	reloaded chan struct{} // has a token when other files were loaded
	opened   atomic.Pointer[runner.Opened]

	mu    sync.Mutex // held while the plugin starts or loads other files; protects the following
	tried bool
	seen  runner.Snapshot // what runs
}

func newOwnSource(ctx context.Context, f *program, o *mcpOptions, end context.CancelCauseFunc) *ownSource {
	cfg := &o.start.Config
	cfg.Timeouts.Call, cfg.ErrorField = o.timeout, o.errorField
	cfg.Timeouts.Stop = cmp.Or(cfg.Timeouts.Stop, mcpStop)
	cfg.Keep.DefaultConcurrency = mcpConcurrency
	s := &ownSource{
		ctx: ctx, end: end, f: f, o: o, p: f.newPlugin(cfg.Plugin, f.opts.quiet),
		first: make(chan struct{}), started: make(chan struct{}), reloaded: make(chan struct{}, 1),
	}
	s.p.follow(cfg)
	s.p.followEvents(&cfg.Keep)
	return s
}

// plugin returns the plugin, with its files as they are. A caller that gives up leaves the start to
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

// start starts the plugin. What can never start ends the session. s.mu is held.
func (s *ownSource) start() (err error) {
	isFirst := !s.tried
	s.tried = true
	err = s.p.open(s.ctx, s.o.start.Config)
	if err == nil {
		s.opened.Store(s.p.opened)
		err = s.p.opened.MCPServer()
	}
	if isFirst {
		if err != nil && hook.AsError(err).Kind == hook.Usage {
			s.end(s.p.failed(err))
		}
		close(s.first)
	}
	if err == nil {
		if s.seen, err = s.p.opened.Snapshot(s.ctx); err == nil {
			s.p.pool, err = s.p.opened.Start(s.ctx)
		}
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
	go s.p.opened.Watch(ctx, seen, func(ctx context.Context, _ string) error { // ends with ctx
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reload(ctx)
		return nil
	}, func([]string, error) {})
	for {
		select {
		case <-s.reloaded:
			server.Reload(ctx, s.p.pool)
		case <-ctx.Done():
			return
		}
	}
}

// kept returns the hooks that an earlier session kept for the same files.
func (s *ownSource) kept(ctx context.Context) ([]schema.Hook, bool) {
	select {
	case <-s.first:
	case <-ctx.Done():
		return nil, false
	}
	if opened := s.opened.Load(); opened != nil {
		return opened.KeptHooks()
	}
	return nil, false
}

func (s *ownSource) keep(hooks []schema.Hook) {
	if err := s.opened.Load().KeepHooks(hooks); err != nil {
		s.f.streams.Log("info", "the list of hooks is not kept: "+err.Error())
	}
}

func (s *ownSource) source(ctx context.Context) []schema.Hook {
	return runner.SourceHooks(ctx, s.o.start.Config)
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
	select {
	case <-s.first: // what is wrong with the command line is reported, however short the session was
	case <-s.f.signals.kill.Done():
	case <-time.After(mcpResolve):
	}
	s.end(nil)
	s.mu.Lock() // a start ends with s.ctx
	defer s.mu.Unlock()
	if s.p.pool != nil {
		ctx, cancel := context.WithTimeout(s.f.signals.kill, s.o.start.Config.Timeouts.Stop)
		defer cancel()
		_ = s.p.pool.Close(ctx) // what had to be killed was
	}
	s.p.output.Close()
}

// sharedSource is a background plugin, which other sessions and commands call, too.
type sharedSource struct {
	f    *program
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
		p, err := s.f.connectTo(ctx, s.running.client.Identity().Name, s.word)
		if err == nil || !s.o.start.AutoStarted || !isNotRunning(err) {
			return p, err
		}
	}
	return s.f.callee(ctx, s.word, s.o.start, nil)
}

// reconnectEvery is how often a session looks whether a stopped plugin runs again.
const reconnectEvery = time.Second

func (s *sharedSource) follow(ctx context.Context, server *mcp.Server) {
	for ctx.Err() == nil {
		s.mu.Lock()
		p := s.running
		s.mu.Unlock()
		if p != nil {
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
		if p != nil {
			if now, err := s.f.connectTo(ctx, p.client.Identity().Name, s.word); err == nil {
				s.mu.Lock()
				s.running = now
				s.mu.Unlock()
				server.Reload(ctx, now.client)
			}
		}
	}
}

// kept returns the hooks that an earlier session kept for the plugin that is started now.
func (s *sharedSource) kept(ctx context.Context) ([]schema.Hook, bool) {
	if opened := s.open(ctx); opened != nil {
		return opened.KeptHooks()
	}
	return nil, false
}

func (s *sharedSource) keep(hooks []schema.Hook) {
	if opened := s.open(context.Background()); opened != nil { // reads files only
		_ = opened.KeepHooks(hooks) // the next session waits for the start again
	}
}

// open resolves the plugin that may have to be started; nil if there is none.
func (s *sharedSource) open(ctx context.Context) *runner.Opened {
	if !s.o.start.AutoStarted {
		return nil
	}
	opened, err := runner.Open(ctx, s.o.start.Config)
	if err != nil {
		return nil // the start reports it
	}
	return opened
}

func (s *sharedSource) source(ctx context.Context) []schema.Hook {
	if !s.o.start.AutoStarted {
		return nil
	}
	return runner.SourceHooks(ctx, s.o.start.Config)
}

func (s *sharedSource) complete(err error) *hook.Error {
	e := *asError(err)
	if isNotRunning(&e) {
		e.Hints = schema.Hints("the user can start it with %s", schema.Command{"start", s.word})
	}
	return &e
}

func (s *sharedSource) close() {}
