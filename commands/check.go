package commands

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// hostWord is the hidden command that runs the stock host. The host has its own process, because it
// may hang or crash.
const hostWord = "__host"

// checkOptions are the options of check.
type checkOptions struct {
	check.Options // for each plugin, without the plugin's path
	plugins       []string
	lines         []string // the values of --call
	strict        bool
	junit         string
	jobs          int
}

// maxJobs is the largest --jobs.
const maxJobs = 65536

func checkCommand(prog *program) command {
	o := &checkOptions{jobs: 1}
	o.Config.Defaults = quickStart
	flags := cmdline.Flags{
		cmdline.Texts(&o.lines, "call", "call this while the plugin runs, `'HOOK ARG...'` as for run"),
		cmdline.Switch(&o.Crash, "crash", "kill the plugin while idle and during the first --call, and check that it recovers"),
		cmdline.Switch(&o.MCP, "mcp", "list the tools that an LLM client would see, and send its requests"),
		cmdline.Switch(&o.strict, "strict", "fail on warnings, too"),
		cmdline.List(&o.Skip, "skip", "skip these `STAGES` of "+strings.Join(check.Skippable(), ", "), check.Skippable()),
		cmdline.File(&o.junit, "junit", "also write the report as JUnit XML to `FILE`; with -, print only that"),
		cmdline.Count(&o.jobs, 1, maxJobs, "jobs", "check `N` plugins at a time (default: 1)").Alias("j"),
		settingFlag(&o.Config, settings.ByFlag("header")),
	}
	flags = append(flags, settingFlags(&o.Config, settings.Call)...)
	return newCommand("check", "see whether a plugin will work, and if not, why", "[PLUGIN...]",
		slices.Concat(flags, pluginFlags(&o.Config), prog.opts.flags()), func(ctx context.Context, words []string) error {
			if err := prog.readCheck(ctx, words, o); err != nil {
				return err
			}
			return prog.check(ctx, *o)
		})
}

// readCheck reads the command line of check.
func (prog *program) readCheck(ctx context.Context, words []string, o *checkOptions) error {
	if err := o.readPlugins(ctx, words); err != nil {
		return err
	}
	for _, needed := range []string{"launch", "handshake", "connect", "hooks"} {
		if slices.Contains(o.Skip, needed) && len(o.lines) > 0 {
			return cmdline.Usage("--call runs in the stage hooks, which --skip %s skips", needed)
		}
	}
	if err := openConfig(&o.Config, o.plugins[0]); err != nil {
		return err
	}
	o.Config.Several = len(o.plugins) > 1
	if self, err := os.Executable(); err == nil {
		o.Host = []string{self, hostWord}
	}
	for _, line := range o.lines {
		call, err := prog.readCall(ctx, line)
		if err != nil {
			return err
		}
		o.Calls = append(o.Calls, call)
	}
	return nil
}

// readPlugins expands directories and patterns. Without words it expands the current directory.
func (o *checkOptions) readPlugins(ctx context.Context, words []string) error {
	if err := cmdline.WantWords(words, "[PLUGIN...]"); err != nil {
		return err
	}
	if len(words) == 0 {
		words = []string{"."}
	}
	for _, word := range words {
		found, err := hook.Interruptible(ctx, func() ([]string, error) { return manifest.Expand(word), nil })
		if err != nil {
			return err
		}
		o.plugins = append(o.plugins, found...)
	}
	return nil
}

// readCall reads the value of --call.
func (prog *program) readCall(ctx context.Context, text string) (hook.Call, error) {
	words, err := schema.SplitLine(text)
	switch {
	case err != nil:
		return hook.Call{}, cmdline.Usage("--call is %s: %w", strconv.Quote(text), err)
	case len(words) == 0 || words[0] == "":
		return hook.Call{}, cmdline.Usage("--call is %s, expected a HOOK and its arguments", strconv.Quote(text))
	}
	call := hook.Call{Hook: words[0]}
	call.Args.Words, err = prog.readWords(ctx, words[1:])
	return call, err
}

// check checks every plugin and prints the findings.
func (prog *program) check(ctx context.Context, o checkOptions) error {
	printer := prog.streams.Checks(o.strict, prog.opts.json, o.junit == "-")
	r, err := prog.openReport(ctx, o.junit, printer) // first, because an unusable file is an error before any check
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.stop = func() { cancel(r.unprinted) }
	var all []ui.CheckResult
	for _, c := range prog.beginChecks(ctx, o) {
		stop := prog.streams.Steps(func() string { return "checking " + c.p.path + *c.step.Load() })
		<-c.done
		stop()
		all = append(all, c.result)
		r.print(printer.Check(c.result, c.p.shown()))
	}
	r.print(printer.Finish)
	return r.end(prog.checksError(all))
}

// checksError returns the error of the first check that could not be completed, or of the first
// failure, which has been printed.
func (prog *program) checksError(all []ui.CheckResult) error {
	at := slices.IndexFunc(all, func(c ui.CheckResult) bool { return c.Err != nil })
	if at >= 0 && !prog.opts.json { // with --json, the report contains the error
		return all[at].Err
	}
	if at < 0 {
		at = slices.IndexFunc(all, func(c ui.CheckResult) bool { return c.ExitCode != 0 })
	}
	if at < 0 {
		return nil
	}
	return &printedError{code: all[at].ExitCode}
}

// beginChecks starts the checks in order, o.jobs at a time.
func (prog *program) beginChecks(ctx context.Context, o checkOptions) []*pluginCheck {
	checks := make([]*pluginCheck, len(o.plugins))
	for i, path := range o.plugins {
		checks[i] = newPluginCheck(prog, o, path)
	}
	go func() { // ends when the last check has begun
		free := make(chan struct{}, o.jobs)
		for _, c := range checks {
			free <- struct{}{}
			go func() {
				defer func() { <-free }()
				c.run(ctx)
			}()
		}
	}()
	return checks
}

// verdictCode returns the exit code of a check.
func verdictCode(r hook.Report, ended error, strict bool) int {
	switch failure := r.FirstFailure(); {
	case ended != nil:
		return exitCode(ended)
	case failure != nil:
		return exitCode(&hook.Error{Kind: failure.Kind})
	case strict && r.Worst() >= hook.Warning:
		return exitCode(&hook.Error{Kind: hook.Unhealthy})
	}
	return 0
}

// pluginCheck is the check of one plugin.
type pluginCheck struct {
	p      *local
	o      checkOptions
	step   atomic.Pointer[string] // the current stage and its time limit, for the progress line
	done   chan struct{}          // closed when result is set
	result ui.CheckResult
}

func newPluginCheck(prog *program, o checkOptions, path string) *pluginCheck {
	c := &pluginCheck{p: prog.newLocal(path, prog.opts.quiet), o: o, done: make(chan struct{})}
	c.o.Config.Plugin, c.o.Config.Once = path, true
	c.p.follow(&c.o.Config)
	c.o.Prepared = func(k *runner.Keeper) { c.p.Keeper = k }
	c.step.Store(new(string))
	c.o.Began = func(stage string, limit time.Duration) {
		step := ": " + stage
		if limit > 0 {
			step += ", at most " + schema.Span(limit)
		}
		c.step.Store(&step)
	}
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
		c.p.output.Close()
		c.result = ui.CheckResult{Report: report, ExitCode: verdictCode(report, err, c.o.strict), Err: hook.AsError(err)}
		close(c.done)
	}()
	report.Plugin = c.p.path
	report, err = check.Run(ctx, c.p.prog.signals.kill, c.o.Options)
}
