package check

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
)

// process is one process of the plugin, started directly. Hooks and Status make it an [mcp.Plugin].
type process struct {
	*runner.Keeper
	runner.Process
}

// open resolves a plugin without starting it. The returned process is never nil.
func open(ctx context.Context, cfg plan.Config) (*process, error) {
	p := &process{}
	cfg.Once = true
	var err error
	p.Keeper, err = runner.Open(ctx, cfg)
	return p, err
}

// Start starts the process and makes the bootstrap calls. If a bootstrap call fails, the process
// runs until Close.
func (p *process) Start(ctx context.Context) (err error) {
	if p.Process, err = p.Launch(ctx); err != nil {
		return err
	}
	err = p.Bootstrap(ctx)
	if debug := p.Config.Debug; err == nil && debug != nil {
		debug("state", p.Plugin.ID+" is "+string(hook.StateReady))
	}
	return err
}

// Close closes the process, see [runner.Process.Close].
func (p *process) Close(ctx context.Context) (farewell, stop error) { return p.Process.Close(ctx) }

// Status returns the zero Status. It makes process an mcp.Plugin.
func (p *process) Status(context.Context) (hook.Status, error) { return hook.Status{}, nil }

// GRPC returns the process of a gRPC plugin, or nil for any other plugin.
func (p *process) GRPC() *grpcplugin.Instance {
	g, _ := p.Instance.(*grpcplugin.Instance) // nil for other plugins
	return g
}

// fresh starts the plugin once more, and returns the duration of the start. The new process must be
// healthy if the plugin was healthy at its first start. Its output appears only in the error.
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
