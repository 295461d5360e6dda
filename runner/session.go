package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// Session is an open plugin. It is safe for concurrent use. It holds one
// instance, and ends with it.
type Session struct {
	config   Config
	plugin   manifest.Plugin
	resolved time.Duration // how long it took to find the plugin
	settings Settings
	environ  []string           // the plugin's
	python   interp.Interpreter // the zero one for an executable
	scripted interp.Interpreter // of an executable that is a Python script
	program  Program            // of a gRPC plugin
	launcher hook.Launcher
	inst     hook.Instance        // nil when it did not start
	grpc     *grpcplugin.Instance // the same, nil for a functions file
	seen     grpcplugin.Evidence  // of the start that came last; behind seeing
	seeing   sync.Mutex
	keep     Keep   // settled
	lacks    string // what of keep this system cannot have; empty: nothing
	kept     bool   // by a [Kept], which stops it
	// bootstrapped tells that the manifest's shutdown calls are owed.
	bootstrapped bool
	closing      sync.Mutex // held by Farewell and Close
	printing     sync.Mutex // held while a line is passed on
}

var _ hook.Caller = (*Session)(nil)

// Call calls one hook. It sets no limit: the caller puts the one of
// [Session.Settings] into ctx. A result that carries an error in the settings'
// ErrorField is an error of kind Failed, and so is an item of a stream, which
// ends the stream.
func (s *Session) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	return callCarrying(ctx, s.inst, s.settings.ErrorField, c)
}

// Describe lists the hooks.
func (s *Session) Describe(ctx context.Context) (schema.Schema, error) {
	return s.inst.Describe(ctx)
}

// Probe asks the plugin whether it is healthy. A gRPC plugin without health
// service cannot say so: that is an error, though an instance of it counts as
// alive. One that does not answer while it works on a call counts as
// healthy: a server with one thread is busy then, and the call has a limit.
func (s *Session) Probe(ctx context.Context) error {
	return probe(ctx, s.inst)
}

// probe asks an instance whether it is healthy.
func probe(ctx context.Context, inst hook.Instance) error {
	g, ok := inst.(*grpcplugin.Instance)
	busy := ok && g.Busy()
	err := inst.Probe(ctx)
	if late := (*hook.Error)(nil); errors.As(err, &late) && late.Kind == hook.Timeout && ok && (busy || g.Busy()) {
		return nil
	}
	if err != nil {
		return err
	}
	if none := noHealth(g); none != nil {
		return none
	}
	return nil
}

// Watch follows the plugin's health service: tell gets the name of each status
// that it tells. ok is false for a plugin without such a service, which can only
// be probed again and again. It ends as [grpcplugin.Instance.Watch] does.
func (s *Session) Watch(ctx context.Context, tell func(status string) error) (ok bool, err error) {
	if s.grpc == nil {
		return false, nil
	}
	err = s.grpc.Watch(ctx, tell)
	if none := (*hook.Error)(nil); errors.As(err, &none) && none.Reason == grpcplugin.ReasonNoHealth {
		return false, nil
	}
	return true, err
}

// noHealth is the error of an instance without a health service, nil for others.
func noHealth(g *grpcplugin.Instance) error {
	if g == nil {
		return nil
	}
	if e := g.Evidence().Unhealthy; e != nil && e.Reason == grpcplugin.ReasonNoHealth {
		return e
	}
	return nil
}

// Template is an empty request of a hook as JSON, to be filled in.
func (s *Session) Template(ctx context.Context, name string) ([]byte, error) {
	return template(ctx, s.inst, name)
}

// template is an empty request of a hook of an instance.
func template(ctx context.Context, inst hook.Instance, name string) ([]byte, error) {
	if g, ok := inst.(*grpcplugin.Instance); ok {
		return g.Template(ctx, name)
	}
	sch, err := inst.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return templateOf(sch, name)
}

// templateOf is an empty request of a hook of a functions file.
func templateOf(sch schema.Schema, name string) ([]byte, error) {
	var known []string
	for _, h := range sch.Hooks {
		if h.Name == name {
			return schema.Template(h), nil
		}
		known = append(known, h.Name)
	}
	return nil, &hook.Error{Kind: hook.Request, Hook: name, Err: &schema.NoHookError{Hook: name, Known: known}}
}

// Done is closed when the plugin is gone, and Exit says how it ended.
func (s *Session) Done() <-chan struct{} { return s.inst.Done() }

// Exit says how the plugin ended. It is valid once Done is closed.
func (s *Session) Exit() hook.Exit { return s.inst.Exit() }

// Oddities are what other hosts would refuse about the plugin that was started.
func (s *Session) Oddities() []string {
	if s.grpc == nil {
		return nil
	}
	return oddities(s.Evidence())
}

// Plugin is what the path was resolved to.
func (s *Session) Plugin() manifest.Plugin { return s.plugin }

// Settings are the limits and choices in force.
func (s *Session) Settings() Settings { return s.settings }

// KeepSettings are those for [Session.Keep], settled by [Prepare].
func (s *Session) KeepSettings() Keep { return s.keep }

// Interpreter is the Python that was chosen.
func (s *Session) Interpreter() interp.Interpreter { return s.python }

// Resolved is how long it took to find the plugin and to read its manifest.
func (s *Session) Resolved() time.Duration { return s.resolved }

// Source is the plugin's Python source: the files that Python runs, the Python that
// does so, and the directories in which the plugin's own modules are. There are none
// for a program that is no Python's.
func (s *Session) Source() (scripts []string, python interp.Interpreter, dirs []string) {
	python = s.python
	if s.plugin.Kind == manifest.Executable {
		python = s.scripted
	}
	if python.Path == "" {
		return nil, python, nil
	}
	if s.plugin.Kind == manifest.Package {
		scripts = append(scripts, filepath.Join(s.plugin.Entry, "__init__.py"))
		if s.settings.Transport == "pipe" {
			return scripts, python, importDirs(s.plugin.Entry)
		}
	}
	return append(scripts, scriptOf(s.plugin.Entry)), python, importDirs(s.plugin.Entry)
}

// Environ is the plugin's whole environment. It must not be changed.
func (s *Session) Environ() []string { return s.environ }

// Program is what a host of go-plugin starts; the zero value for a functions
// file.
func (s *Session) Program() Program { return s.program }

// GRPC is the plugin that was started, nil unless it is a gRPC plugin.
func (s *Session) GRPC() *grpcplugin.Instance { return s.grpc }

// Evidence is what was seen of a gRPC plugin while it started, also when that
// failed.
func (s *Session) Evidence() grpcplugin.Evidence {
	s.seeing.Lock()
	defer s.seeing.Unlock()
	return s.seen
}

// saw takes what was seen of a start.
func (s *Session) saw(e grpcplugin.Evidence) {
	s.seeing.Lock()
	defer s.seeing.Unlock()
	s.seen = e
}

// Crash ends the plugin's process as something outside of pyplug would.
// [os.ErrProcessDone] when it is gone.
func (s *Session) Crash() error {
	return crash(s.inst)
}

// crash ends the process of an instance, or of none.
func crash(inst hook.Instance) error {
	i, ok := inst.(interface{ Crash() error })
	if !ok {
		return os.ErrProcessDone
	}
	return i.Crash()
}

// Running tells whether the plugin was started and did not end since.
func (s *Session) Running() bool {
	if s.inst == nil {
		return false
	}
	select {
	case <-s.inst.Done():
		return false
	default:
		return true
	}
}

// Info says which process answers; the zero Info when none was started.
func (s *Session) Info() hook.Info {
	if s.inst == nil {
		return hook.Info{}
	}
	return s.inst.Info()
}

// state tells a developer what becomes of the session.
func (s *Session) state(to string) {
	if s.config.Debug != nil {
		s.config.Debug("state", s.plugin.ID+" is "+to)
	}
}

// Farewell makes the manifest's shutdown calls, unless the plugin is gone, its
// bootstrap calls did not all succeed, or they were made before. The error is that
// of the first call that failed, which is the last that was made.
func (s *Session) Farewell(ctx context.Context) error {
	s.closing.Lock()
	defer s.closing.Unlock()
	owed := s.bootstrapped && s.Running() && ctx.Err() == nil
	s.bootstrapped = false
	if !owed {
		return nil
	}
	return s.calls(ctx, s.plugin.Manifest.Shutdown)
}

// Close stops the plugin and returns when all of it is gone. Ending ctx skips
// to the kill. Before that it makes the calls of [Session.Farewell], whose error
// is returned. It is safe to call twice, and on a session that did not start. A
// plugin that is kept is stopped by [Kept.Close] instead.
func (s *Session) Close(ctx context.Context) error {
	if s.inst == nil || s.kept {
		return nil
	}
	s.state("stopping")
	defer s.state("stopped")
	callErr := s.Farewell(ctx)
	s.closing.Lock()
	defer s.closing.Unlock()
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
