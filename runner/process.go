package runner

import (
	"context"
	"errors"
	"os"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Process is one process of a plugin that is never restarted, for a caller that examines each step
// of its life. [Keeper.Launch] starts it, and Bootstrap makes it ready. It belongs to one
// goroutine. The zero value was never started.
type Process struct {
	hook.Instance // nil if the start failed
	launcher      hook.Launcher
	calls         calls
	ready         bool // the bootstrap calls succeeded, so Close makes the shutdown calls
}

// Bootstrap makes the manifest's calls after a start. If a call fails, the process runs until
// Close.
func (p *Process) Bootstrap(ctx context.Context) error {
	err := p.calls.bootstrap(ctx, p.Instance)
	p.ready = err == nil
	return err
}

// Call calls a hook. It applies the limit of a call.
func (p *Process) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	return p.calls.call(ctx, p.Instance, c)
}

// Hooks describes the hooks. It applies the limit of a call.
func (p *Process) Hooks(ctx context.Context, q schema.Query) (schema.Schema, error) {
	ctx, cancel := hook.WithLimit(ctx, p.calls.limit)
	defer cancel()
	return p.Describe(ctx, q)
}

// Running reports whether the process was started and has not ended.
func (p *Process) Running() bool { return p.Instance != nil && !exited(p.Instance) }

// Info describes the process. It returns the zero Info if no process was started.
func (p *Process) Info() hook.Info {
	if p.Instance == nil {
		return hook.Info{}
	}
	return p.Instance.Info()
}

// Crash kills the process from outside, as in a real crash, and waits until it is gone.
func (p *Process) Crash(ctx context.Context) error {
	err := p.Instance.Crash()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return &hook.Error{Kind: hook.Internal, Err: err}
	}
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
}

// Close makes the shutdown calls if the bootstrap calls succeeded, stops the process, and returns
// when all its processes are gone. farewell is the error of the shutdown calls, and stop the error
// of the stop. If ctx ends, Close kills the process. It may be called more than once.
func (p *Process) Close(ctx context.Context) (farewell, stop error) {
	if p.Instance == nil {
		return nil, nil
	}
	if p.ready {
		farewell = p.calls.shutdown(ctx, p.Instance)
	}
	p.ready = false
	return farewell, errors.Join(p.Stop(ctx), p.launcher.Close(context.WithoutCancel(ctx))) // the launcher's Close does not wait, because no start is in progress
}
