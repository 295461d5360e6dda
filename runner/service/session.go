package service

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// Session is a plugin that runs for one client and ends with it. It starts while the client is
// already served, is started again after a failed start, and loads changed files. Make one with
// [NewSession].
type Session struct {
	ctx   context.Context
	host  SessionHost
	ready atomic.Bool // it has started: opened and pool do not change any more

	mu     sync.Mutex // held while the plugin starts or loads other files; protects the following
	opened *runner.Opened
	pool   *runner.Pool
	seen   runner.Snapshot // what runs
}

// SessionHost is what the surrounding process provides for a [Session].
type SessionHost struct {
	// Open resolves the plugin.
	Open func(ctx context.Context) (*runner.Opened, error)
	// Ready is called once the plugin is ready, and Reloaded when it has loaded other files.
	Ready    func()
	Reloaded func(*runner.Pool)
	// Complete adds hints and the plugin's name to an error.
	Complete func(error) *hook.Error
	// Note tells the user something.
	Note func(text string)
}

// NewSession prepares a session, which lasts until ctx ends.
func NewSession(ctx context.Context, host SessionHost) *Session {
	return &Session{ctx: ctx, host: host}
}

// Plugin returns the plugin with its current files, and starts it if necessary. If a caller gives
// up, the start continues for the others.
func (s *Session) Plugin(ctx context.Context) (*runner.Pool, error) {
	return hook.Interruptible(ctx, func() (*runner.Pool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.pool != nil {
			s.reload(s.ctx)
		} else if err := s.start(); err != nil {
			return nil, s.host.Complete(err)
		}
		return s.pool, nil
	})
}

// start starts the plugin. s.mu is held.
func (s *Session) start() (err error) {
	if s.opened, err = s.host.Open(s.ctx); err != nil {
		return err
	}
	if s.seen, err = s.opened.Snapshot(s.ctx); err != nil {
		return err
	}
	if s.pool, err = s.opened.Start(s.ctx); err != nil {
		return err
	}
	s.host.Ready()
	s.ready.Store(true)
	go s.opened.Watch(s.ctx, s.seen, func(ctx context.Context, _ []string) { // ends with s.ctx
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reload(ctx)
	})
	return nil
}

// reload loads changed files. If they do not start, the old plugin stays. s.mu is held.
func (s *Session) reload(ctx context.Context) {
	if len(s.seen.Changed()) == 0 {
		return
	}
	now, err := s.opened.Snapshot(ctx)
	if err == nil {
		err = s.pool.Restart(ctx, "its files changed")
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		s.host.Note("its files changed and do not start, so the old plugin stays: " + err.Error())
	default:
		go s.host.Reloaded(s.pool) // it may call the plugin
	}
	s.seen = now
}

// Complete completes an error of the plugin, unless [Session.Plugin] has: until the plugin is
// ready, all errors are that function's.
func (s *Session) Complete(err error) *hook.Error {
	if s.ready.Load() {
		return s.host.Complete(err)
	}
	return hook.AsError(err)
}

// Close stops the plugin within its stop timeout, and kills it when kill ends.
func (s *Session) Close(kill context.Context) {
	s.mu.Lock() // a start ends with s.ctx
	defer s.mu.Unlock()
	if s.pool != nil {
		ctx, cancel := context.WithTimeout(kill, s.opened.Config().Timeouts.Stop)
		defer cancel()
		_ = s.pool.Close(ctx) // it has killed what did not stop
	}
}
