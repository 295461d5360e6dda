package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/cases"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// testOptions are the options of test.
type testOptions struct {
	cases.Options
	cfg     plan.Config
	isolate string
	filter  string
	junit   string
	files   []string
	found   int // number of cases in the files that will run
}

// aCase is an example of a case, for a hint.
const aCase = `{"hook": "add", "args": [2, 40], "result": 42}`

func testCommand(prog *program) command {
	o := &testOptions{}
	flags := cmdline.Flags{
		cmdline.Choice(&o.isolate, "isolate", "start a fresh process `WHEN`: for each file (the default), each case, lazy, or none", "file", "case", "lazy", "none"),
		cmdline.Count(&o.Jobs, 1, maxJobs, "jobs", "run `N` files at a time (default: 1)").Alias("j"),
		cmdline.Count(&o.Retries, 0, 1000, "retries", "run a failed case again up to `N` times; it is flaky if it passes then"),
		cmdline.Switch(&o.FailFast, "fail-fast", "stop after the first failed case"),
		cmdline.Name(&o.filter, "filter", "run only cases with `TEXT` in their name, hook or file"),
		cmdline.Switch(&o.Update, "update", "replace the expected answers that differ from the results"),
		cmdline.File(&o.junit, "junit", "also write the report as JUnit XML to `FILE`; with -, print only that"),
	}
	flags = append(flags, settingFlags(&o.cfg, settings.Call)...)
	ofPlugin := slices.Concat(settingFlags(&o.cfg, settings.Result), cmdline.Flags{settingFlag(&o.cfg, settings.ByFlag("preload"))}, pluginFlags(&o.cfg))
	return newCommand("test", "test a plugin by calls with expected answers", "NAME|PLUGIN FILE...",
		slices.Concat(flags, ofPlugin, prog.opts.flags()), func(ctx context.Context, words []string) error {
			if err := cmdline.WantWords(words, "PLUGIN FILE..."); len(words) == 1 {
				return cmdline.Hinted(err, schema.Hintf("write a case such as %s into cases.jsonl, then run %s", aCase, schema.Command{"test", words[0], "cases.jsonl"}),
					schema.Hintf("run %s to see the whole format", schema.Command{"help", "cases"}))
			} else if err != nil {
				return err
			}
			o.cfg.Plugin, o.files = words[0], words[1:]
			return prog.test(ctx, o, ofPlugin)
		})
}

// test runs the cases of the files.
func (prog *program) test(ctx context.Context, o *testOptions, ofPlugin cmdline.Flags) error {
	files, err := prog.readCases(ctx, o)
	if err != nil {
		return err
	}
	printer := prog.streams.Tests(prog.opts.json, o.junit != "", o.junit == "-")
	r, err := prog.openReport(ctx, o.junit, printer) // first, because an unusable file is an error before any case
	if err != nil {
		return err
	}
	t := &testRun{report: r, o: o, files: files, printer: printer}
	defer t.close()
	return t.end(t.run(ctx, ofPlugin))
}

// readCases reads all files and returns the cases that --filter selects.
func (prog *program) readCases(ctx context.Context, o *testOptions) ([]*cases.File, error) {
	var files []*cases.File
	for _, name := range o.files {
		if o.Update {
			if err := cases.Updatable(name); err != nil {
				return nil, err
			}
		}
		text, err := prog.reading(ctx, name, cases.ReadFile, cases.Read)
		if err != nil {
			return nil, asKind(hook.Usage, err)
		}
		file, err := cases.Parse(inputName(name), text)
		if err != nil {
			return nil, err
		}
		file.Select(o.filter)
		if o.found += file.Len(); file.Len() > 0 {
			files = append(files, file)
		}
	}
	if o.found == 0 && o.filter != "" {
		return nil, cmdline.Usage("no case has %s in its name, hook or file", schema.Quote(o.filter))
	}
	return files, nil
}

// testRun is a run of cases in progress.
type testRun struct {
	report
	o       *testOptions
	files   []*cases.File
	plugin  plugin // nil until it is ready
	printer *ui.TestPrinter
	done    atomic.Int64 // number of cases
	failed  atomic.Int64

	unwritten []error // errors of --update

	mu     sync.Mutex     // protects ready
	ready  hook.Plugin    // the plugin of the preflight
	starts *runner.Keeper // starts fresh processes, or is nil if the plugin runs in the background
}

// run runs the cases and prints the report. The first signal ends the run after the cases in
// progress, and the second cancels those.
func (t *testRun) run(ctx context.Context, ofPlugin cmdline.Flags) error {
	unready := t.start(ctx, ofPlugin)
	calls, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer context.AfterFunc(t.signals.kill, func() { cancel(context.Cause(ctx)) })()
	going, stop := context.WithCancel(ctx)
	defer stop()
	o := t.o.Options
	o.Stop, t.stop = going.Done(), stop
	o.Start = func(ctx context.Context) (hook.Plugin, error) {
		if unready != nil {
			return nil, unready
		}
		return t.fresh(ctx)
	}
	o.Done, o.Ended = t.caseDone, t.fileEnded
	if unready == nil {
		defer context.AfterFunc(ctx, func() {
			t.streams.Note(context.Cause(ctx).Error() + ": the cases in progress finish; a second signal cancels them")
		})()
	}
	stopProgress := t.streams.Progress(t.progress)
	sum, err := cases.Run(calls, o, t.files)
	stopProgress()
	if unready == nil {
		t.print(func() error { return t.printer.Finish(sum) })
	}
	if n := t.printer.Count(cases.NotRun); n > 0 && err != nil {
		t.streams.Note(schema.Plural(n, "case") + " not run")
	}
	return t.outcome(ctx, err)
}

// caseDone reports a case, unless its answer must still be written.
func (t *testRun) caseDone(r *cases.Result) {
	t.done.Add(1)
	if r.Status != cases.Updated {
		t.reportCase(r)
	}
}

func (t *testRun) reportCase(r *cases.Result) {
	if r.Status == cases.Failed {
		t.failed.Add(1)
	}
	t.print(t.printer.Case(r, t.plugin != nil && t.plugin.shown()))
}

// fileEnded reports a file, and updates it.
func (t *testRun) fileEnded(r *cases.FileResult) {
	var updated []*cases.Result
	for _, one := range r.Differing {
		if one.Status == cases.Updated {
			updated = append(updated, one)
		}
	}
	if t.o.Update {
		t.unwritten = append(t.unwritten, r.Update())
	}
	for _, one := range updated {
		t.reportCase(one)
	}
	t.print(func() error { return t.printer.File(r) })
}

// outcome returns the error of the run. err is why it ended early.
func (t *testRun) outcome(ctx context.Context, err error) error {
	switch {
	case err != nil:
		err = failed(t.plugin, err)
	case ctx.Err() != nil:
		err = t.untilSignal(context.Cause(ctx))
	}
	err = t.firstOf(append([]error{err}, t.unwritten...)...)
	if err == nil && t.failed.Load() > 0 {
		return &printedError{code: exitCode(&hook.Error{Kind: hook.Failed})}
	}
	return err
}

// progress returns the line that shows the progress.
func (t *testRun) progress() string {
	text := fmt.Sprintf("%d of %s", t.done.Load(), schema.Plural(t.o.found, "case"))
	if n := t.failed.Load(); n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	return text
}

// start starts the plugin, or connects to a running plugin, and checks that it is healthy and has
// all hooks.
func (t *testRun) start(ctx context.Context, ofPlugin cmdline.Flags) error {
	cfg := t.o.cfg
	running, err := t.connectNamed(ctx, cfg.Plugin)
	if err != nil {
		return err
	}
	t.o.Isolate = cases.Isolation(cmp.Or(t.o.isolate, "file"))
	if running != nil {
		if err := t.useRunning(running, ofPlugin); err != nil {
			return failed(running, err)
		}
		t.plugin, t.ready = running, running
	} else {
		if err := openConfig(&cfg, cfg.Plugin); err != nil {
			return err
		}
		// Only the isolation decides when a process is replaced.
		cfg.Workers, cfg.Restart.Policy, cfg.Limits.Calls, cfg.Limits.Age = 1, settings.No, settings.NoLimit, settings.NoLimit
		own, err := t.launch(ctx, cfg, nil)
		if err != nil {
			return err
		}
		t.plugin, t.ready, t.starts = own, own.Pool, own.Keeper
	}
	limits := t.plugin.timeouts(cfg.Timeouts)
	t.o.Timeout, t.o.Probe = cmp.Or(limits.Call, settings.Defaults().Timeouts.Call), limits.Probe
	defer t.streams.Waiting("looking at the hooks of " + t.plugin.typed())()
	return failed(t.plugin, cases.Preflight(ctx, t.ready, t.o.Options, t.files))
}

// useRunning makes the cases call a background plugin.
func (t *testRun) useRunning(p *background, ofPlugin cmdline.Flags) error {
	if err := p.rejects(ofPlugin); err != nil {
		return err
	}
	if t.o.isolate != "" && t.o.Isolate != cases.None {
		return cmdline.Usage("--isolate %s does not apply to %s, which is already running", t.o.isolate, p.word)
	}
	t.o.Isolate = cases.None
	t.streams.Note(p.word + " is already running: the isolation is none")
	return nil
}

// fresh returns a plugin in a fresh process. The first call returns the plugin of the preflight.
func (t *testRun) fresh(ctx context.Context) (hook.Plugin, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.ready
	if t.starts == nil { // a background plugin
		return p, nil
	}
	if t.ready = nil; p != nil {
		return p, nil
	}
	return t.starts.Fresh(ctx)
}

// close stops the plugin.
func (t *testRun) close() {
	if t.plugin != nil {
		t.plugin.close()
	}
}
