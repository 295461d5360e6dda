package runner

import (
	"context"
	"errors"
	"sync"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// Session is an open plugin. It is safe for concurrent use. It holds one
// instance, and ends with it.
type Session struct {
	plugin   manifest.Plugin
	settings Settings
	python   interp.Interpreter
	launcher hook.Launcher
	inst     hook.Instance // nil when it did not start
	// bootstrapped tells that the manifest's shutdown calls are owed.
	bootstrapped bool
	closing      sync.Mutex // held by Close
	debug        func(area, text string)
}

var _ hook.Caller = (*Session)(nil)

// Call calls one hook. It sets no limit: the caller puts the one of
// [Session.Settings] into ctx. A result that carries an error in the settings'
// ErrorField is an error of kind Failed, and so is an item of a stream, which
// ends the stream.
func (s *Session) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	field, emit := s.settings.ErrorField, c.Emit
	if field != "" && emit != nil {
		c.Emit = func(item hook.Item) error {
			if carried := carriedError(field, c.Hook, item.Value); carried != nil {
				return carried
			}
			return emit(item)
		}
	}
	r, err := s.inst.Call(ctx, c)
	if err == nil && field != "" {
		if carried := carriedError(field, c.Hook, r.Value); carried != nil {
			return hook.Result{}, carried
		}
	}
	return r, err
}

// Describe lists the hooks.
func (s *Session) Describe(ctx context.Context) (schema.Schema, error) {
	return s.inst.Describe(ctx)
}

// Probe asks the plugin whether it is healthy.
func (s *Session) Probe(ctx context.Context) error { return s.inst.Probe(ctx) }

// Plugin is what the path was resolved to.
func (s *Session) Plugin() manifest.Plugin { return s.plugin }

// Settings are the limits and choices in force.
func (s *Session) Settings() Settings { return s.settings }

// Interpreter is the Python that was chosen.
func (s *Session) Interpreter() interp.Interpreter { return s.python }

// Info says which process answers; the zero Info when none was started.
func (s *Session) Info() hook.Info {
	if s.inst == nil {
		return hook.Info{}
	}
	return s.inst.Info()
}

// state tells a developer what becomes of the session.
func (s *Session) state(to string) {
	if s.debug != nil {
		s.debug("state", s.plugin.ID+" is "+to)
	}
}

// Close stops the plugin and returns when all of it is gone. Ending ctx skips
// to the kill. Before that it makes the manifest's shutdown calls, unless the
// plugin is gone; their error is returned. It is safe to call twice, and on a
// session that did not start.
func (s *Session) Close(ctx context.Context) error {
	if s.inst == nil {
		return nil
	}
	s.closing.Lock()
	defer s.closing.Unlock()
	s.state("stopping")
	defer s.state("stopped")
	var callErr error
	select {
	case <-s.inst.Done():
	default:
		if s.bootstrapped && ctx.Err() == nil {
			callErr = s.calls(ctx, s.plugin.Manifest.Shutdown)
		}
	}
	s.bootstrapped = false
	err := s.inst.Stop(ctx)
	if closeErr := s.launcher.Close(ctx); err == nil {
		err = closeErr
	}
	return errors.Join(callErr, err)
}

// calls makes the manifest's calls, in order, each within the limit of a call.
func (s *Session) calls(ctx context.Context, calls []manifest.HookCall) error {
	for _, c := range calls {
		ctx, cancel := context.WithTimeout(ctx, s.settings.Timeouts.Call)
		_, err := s.Call(ctx, hook.Call{Hook: c.Hook, Args: hook.Args{JSON: c.Args}})
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}
