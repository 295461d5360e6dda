package check

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// process is one process of the plugin, started directly. It is never restarted, and it
// keeps the evidence of a start that failed.
type process struct {
	*runner.Opened
	cfg   runner.Config
	inst  hook.Instance       // nil if it did not start
	ready bool                // the bootstrap calls succeeded, so Close makes the shutdown calls
	seen  grpcplugin.Evidence // what a gRPC plugin did during the start, even if that failed
}

// open resolves a plugin without starting it. The returned process is never nil.
func open(ctx context.Context, cfg runner.Config) (*process, error) {
	p := &process{cfg: cfg}
	cfg.Once = true
	cfg.Observe = func(e runner.Evidence) { p.seen = e }
	var err error
	p.Opened, err = runner.Open(ctx, cfg)
	return p, err
}

// Start starts the process and makes the bootstrap calls. If one of these fails, the
// process runs until Close.
func (p *process) Start(ctx context.Context) error {
	inst, err := p.Launcher().Launch(ctx)
	if err != nil {
		return err
	}
	p.inst = inst
	if err := p.calls(ctx, p.Config().Bootstrap); err != nil {
		return err
	}
	if p.ready = true; p.cfg.Debug != nil {
		p.cfg.Debug("state", p.Plugin().ID+" is "+string(hook.StateReady))
	}
	return nil
}

// calls makes the manifest's calls, in order.
func (p *process) calls(ctx context.Context, calls []hook.Call) error {
	for _, c := range calls {
		if _, err := p.Call(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// Call calls a hook, within the limit of a call.
func (p *process) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	ctx, cancel := hook.WithLimit(ctx, p.Config().Timeouts.Call)
	defer cancel()
	return p.Opened.Call(ctx, p.inst, c)
}

// Hooks describes the hooks, within the limit of a call. Hooks and Status make the process an [mcp.Plugin].
func (p *process) Hooks(ctx context.Context, q schema.Query) (schema.Schema, error) {
	ctx, cancel := hook.WithLimit(ctx, p.Config().Timeouts.Call)
	defer cancel()
	return p.inst.Describe(ctx, q)
}

// Status is empty.
func (p *process) Status(context.Context) (hook.Status, error) { return hook.Status{}, nil }

// GRPC returns the process of a gRPC plugin, or nil for any other plugin.
func (p *process) GRPC() *grpcplugin.Instance {
	g, _ := p.inst.(*grpcplugin.Instance) // nil otherwise
	return g
}

// Running reports whether the process was started and did not exit since.
func (p *process) Running() bool {
	if p.inst == nil || p.GRPC() != nil && p.GRPC().Exited() {
		return false
	}
	return !hook.IsClosed(p.inst.Done())
}

// Info describes the process. It is the zero Info if none was started.
func (p *process) Info() hook.Info {
	if p.inst == nil {
		return hook.Info{}
	}
	return p.inst.Info()
}

// Crash kills the process as something outside of pyplug would, and waits until it is
// gone.
func (p *process) Crash(ctx context.Context) error {
	err := p.inst.Crash()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return &hook.Error{Kind: hook.Internal, Err: err}
	}
	select {
	case <-p.inst.Done():
		return nil
	case <-ctx.Done():
		return &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
}

// Close makes the shutdown calls if the bootstrap calls succeeded, stops the process, and
// returns when all of it is gone. farewell is the error of the calls, stop that of the
// stop. If ctx ends, the process is killed. Close may be called more than once.
func (p *process) Close(ctx context.Context) (farewell, stop error) {
	if p.inst == nil {
		return nil, nil
	}
	if p.ready && p.Running() && ctx.Err() == nil {
		farewell = p.calls(ctx, p.Config().Shutdown)
	}
	p.ready = false
	return farewell, errors.Join(p.inst.Stop(ctx), p.Launcher().Close(context.WithoutCancel(ctx))) // no start is under way: it does not wait
}

// fresh starts the plugin once more, and returns how long that took. The plugin must be
// healthy if it was healthy at its first start. Its output appears only in the error.
func (c *check) fresh(ctx context.Context) (*process, time.Duration, error) {
	cfg := c.o.Config
	cfg.AnyHealth, cfg.Output = !c.healthy, nil
	began := time.Now()
	p, err := open(ctx, cfg)
	if err == nil {
		err = p.Start(ctx)
	}
	return p, time.Since(began), err
}
