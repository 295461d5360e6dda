package commands

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
)

// face is the check of one plugin, as it is shown. Its methods run and print are
// called once each, and at the same time.
type face struct {
	f      *program // of this plugin alone
	cfg    runner.Config
	stages chan hook.Stage // each when it has ended
	over   chan struct{}   // closed when checked is set
	// checked is what it came to.
	checked ui.CheckResult

	mu    sync.Mutex // protects what follows
	stage string     // what goes on, empty when nothing does
}

func newFace(f *program, o checkOptions, plugin string) *face {
	own := &program{streams: f.streams, life: f.life, opts: f.opts, plugin: plugin, cfg: o.cfg, grpcFlag: f.grpcFlag, session: new(runner.Opened)}
	own.cfg.Plugin = plugin
	own.output = f.streams.PluginOutput(ui.OutputOptions{Label: pluginLabel(plugin), Quiet: f.opts.quiet, JSON: f.opts.logJSON})
	own.output.SetGeneration(1)
	cfg := own.cfg
	cfg.Output, cfg.Started = own.outputLine, own.seen.start
	own.debugTo(&cfg)
	// There is room for all stages: the check never waits for what prints.
	return &face{f: own, cfg: cfg, stages: make(chan hook.Stage, len(check.Stages())), over: make(chan struct{})}
}

// run checks the plugin.
func (c *face) run(ctx context.Context, o checkOptions) {
	var report hook.Report
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = &hook.Error{Kind: hook.Internal, Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
		c.begin("")
		c.f.output.Close()
		c.checked = ui.CheckResult{Report: report, ExitCode: verdictCode(report, err, o.strict)}
		if err != nil {
			c.checked.Err = asError(err)
		}
		close(c.stages)
		close(c.over)
	}()
	report.Plugin = c.f.plugin
	report, err = check.Run(ctx, c.f.life.kill, check.Options{
		Config: c.cfg, Skip: o.skip, Calls: o.calls, Crash: o.crash, Host: hostCommandLine(),
		// Where there are several the cores are for them.
		Beside:   len(o.plugins) == 1,
		Hints:    c.f.allHints,
		Prepared: func(s *runner.Opened) error { return c.prepared(s, len(o.plugins) > 1) },
		Began:    c.begin,
		Ended:    func(st hook.Stage) { c.stages <- st },
	})
}

// prepared takes the session. A flag for gRPC plugins is wrong for a functions
// file, unless it is one of many.
func (c *face) prepared(s *runner.Opened, many bool) error {
	c.f.session = s
	if many {
		return nil
	}
	if err := c.f.suits(s); err != nil {
		return asError(err) // of kind Usage
	}
	return nil
}

func (c *face) begin(stage string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage = stage
}

// print shows the stages as they end, and what it came to, also when it ended
// early. A reader who does not read is left at the second signal.
func (c *face) print(printer *ui.CheckPrinter) error {
	ctx := c.f.life.kill
	if c.f.opts.json {
		<-c.over
		return c.f.write(ctx, func() error { return c.f.streams.CheckJSON(c.checked) })
	}
	if err := c.f.write(ctx, func() error { return printer.Begin(c.f.plugin) }); err != nil {
		return err
	}
	for st := range c.stages {
		c.f.output.Flush()
		printer.Shown = !c.f.opts.quiet && !c.f.heldBack.Load()
		if err := c.f.write(ctx, func() error { return printer.Stage(st) }); err != nil {
			return err
		}
	}
	<-c.over
	return c.f.write(ctx, func() error { return printer.End(c.checked) })
}

// progress says what goes on, in one line.
func progress(faces []*face) string {
	text, over := "", 0
	for _, c := range faces {
		select {
		case <-c.over:
			over++
			continue
		default:
		}
		c.mu.Lock()
		if text == "" && c.stage != "" {
			text = c.f.plugin + ": " + c.stage
		}
		c.mu.Unlock()
	}
	if len(faces) > 1 {
		text = fmt.Sprintf("%d of %d; %s", over, len(faces), text)
	}
	return text
}

// hostCommandLine leads to the stock host; nil where it cannot be found.
func hostCommandLine() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, hostWord}
}
