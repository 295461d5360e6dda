package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// byName connects to the plugin that a plain word names, for commands that start
// one that is given by its path; nil for a path. Flags that say how it is started
// are refused then. The error is of kind Unavailable for a plain word that is
// neither.
func (f *program) byName(c *cli.Context, word string, ofPlugin []cli.Flag) (*daemon.Client, error) {
	if !plain(word) {
		return nil, nil
	}
	t, err := f.find(c.Context, word)
	if err != nil || t.name == "" {
		return nil, err
	}
	if t.unresponsive != nil {
		return nil, t.unresponsive
	}
	if name := f.firstTyped(ofPlugin); name != "" {
		return nil, usage("%s is for a plugin that is started, and %s runs already", name, word)
	}
	return f.connect(c.Context, t.name)
}

// hooksOf lists the hooks of a plugin that runs, or prints the template of one.
func (f *program) hooksOf(ctx context.Context, p hook.Plugin, template string, wanted bool) error {
	stop := f.streams.Waiting("waiting for " + f.plugin.path)
	defer stop()
	sch, err := p.Hooks(ctx, template)
	stop()
	switch {
	case err != nil:
		return err
	case wanted:
		var text bytes.Buffer
		for _, h := range sch.Hooks {
			_ = json.Indent(&text, h.Template, "", "  ") // it came as JSON
			text.WriteByte('\n')
		}
		return f.write(ctx, func() error { return f.streams.Template(text.Bytes(), template, f.opts.json) })
	case len(sch.Hooks) == 0:
		f.streams.Warn(f.plugin.path + " has no hooks")
	}
	return f.write(ctx, func() error { return f.streams.Hooks(sch, f.opts.json) })
}

// healthOf probes a plugin that runs, within a limit, once or again and again.
func (f *program) healthOf(ctx context.Context, c *daemon.Client, limit time.Duration, watch bool) error {
	if limit == 0 {
		limit = runner.DefaultProbe
	}
	probe := func() error {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return c.Health(ctx)
	}
	if f.endless = watch; watch {
		return f.watchOf(ctx, c, probe)
	}
	began := time.Now()
	if err := probe(); err != nil {
		return err
	}
	took := time.Since(began)
	info, _ := answered(ctx, c)
	return f.write(ctx, func() error { return f.streams.Healthy(took, info, f.opts.json) })
}

// watchOf prints a line for each change of what a probe finds, until ctx or the
// daemon ends.
func (f *program) watchOf(ctx context.Context, c *daemon.Client, probe func() error) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last := errors.New("not asked yet")
	for {
		found := probe()
		switch {
		case ctx.Err() != nil:
			return hook.NewError(hook.Canceled, context.Cause(ctx))
		case daemon.Is(found, daemon.Lost), isNotRunning(found):
			return daemon.NotRunningError(c.Identity().Name)
		}
		if last == nil != (found == nil) || found != nil && last.Error() != found.Error() {
			if err := f.tellHealth(ctx, found); err != nil {
				return err
			}
		}
		last = found
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
