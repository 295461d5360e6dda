package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// hostWord is the hidden command that runs the stock host. It has its own process, because it
// may hang or crash.
const hostWord = "__host"

// checkOptions are the options of check.
type checkOptions struct {
	check.Options // for each plugin, without its path
	plugins       []string
	lines         []string // of --call
	strict        bool
	junit         string
	jobs          int
}

// maxJobs is the largest --jobs.
const maxJobs = 65536

func checkCommand(prog *program) command {
	o := &checkOptions{jobs: 1}
	flags := cmdline.Flags{
		cmdline.Texts(&o.lines, "call", "call this while the plugin runs, `'HOOK ARG...'` as for run"),
		cmdline.Switch(&o.Crash, "crash", "kill the plugin while idle and during the first --call, and check that it recovers"),
		cmdline.Switch(&o.MCP, "mcp", "list the tools that an LLM client would see, and ask what it asks"),
		cmdline.Switch(&o.strict, "strict", "fail on warnings, too"),
		cmdline.List(&o.Skip, "skip", "skip these `STAGES` of "+strings.Join(check.Skippable(), ", "), check.Skippable()),
		cmdline.File(&o.junit, "junit", "also write the report as JUnit XML to `FILE`; - prints that alone"),
		cmdline.Count(&o.jobs, 1, maxJobs, "jobs", "check `N` plugins at a time (default: 1)").Alias("j"),
		timeoutFlag(&o.Config),
		headerFlag(&o.Config.GRPC.Metadata),
	}
	return newCommand("check", "see whether a plugin will work, and if not, why", "[PLUGIN...]",
		slices.Concat(flags, pluginFlags(&o.Config, "60s"), prog.opts.flags()), func(ctx context.Context, words []string) error {
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
	o.Config.DefaultStart = quickImport
	if len(o.plugins) > 1 {
		o.Config.GRPC.Decides = ""
	}
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
		return hook.Call{}, cmdline.Usage("--call is %s, want a HOOK and its arguments", strconv.Quote(text))
	}
	call := hook.Call{Hook: words[0]}
	call.Args.Words, err = prog.readWords(ctx, words[1:])
	return call, err
}

// check checks every plugin and prints the findings. The error is that of the first
// check that could not be completed, else of the first failure, which has been printed.
func (prog *program) check(ctx context.Context, o checkOptions) error {
	junit, err := prog.openJUnit(ctx, o.junit) // before anything is checked
	if err != nil {
		return err
	}
	all, printed := prog.checkAll(ctx, o)
	if onGitHub() {
		prog.streams.Annotate(all)
	}
	reported := junit.write(prog, func(w io.Writer) error { return ui.WriteJUnit(w, all, o.strict) })
	if printed != nil {
		return printed
	}
	code := 0
	for _, c := range all {
		if c.Err != nil && !prog.opts.json {
			return c.Err
		}
		if code == 0 || c.Err != nil {
			code = c.ExitCode
		}
		if c.Err != nil { // it has been shown
			break
		}
	}
	if code == 0 {
		return reported
	}
	return prog.firstOf(&printedError{code: code}, reported)
}

// checkAll checks o.jobs plugins at a time, and prints them in order. The error is that
// of standard output. If its reader is gone, the checks go on: their exit code counts.
func (prog *program) checkAll(ctx context.Context, o checkOptions) ([]ui.CheckResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	checks := make([]*pluginCheck, len(o.plugins))
	for i, path := range o.plugins {
		checks[i] = newPluginCheck(prog, o, path)
	}
	go func() { // ends when the last has begun, and each ends
		free := make(chan struct{}, o.jobs)
		for _, c := range checks {
			free <- struct{}{}
			go func() {
				defer func() { <-free }()
				c.run(ctx)
			}()
		}
	}()
	printer := prog.streams.Checks(o.strict, o.junit == "-")
	var all []ui.CheckResult
	var failed error
	for _, c := range checks {
		stop := prog.streams.Waiting("checking " + c.p.path)
		<-c.done
		stop()
		all = append(all, c.result)
		if failed != nil {
			continue
		}
		failed = prog.write(prog.signals.kill, func() error {
			if prog.opts.json {
				return prog.streams.CheckJSON(c.result)
			}
			return printer.Check(c.result, c.p.shown())
		})
		if failed != nil && !errors.Is(failed, errQuiet) {
			cancel(failed)
		}
	}
	if failed == nil && !prog.opts.json {
		failed = prog.write(prog.signals.kill, printer.Finish)
	}
	if errors.Is(failed, errQuiet) {
		failed = nil
	}
	return all, failed
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
	p      *plugin
	o      checkOptions
	done   chan struct{} // closed when result is set
	result ui.CheckResult
}

func newPluginCheck(prog *program, o checkOptions, path string) *pluginCheck {
	c := &pluginCheck{p: prog.newPlugin(path, prog.opts.quiet), o: o, done: make(chan struct{})}
	c.p.opened = new(runner.Opened)
	c.o.Config.Plugin = path
	c.p.follow(&c.o.Config)
	c.o.Hints = func(err error) []schema.Hint { return c.p.withHints(err).Hints }
	c.o.Prepared = c.prepared
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

// prepared keeps the resolved plugin, unless a flag does not fit it.
func (c *pluginCheck) prepared(opened *runner.Opened) error {
	c.p.opened = opened
	if len(c.o.plugins) > 1 { // flags for gRPC plugins are ignored for other plugins
		return nil
	}
	return c.p.fits(opened)
}

// junitFile is where --junit writes: a file, or with a nil file standard output.
type junitFile struct{ file *os.File }

// openJUnit opens the file of --junit; "-" is standard output, and "" no file, for which it returns
// nil.
func (prog *program) openJUnit(ctx context.Context, name string) (*junitFile, error) {
	switch {
	case name == "-" && prog.opts.json:
		return nil, cmdline.Usage("--junit - and --json both print on standard output")
	case name == "":
		return nil, nil
	case name == "-":
		return &junitFile{}, nil
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		// It may be the plugin or the cases, if the word behind --junit was forgotten.
		if text, err := os.ReadFile(name); err == nil && !bytes.HasPrefix(text, []byte("<")) {
			return nil, cmdline.Usage("--junit: %s is no XML file, want one or a new file", name)
		}
	}
	file, err := openOutput(ctx, "--junit", name, 0, 0o666)
	return &junitFile{file}, err
}

// write writes the report, in place of what the file had. It does nothing without --junit.
func (j *junitFile) write(prog *program, report func(io.Writer) error) error {
	if j == nil {
		return nil
	}
	var text bytes.Buffer
	err := report(&text)
	if j.file == nil && err == nil {
		return prog.write(prog.signals.kill, func() error { return prog.streams.Print(text.String()) })
	}
	if info, statErr := j.file.Stat(); statErr == nil && info.Mode().IsRegular() {
		err = errors.Join(err, j.file.Truncate(0))
	}
	if err == nil {
		_, err = j.file.Write(text.Bytes())
	}
	if err = errors.Join(err, j.file.Close()); err != nil {
		return hook.NewError(hook.Failed, fmt.Errorf("--junit: %w", err))
	}
	return nil
}

// onGitHub reports whether GitHub Actions reads standard error for annotations.
func onGitHub() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }
