package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// keep opens a plugin as open does, and keeps it alive until closeKept, or until
// something else has closed it, and endTelling was called. Before
// anything is started, prepared may still refuse; nil takes any plugin.
func (f *program) keep(ctx context.Context, cfg runner.Config, prepared func(*runner.Opened) error) (*runner.Pool, error) {
	f.telling = newBacklog()
	told := cfg.Keep.Events
	cfg.Keep.Events = func(e hook.Event) {
		if e.To == hook.StateStarting {
			f.output.SetGeneration(e.Generation)
		}
		f.telling.add(func() { f.transition(e) })
		if told != nil {
			told(e)
		}
	}
	if cfg.Keep.Note == nil {
		cfg.Keep.Note = func(text string) { f.streams.Note(f.plugin + ": " + text) }
	}
	k, err := f.launch(ctx, cfg, prepared)
	if err != nil {
		f.endTelling()
		return nil, err
	}
	return k, nil
}

// transition tells what becomes of a plugin that is kept.
func (f *program) transition(e hook.Event) {
	told := []any{"plugin", f.plugin, "generation", e.Generation}
	if e.Worker != 0 {
		told = append(told, "worker", e.Worker)
	}
	if e.PID != 0 {
		told = append(told, "pid", e.PID)
	}
	if e.Exit != nil {
		told = append(told, "exit", e.Exit.String())
	}
	if e.Delay > 0 {
		told = append(told, "again_after", rounded(e.Delay))
	}
	f.streams.Log("info", e.To.String()+": "+e.Reason, told...)
}

// closeKept stops a plugin that is kept. A second signal has it killed.
func (f *program) closeKept(k *runner.Pool) {
	stop := f.streams.Waiting("stopping " + f.plugin)
	defer stop()
	if err := k.Close(f.life.kill); err != nil {
		f.warn(err)
	}
	f.endTelling()
	f.streams.Log("info", "stopped", "plugin", f.plugin)
}

// endTelling has all told that became of a plugin which is gone.
func (f *program) endTelling() {
	if lost := f.telling.close(); lost > 0 {
		f.streams.Warn(fmt.Sprintf("%d events were not told: nobody read them in time", lost))
	}
}

// rounded is a duration as people read it.
func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}
