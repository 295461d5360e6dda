package check

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// process is one process of the plugin, started and looked at by hand: without
// restarts, and with what was seen of a start that failed.
type process struct {
	*runner.Opened
	launcher hook.Launcher
	inst     hook.Instance // nil if it did not start
	started  func(hook.Info)
	debug    func(area, text string)
	ready    bool // the bootstrap calls were made, so shutdown calls are owed

	mu   sync.Mutex // protects seen
	seen grpcplugin.Evidence
}

// open resolves a plugin. What it returns is never nil.
func open(ctx context.Context, cfg runner.Config) (*process, error) {
	p := &process{started: cfg.Started, debug: cfg.Debug}
	cfg.Once = true
	cfg.Observe = func(e runner.Evidence) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen = e
	}
	var err error
	p.Opened, err = runner.Open(ctx, cfg)
	return p, err
}

// Start starts the process and makes the bootstrap calls. If one of these fails, the
// process runs until Close.
func (p *process) Start(ctx context.Context) error {
	p.launcher = p.Launcher()
	inst, err := p.launcher.Launch(ctx)
	if err != nil {
		return err
	}
	if p.inst = inst; p.started != nil {
		p.started(inst.Info())
	}
	if err := p.calls(ctx, p.Bootstrap()); err != nil {
		return err
	}
	if p.ready = true; p.debug != nil {
		p.debug("state", p.Plugin().ID+" is "+hook.StateReady.String())
	}
	return nil
}

// calls makes the manifest's calls, in order, each within the limit of a call.
func (p *process) calls(ctx context.Context, calls []hook.Call) error {
	for _, c := range calls {
		ctx, cancel := context.WithTimeout(ctx, p.Settings().Timeouts.Call)
		_, err := p.Call(ctx, c)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// Call calls a hook.
func (p *process) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	return runner.CallCarrying(ctx, p.inst, p.Settings().ErrorField, c)
}

// Describe lists the hooks.
func (p *process) Describe(ctx context.Context) (schema.Schema, error) { return p.inst.Describe(ctx) }

// Probe asks whether the plugin is healthy.
func (p *process) Probe(ctx context.Context) error {
	if g := p.GRPC(); g != nil {
		return g.Health(ctx)
	}
	return p.inst.Probe(ctx)
}

// GRPC is the process of a gRPC plugin, nil for another one.
func (p *process) GRPC() *grpcplugin.Instance {
	g, _ := p.inst.(*grpcplugin.Instance) // nil otherwise
	return g
}

// Evidence is what was seen of the start of a gRPC plugin, also if it failed.
func (p *process) Evidence() grpcplugin.Evidence {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// Running reports whether the process was started and did not exit since.
func (p *process) Running() bool {
	if p.inst == nil || p.GRPC() != nil && p.GRPC().Exited() {
		return false
	}
	select {
	case <-p.inst.Done():
		return false
	default:
		return true
	}
}

// Info is which process it is; the zero Info if none was started.
func (p *process) Info() hook.Info {
	if p.inst == nil {
		return hook.Info{}
	}
	return p.inst.Info()
}

// Crash kills the process as something outside of pyplug would, and waits until it is
// gone.
func (p *process) Crash(ctx context.Context) error {
	i, ok := p.inst.(interface{ Crash() error })
	if !ok {
		return &hook.Error{Kind: hook.Internal, Err: errors.New("the process cannot be killed")}
	}
	if err := i.Crash(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return &hook.Error{Kind: hook.Internal, Err: err}
	}
	select {
	case <-p.inst.Done():
		return nil
	case <-ctx.Done():
		return &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
}

// Farewell makes the manifest's shutdown calls, once, if they are owed.
func (p *process) Farewell(ctx context.Context) error {
	owed := p.ready && p.Running() && ctx.Err() == nil
	p.ready = false
	if !owed {
		return nil
	}
	return p.calls(ctx, p.Shutdown())
}

// Close makes the shutdown calls, stops the process and returns when all of it is
// gone. Ending ctx kills it. It may be called more than once.
func (p *process) Close(ctx context.Context) error {
	if p.inst == nil {
		return nil
	}
	callErr := p.Farewell(ctx)
	err := p.inst.Stop(ctx)
	return errors.Join(callErr, err, p.launcher.Close(ctx))
}
