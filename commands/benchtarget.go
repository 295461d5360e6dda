package commands

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// benchTarget is a plugin for bench. It is kept alive only after the phase cold: a
// plugin that listens at a fixed port could not run beside those of that phase.
type benchTarget struct {
	f        *program
	o        benchOptions
	settings runner.Settings
	kept     *plugin // nil until keep
	err      error   // of keep
	several  bool    // calls are made at once

	began    time.Time
	answered atomic.Int64 // when a call was last, in nanoseconds since then
}

// try makes the call once, so that an error is reported before a thousand calls.
func (t *benchTarget) try(ctx context.Context) error {
	cfg := t.o.cfg
	cfg.Once = true
	p, err := t.f.open(ctx, cfg, func(s *runner.Opened) error {
		t.settings = s.Settings()
		if err := t.f.readInput(ctx, t.settings.Transport, &t.o.callOptions); err != nil {
			return err
		}
		if t.o.stream != nil {
			return usage("--input of %s is a stream, which is read once: want a hook that takes one message", t.o.call.Hook)
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer p.close()
	return t.within(ctx, p.pool)
}

// keep starts the plugin of Call and Crash, once.
func (t *benchTarget) keep(ctx context.Context) {
	if t.kept == nil && t.err == nil {
		t.f.finish() // of the plugin before
		t.kept, t.err = t.f.open(ctx, t.o.cfg, nil)
	}
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
func (t *benchTarget) Call(ctx context.Context) error {
	if t.err != nil {
		return t.err
	}
	return t.within(ctx, t.kept.pool)
}

// within makes the call within its limit, and drops items of a stream. Of calls made at
// once, one may have to wait for all others, each of which has that limit, too.
func (t *benchTarget) within(ctx context.Context, caller hook.Caller) error {
	one := t.settings.Timeouts.Call
	c := t.o.call
	c.Emit = func(hook.Item) error { return nil }
	if !t.several {
		ctx, cancel := context.WithTimeout(ctx, one)
		defer cancel()
		_, err := caller.Call(ctx, c)
		return err
	}
	jobs := time.Duration(t.o.measure.Concurrent())
	ctx, cancel := context.WithTimeout(ctx, min(one, runner.Forever/jobs)*jobs)
	defer cancel()
	var stalled atomic.Bool
	defer t.onStall(ctx, one, func() { stalled.Store(true); cancel() }).Stop()
	_, err := caller.Call(ctx, c)
	if err == nil {
		t.answered.Store(int64(time.Since(t.began)))
	}
	if e := asCanceled(err); e != nil && stalled.Load() {
		own := *e
		own.Kind, own.Err = hook.Timeout, &hook.LimitError{What: "", Limit: one}
		return &own
	}
	return err
}

// onStall calls giveUp when no call was answered for limit, unless ctx has ended. The
// caller stops the timer.
func (t *benchTarget) onStall(ctx context.Context, limit time.Duration, giveUp func()) *time.Timer {
	var timer *time.Timer
	timer = time.AfterFunc(runner.Forever, func() {
		rest := limit - time.Since(t.began) + time.Duration(t.answered.Load())
		switch {
		case ctx.Err() != nil:
		case rest > 0:
			timer.Reset(rest)
		default:
			giveUp()
		}
	})
	timer.Reset(limit)
	return timer
}

// Crash kills the worker and waits for the next one.
func (t *benchTarget) Crash(ctx context.Context) error {
	if t.err != nil {
		return t.err
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit())
	defer cancel()
	return t.kept.pool.Recover(ctx)
}

// limit is how long a start may take, and a little more.
func (t *benchTarget) limit() time.Duration { return t.settings.Timeouts.Start + runner.DefaultStop }
