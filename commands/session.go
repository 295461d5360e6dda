package commands

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/plan"
)

// session is a plugin that runs for one client of mcp and ends with it. The client is served while
// the plugin starts. The session restarts the plugin after a failed start, and loads changed files.
type session struct {
	*local
	ctx      context.Context // the context of the session
	cfg      plan.Config
	reloaded func(mcp.Plugin) // called after changed files were loaded
	ready    atomic.Bool      // whether the plugin has started

	mu   sync.Mutex      // held while the plugin starts or loads changed files; protects seen
	seen runner.Snapshot // the files at the last start or reload, even a failed one

	broken atomic.Pointer[string] // why the edited files do not start, or nil if they do
}

// newSession returns an error if the plugin can never start.
func (prog *program) newSession(ctx context.Context, cfg plan.Config, reloaded func(mcp.Plugin)) (*session, error) {
	s := &session{local: prog.newLocal(cfg.Plugin, prog.opts.quiet), ctx: ctx, cfg: cfg, reloaded: reloaded}
	s.follow(&s.cfg)
	if err := s.open(ctx); err != nil && hook.AsError(err).Kind == hook.Usage {
		return nil, failed(s.local, err)
	}
	return s, nil
}

func (s *session) open(ctx context.Context) error {
	if err := s.local.open(ctx, s.cfg); err != nil {
		return err
	}
	return s.MCPServer()
}

// plugin returns the plugin with its current files, and starts it if necessary. If a caller gives
// up, the start continues for the others.
func (s *session) plugin(ctx context.Context) (mcp.Plugin, error) {
	return hook.Interruptible(ctx, func() (mcp.Plugin, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ready.Load() {
			s.reload(s.ctx)
		} else if err := s.start(); err != nil {
			return nil, s.local.complete(err)
		}
		return s.caller(), nil
	})
}

func (s *session) caller() mcp.Plugin {
	return noting{hook.Limited{Plugin: s.Pool, Limit: s.Config.Timeouts.Call}, s}
}

// noting adds a note to each result while the edited files of a session do not start.
type noting struct {
	hook.Limited
	s *session
}

func (n noting) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	r, err := n.Limited.Call(ctx, c)
	if why := n.s.broken.Load(); err == nil && why != nil {
		r.Notes = append(r.Notes, *why)
	}
	return r, err
}

// start starts the plugin. The caller holds s.mu.
func (s *session) start() (err error) {
	if err := s.open(s.ctx); err != nil {
		return err
	}
	if s.seen, err = s.Snapshot(s.ctx); err != nil {
		return err
	}
	if err := s.Start(s.ctx); err != nil {
		return err
	}
	s.noteReady()
	s.ready.Store(true)
	go s.Watch(s.ctx, s.seen, func(ctx context.Context, _ []string) { // ends with s.ctx
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reload(ctx)
	})
	return nil
}

// reload loads changed files. If they do not start, the old plugin stays. The caller holds s.mu.
func (s *session) reload(ctx context.Context) {
	if len(s.seen.Changed()) == 0 {
		return
	}
	now, err := s.Reload(ctx, "its files changed")
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		located := hook.AsError(err).Located()
		s.Note("its files changed, but the new plugin does not start, so the old one stays: " + located)
		reason, _, _ := strings.Cut(located, "\n")
		why := "this result is from the old plugin: its files changed, but the new one does not start: " + reason
		s.broken.Store(&why)
	default:
		s.broken.Store(nil)
		go s.reloaded(s.Pool) // in a goroutine, because it calls the plugin and s.mu is held
	}
	s.seen = now
}

// complete completes an error of the plugin. Until the plugin is ready, all errors come from the
// method plugin, which has completed them.
func (s *session) complete(err error) *hook.Error {
	if s.ready.Load() {
		return s.local.complete(err)
	}
	return hook.AsError(err)
}

// close stops the plugin. All its processes are gone soon after the stop timeout.
func (s *session) close() {
	s.mu.Lock() // a start in progress ends with s.ctx
	defer s.mu.Unlock()
	if s.ready.Load() {
		ctx, cancel := context.WithTimeout(s.prog.signals.kill, s.Config.Timeouts.Stop)
		defer cancel()
		_ = s.Close(ctx) // kills processes that do not stop
	}
	s.output.Close()
}
