package commands

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/bench"
	"github.com/pyplug/pyplug/runner/hook"
)

// benchTarget is a plugin for bench. It is kept alive only after the phase cold: a
// plugin that listens at a fixed port could not run beside those of that phase.
type benchTarget struct {
	f        *program
	o        benchOptions
	settings runner.Settings
	kept     *plugin // nil before the first phase but cold
	several  bool    // calls are made at once
}

// try makes the call once, so that an error is reported before a thousand calls.
func (t *benchTarget) try(ctx context.Context) (*plugin, error) {
	cfg := t.o.cfg
	cfg.Once = true
	p := t.f.newPlugin(cfg.Plugin, true)
	err := p.start(ctx, cfg, func(s *runner.Opened) error {
		t.settings = s.Settings()
		if err := t.f.readInput(ctx, s.Transport().Streams, &t.o.callOptions); err != nil {
			return err
		}
		if t.o.stream != nil {
			return usage("--input of %s is a stream, which is read once: want a hook that takes one message", t.o.call.Hook)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer p.close()
	p.noteReady()
	return p, p.failed(t.within(ctx, p.pool))
}

// begin prepares a phase. It starts the plugin of Call and Crash, once.
func (t *benchTarget) begin(ctx context.Context, phase string) (err error) {
	t.several = phase == bench.Pipelined
	if phase != bench.Cold && t.kept == nil {
		t.kept = t.f.newPlugin(t.o.cfg.Plugin, true)
		err = t.kept.start(ctx, t.o.cfg, nil)
	}
	return err
}

// close stops that plugin.
func (t *benchTarget) close() {
	if t.kept != nil {
		t.kept.close()
	}
}

// Cold makes one call as `run` does.
func (t *benchTarget) Cold(ctx context.Context) error {
	cfg := t.o.cfg
	cfg.Once = true
	o, err := runner.Open(ctx, cfg)
	if err != nil {
		return err
	}
	p, err := o.Start(ctx)
	if err != nil {
		return err
	}
	err = t.within(ctx, p)
	if closeErr := p.Close(ctx); err == nil && closeErr != nil {
		err = asError(closeErr)
	}
	return err
}

// Call makes one call of the plugin that is kept.
func (t *benchTarget) Call(ctx context.Context) error { return t.within(ctx, t.kept.pool) }

// within makes the call within its limit, and drops items of a stream. Calls made at once
// may wait for each other, for a quarter of the phase's limit if none hangs.
func (t *benchTarget) within(ctx context.Context, caller hook.Caller) error {
	limit := t.settings.Timeouts.Call
	if t.several {
		limit = min(limit, runner.Forever-t.o.measure.Limit) + t.o.measure.Limit
	}
	ctx, cancel := hook.WithLimit(ctx, limit)
	defer cancel()
	c := t.o.call
	c.Emit = func(hook.Item) error { return nil }
	_, err := caller.Call(ctx, c)
	return err
}

// Crash kills the worker and waits for the next one.
func (t *benchTarget) Crash(ctx context.Context) error {
	ctx, cancel := hook.WithLimit(ctx, t.limit())
	defer cancel()
	return t.kept.pool.Recover(ctx)
}

// limit is how long a start may take, and a little more.
func (t *benchTarget) limit() time.Duration { return t.settings.Timeouts.Start + runner.DefaultStop }
