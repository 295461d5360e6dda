package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// pluginCheck is the check of one plugin. Its methods run and print are called once
// each, and may be called at the same time.
type pluginCheck struct {
	p      *plugin
	o      checkOptions
	stages chan hook.Stage // each once it has ended
	done   chan struct{}   // closed when result is set
	result ui.CheckResult

	mu    sync.Mutex // protects the field below
	stage string     // in progress; empty: none
}

func newPluginCheck(f *program, o checkOptions, path string) *pluginCheck {
	c := &pluginCheck{p: f.newPlugin(path, f.opts.quiet), o: o, done: make(chan struct{})}
	c.p.opened = new(runner.Opened)
	c.o.Config.Plugin = path
	c.p.follow(&c.o.Config)
	c.o.Hints = func(err error) []schema.Hint { return c.p.withHints(err).Hints }
	c.o.Prepared, c.o.Began = c.prepared, c.begin
	// There is room for all stages, so that the check never waits for print.
	c.stages = make(chan hook.Stage, len(check.Stages()))
	c.o.Ended = func(st hook.Stage) { c.stages <- st }
	return c
}

// run checks the plugin.
func (c *pluginCheck) run(ctx context.Context) {
	var report hook.Report
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = hook.NewError(hook.Internal, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		c.begin("")
		c.p.output.Close()
		c.result = ui.CheckResult{Report: report, ExitCode: verdictCode(report, err, c.o.strict)}
		if err != nil {
			c.result.Err = asError(err)
		}
		close(c.stages)
		close(c.done)
	}()
	report.Plugin = c.p.path
	report, err = check.Run(ctx, c.p.f.signals.kill, c.o.Options)
}

// prepared keeps the resolved plugin, unless a flag does not fit it.
func (c *pluginCheck) prepared(opened *runner.Opened) error {
	c.p.opened = opened
	if len(c.o.plugins) > 1 { // the flags for gRPC plugins are for those that are
		return nil
	}
	return c.p.fits(opened)
}

func (c *pluginCheck) begin(stage string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage = stage
}

// print shows the stages as they end, and the result, also if the check ended early.
// The second signal ends the wait for a reader that does not read.
func (c *pluginCheck) print(printer *ui.CheckPrinter) error {
	f, ctx := c.p.f, c.p.f.signals.kill
	if f.opts.json {
		<-c.done
		return f.write(ctx, func() error { return f.streams.CheckJSON(c.result) })
	}
	if err := f.write(ctx, func() error { return printer.Begin(c.p.path) }); err != nil {
		return err
	}
	for st := range c.stages {
		c.p.output.Flush()
		printer.Shown = c.p.shown()
		if err := f.write(ctx, func() error { return printer.Stage(st) }); err != nil {
			return err
		}
	}
	<-c.done
	return f.write(ctx, func() error { return printer.End(c.result) })
}

// checkProgress is one line on what is in progress.
func checkProgress(checks []*pluginCheck) string {
	text, ended := "", 0
	for _, c := range checks {
		select {
		case <-c.done:
			ended++
			continue
		default:
		}
		c.mu.Lock()
		if text == "" && c.stage != "" {
			text = c.p.path + ": " + c.stage
		}
		c.mu.Unlock()
	}
	if len(checks) > 1 {
		text = fmt.Sprintf("%d of %d; %s", ended, len(checks), text)
	}
	return text
}

// reports writes the annotations of GitHub and the JUnit file, if there is one.
func (f *program) reports(o checkOptions, all []ui.CheckResult, junit *os.File) error {
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		f.streams.Annotate(all)
	}
	if junit == nil {
		return nil
	}
	var text bytes.Buffer
	err := ui.WriteJUnit(&text, all, o.strict)
	if info, statErr := junit.Stat(); statErr == nil && info.Mode().IsRegular() {
		err = errors.Join(err, junit.Truncate(0))
	}
	if err == nil {
		_, err = junit.Write(text.Bytes())
	}
	if err = errors.Join(err, junit.Close()); err != nil {
		return hook.NewError(hook.Failed, fmt.Errorf("--junit: %w", err))
	}
	return nil
}
