package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// keep opens a plugin as open does, and keeps it alive until closeKept, or until
// something else has closed it, and endTelling was called. Before
// anything is started, prepared may still refuse; nil takes any plugin.
func (f *program) keep(ctx context.Context, cfg runner.Config, prepared func(*runner.Session) error) (*runner.Kept, error) {
	f.listen(&cfg)
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
	stop := f.streams.Waiting("starting " + cfg.Plugin)
	defer stop()
	s, err := f.prepareSession(ctx, cfg, prepared)
	var k *runner.Kept
	if err == nil {
		k, err = s.Keep(ctx)
	}
	if err != nil {
		f.endTelling()
		return nil, err
	}
	f.telling.flush()
	f.ready(s)
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
		told = append(told, "again_after", e.Delay)
	}
	f.streams.Log("info", e.To.String()+": "+e.Reason, told...)
}

// closeKept stops a plugin that is kept. A second signal has it killed.
func (f *program) closeKept(k *runner.Kept) {
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

// keptHints are about calls that found no worker.
func keptHints(err error, add adder) {
	var (
		full   *runner.FullError
		limit  *hook.LimitError
		alone  *runner.AloneError
		absent *runner.AbsentError
		later  *runner.LaterError
	)
	switch {
	case errors.Is(err, runner.ErrGivenUp):
		add("`pyplug restart NAME` starts it again, and so does a call after its files changed")
	case errors.As(err, &later):
		add("%s, and at once for a call after its files changed", later.When())
	case errors.As(err, &absent) && errors.As(absent.Err, &full):
		add("--queue lets more calls wait until then")
	case errors.As(err, &absent) && !errors.As(absent.Err, &limit): // nothing waited
	case errors.As(err, &absent) && asError(err).Kind == hook.Unavailable:
		add("--queue-timeout has calls wait longer")
	case errors.As(err, &full):
		add("--queue lets more calls wait, --workers and --concurrency answer more at once")
	case errors.As(err, &limit) && asError(err).Kind == hook.Unavailable:
		add("--queue-timeout has calls wait longer, --workers and --concurrency answer more at once")
	case errors.As(err, &alone):
		add("listen on port 0 and print the address that the system chose, so that there can be more than one")
	}
}
