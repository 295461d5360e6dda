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
	"github.com/pyplug/pyplug/runner/service"
)

// mcpSource provides the plugin of a session.
type mcpSource interface {
	// The first two are those of [mcp.Options].
	plugin(ctx context.Context) (mcp.Plugin, error)
	complete(err error) *hook.Error
	// close stops the plugin if it belongs to the session.
	close()
}

// ownSource is a plugin that runs for one session.
type ownSource struct {
	*service.Session
	p *plugin
}

// newOwnSource returns an error if the plugin can never start. reload is called when the plugin
// has loaded other files.
func (prog *program) newOwnSource(ctx context.Context, o *mcpOptions, reload func(mcp.Plugin)) (mcpSource, error) {
	cfg := &o.start.Config
	cfg.Timeouts.Call, cfg.ErrorField = o.timeout, o.errorField
	cfg.Timeouts.Stop = cmp.Or(cfg.Timeouts.Stop, mcpStop)
	cfg.Keep.DefaultConcurrency = mcpConcurrency
	p := prog.newPlugin(cfg.Plugin, prog.opts.quiet)
	p.follow(cfg)
	p.followEvents(&cfg.Keep)
	open := func(ctx context.Context) (*runner.Opened, error) {
		err := p.open(ctx, *cfg)
		if err == nil {
			err = p.opened.MCPServer()
		}
		return p.opened, err
	}
	if _, err := open(ctx); err != nil && hook.AsError(err).Kind == hook.Usage {
		return nil, p.failed(err)
	}
	return &ownSource{p: p, Session: service.NewSession(ctx, service.SessionHost{
		Open: open, Ready: p.noteReady, Reloaded: func(pool *runner.Pool) { reload(pool) }, Complete: p.complete, Note: p.note,
	})}, nil
}

func (s *ownSource) plugin(ctx context.Context) (mcp.Plugin, error) {
	pool, err := s.Plugin(ctx)
	if err != nil {
		return nil, err
	}
	return caller{Plugin: pool, timeout: s.p.opened.Settings().Timeouts.Call}, nil
}

func (s *ownSource) complete(err error) *hook.Error { return s.Complete(err) }

// close stops the plugin. Nothing of it is left soon after the stop timeout.
func (s *ownSource) close() {
	s.Close(s.p.prog.signals.kill)
	s.p.output.Close()
}

// sharedSource is a background plugin, which other sessions and commands call, too.
type sharedSource struct {
	prog *program
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
	return caller{Plugin: p.client, timeout: s.o.timeout, errorField: s.o.errorField}, nil
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
