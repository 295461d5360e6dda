package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

const linesCategory = "Many calls"

// linesRestarts is the default of --max-restarts for run --lines. It is not "never", because
// a program that sends lines waits for answers.
const linesRestarts = 5

// linesSeries is the largest number of calls that a worker receives together.
const linesSeries = 256

// linesOptions are the options of run --lines.
type linesOptions struct {
	lines.Options
	format string // of a line
	raw    bool
	noFail bool
	cfg    runner.Config
}

func (o *linesOptions) flags() []cli.Flag {
	return inCategory(linesCategory,
		choiceFlag(&o.format, "items", "read a line as `WHAT` for HOOK: args (the default), value or text", "args", "value", "text"),
		alias(switchFlag(&o.Null, "null", "read lines that end with NUL, as `find -print0` prints them"), "0"),
		alias(countFlag(&o.Jobs, 1, maxJobs, "jobs", "make `N` calls at once, by --workers unless that is set (default: as many as the workers take)"), "j"),
		switchFlag(&o.Unordered, "unordered", "print answers as they are ready, not in the order of the lines"),
		switchFlag(&o.noFail, "no-fail", "exit with 0 even if calls fail"),
	)
}

// runLines reads the words of run --lines and answers the lines.
func (f *program) runLines(c *cli.Context, o *linesOptions) error {
	words := c.Args().Slice()
	switch {
	case f.opts.json && o.raw:
		return usage("--json and --raw cannot be combined")
	case len(words) == 0:
		return usage("PLUGIN is missing")
	case len(words) >= 2 && words[1] == "":
		return usage("HOOK is empty")
	case len(words) >= 2:
		o.Hook = words[1]
		var err error
		if o.Words, err = f.readNamed(c.Context, words[2:]); err != nil {
			return err
		}
	case o.format != "":
		return usage("--items applies only with HOOK, and HOOK is missing")
	}
	o.Items = map[string]lines.Items{"value": lines.Value, "text": lines.Text}[o.format]
	if err := openConfig(&o.cfg, words[0]); err != nil {
		return err
	}
	o.cfg.Keep.DefaultMaxFailures, o.cfg.Keep.Patient, o.cfg.Keep.Jobs = linesRestarts, true, o.Jobs
	return f.lines(c.Context, *o)
}

// readNamed reads the words that are named arguments of every call.
func (f *program) readNamed(ctx context.Context, words []string) ([]schema.Word, error) {
	parsed, err := f.readWords(ctx, words)
	for i, w := range parsed {
		if w.Name == "" && (i == 0 || parsed[i-1].Form != schema.Option) {
			return nil, usage("unexpected argument: %s; with --lines the words after HOOK have names, such as --name VALUE", schema.QuoteLine(words[i:i+1]))
		}
	}
	return parsed, err
}

// lines keeps a plugin alive and answers the lines of standard input.
func (f *program) lines(ctx context.Context, o linesOptions) error {
	p, err := f.launch(ctx, o.cfg, nil)
	if err != nil {
		return err
	}
	defer p.close()
	k := p.pool
	calls, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	// Of the signals the first ends the reading, and the second the calls.
	defer context.AfterFunc(f.signals.kill, func() { cancel(context.Cause(ctx)) })()
	if p.opened.TakesSeries() {
		o.Series = linesSeries
	}
	o.In, o.Out, o.Stop, o.GaveUp = f.streams.In, f.streams.Lines(o.raw), ctx.Done(), k.Failed()
	if o.raw {
		o.Raw = f.streams.RawLine
	}
	o.Error = func(line int, e *hook.Error) json.RawMessage {
		if err := f.line.misplaced(e); err != error(e) {
			cancel(err) // no call can have it
		}
		if !o.raw {
			return ui.ErrorJSON(p.withHints(e))
		}
		f.streams.Fail(ctx, ui.Failure{Err: p.withHints(e), Shown: p.shown(), Line: line})
		return nil
	}
	o.Jobs, o.Timeout = f.jobs(o.Jobs, poolStatus(k).Concurrency), p.opened.Settings().Timeouts.Call
	e := lines.New(k, o.Options)
	defer context.AfterFunc(ctx, func() {
		if n := e.Counts().Running; n > 0 && f.streams.ErrTTY {
			f.streams.Note(schema.Plural(n, "call") + " in progress; interrupt again to cancel")
		}
	})()
	stopProgress := f.streams.LinesProgress(func() ui.LinesCounts {
		c := e.Counts()
		return ui.LinesCounts{Answered: c.Answered, Failed: c.Failed, Running: c.Running, Restarts: poolStatus(k).Restarts}
	})
	debug.SetGCPercent(400) // a line is garbage once it is answered: 10 MB more, a tenth less time
	err = e.Run(calls)
	stopProgress()
	if misplaced := (*hook.Error)(nil); errors.As(context.Cause(calls), &misplaced) && misplaced.Kind == hook.Usage {
		return p.failed(misplaced)
	}
	return p.failed(f.linesEnd(ctx, k, e.Counts(), err, o.noFail))
}

// poolStatus returns the status of a plugin that runs in this process.
func poolStatus(p *runner.Pool) hook.Status {
	st, _ := p.Status(context.Background())
	return st
}

// jobs returns how many calls to make at once: at most as many as the workers take. A call that
// waits for a worker could be overtaken by the call of a later line, whose stream would then
// wait for it.
func (f *program) jobs(wanted, places int) int {
	switch {
	case wanted == 0:
		return places
	case wanted > places:
		f.streams.Note(fmt.Sprintf("--jobs is %d, but the workers take only %s at once; raise --workers or --concurrency",
			wanted, schema.Plural(places, "call")))
		return places
	}
	return wanted
}

// linesEnd returns the error of the command: that of the output, a signal, the plugin or
// the input, else that calls failed.
func (f *program) linesEnd(ctx context.Context, k *runner.Pool, c lines.Counts, err error, noFail bool) error {
	f.streams.Log("info", "answered", "lines", c.Answered, "failed", c.Failed)
	unread := (*hook.Error)(nil)
	switch {
	case err != nil && !errors.As(err, &unread) && !errors.Is(err, lines.ErrNotRead) && !errors.Is(err, lines.ErrGaveUp):
		return outputError(err)
	case ctx.Err() != nil:
		return f.interrupted(context.Cause(ctx), c, err)
	case errors.Is(err, lines.ErrGaveUp):
		f.streams.Note(uncalled(c.Last))
		_, err := k.Hooks(ctx, "") // which it does not do any more, and says why
		if err == nil {
			err = hook.NewError(hook.Unavailable, errors.New("gave up"))
		}
		return err
	case unread != nil:
		return unread
	case err != nil:
		return outputError(err)
	case c.Failed > 0 && !noFail:
		f.streams.Warn(fmt.Sprintf("%d of %s failed", c.Failed, schema.Plural(c.Answered, "line")))
		return &printedError{code: exitCode(&hook.Error{Kind: hook.Failed})}
	}
	return nil
}

// interrupted says how far a signal let the lines come, and returns its exit code. No answered
// line has one in front of it without an answer, in any order, unless the plugin gave up.
func (f *program) interrupted(signal error, c lines.Counts, err error) error {
	f.streams.EndLine()
	switch {
	case errors.Is(err, lines.ErrNotRead): // nobody knows what was read
	case errors.Is(err, lines.ErrGaveUp):
		f.streams.Note(uncalled(c.Last))
	case c.Last == 0:
		f.streams.Note(signal.Error() + "; no line is answered")
	case c.Last == 1:
		f.streams.Note(signal.Error() + "; line 1 is answered")
	default:
		f.streams.Note(fmt.Sprintf("%v; lines 1 to %d are answered", signal, c.Last))
	}
	return &printedError{code: exitCode(signal)}
}

// uncalled returns which lines were not called because the plugin gave up.
func uncalled(last int64) string {
	if last == 0 {
		return "no line was called"
	}
	return fmt.Sprintf("the last answered line is %d; lines without an answer were not called", last)
}
