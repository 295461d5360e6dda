package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/cases"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
)

const linesCategory = "Many calls"

// linesRestarts is the default of --max-restarts for run with --lines or --retries. Without a
// limit, the program that waits for the answers could wait forever.
const linesRestarts = 5

// linesSeries is the largest number of calls that a worker receives together.
const linesSeries = 256

// linesOptions are the options of run --lines and call --lines.
type linesOptions struct {
	lines.Options
	format string // the format of a line
	raw    bool
	noFail bool
	retry  *retryOptions
	file   string        // the path of the record
	record *cases.Record // nil without a record
	failed failures
}

// flags returns the flags of both commands. by is the help text on how the command makes more calls
// at once.
func (o *linesOptions) flags(by string) cmdline.Flags {
	return cmdline.InCategory(linesCategory,
		cmdline.Choice(&o.format, "items", "with HOOK, read each line as `WHAT`: args (the default), or one argument: value (JSON) or text", "args", "value", "text"),
		cmdline.Switch(&o.Null, "null", "read lines that end with NUL, as `find -print0` prints them").Alias("0"),
		cmdline.Count(&o.Jobs, 1, maxJobs, "jobs", "make `N` calls at once"+by+" (default: as many as the workers take)").Alias("j"),
		cmdline.Switch(&o.Unordered, "unordered", "print answers as they are ready, not in the order of the lines"),
		cmdline.File(&o.file, "record", "store answers in `FILE`, and reuse the stored ones"),
		cmdline.Switch(&o.noFail, "no-fail", "exit with 0 even if calls fail"),
		cmdline.Switch(&o.FailFast, "fail-fast", "stop reading at the first failure"),
	)
}

// runLines starts a plugin, keeps it alive and answers the lines of standard input.
func (prog *program) runLines(ctx context.Context, words []string, o *linesOptions, cfg plan.Config) error {
	if err := prog.readLines(ctx, o, words, "PLUGIN"); err != nil {
		return err
	}
	if err := openConfig(&cfg, words[0]); err != nil {
		return err
	}
	cfg.Defaults.Restart.Max, cfg.Patient, cfg.Jobs = linesRestarts, true, o.Jobs
	p, err := prog.launch(ctx, cfg, func(p *local) error {
		return prog.openRecord(o, p.Plugin.ID)
	})
	if err != nil {
		return err
	}
	defer p.close()
	if p.TakesSeries() {
		o.Series = linesSeries
	}
	o.GaveUp, o.Timeout = p.Failed(), p.Config.Timeouts.Call
	return failed(p, prog.lines(ctx, p, p.Pool, o))
}

// readLines reads the words of a command with --lines. what is the word for the plugin in
// messages.
func (prog *program) readLines(ctx context.Context, o *linesOptions, words []string, what string) (err error) {
	if err := cmdline.WantWords(words, what+" [HOOK] ..."); err != nil {
		return err
	}
	switch {
	case prog.opts.json && o.raw:
		return cmdline.Usage("--json and --raw cannot be combined")
	case o.file == "-":
		return cmdline.Usage(`--record is "-", expected a file; ./- is a file with this name`)
	case len(words) >= 2:
		o.Hook = words[1]
		o.Words, err = prog.readNamed(ctx, words[2:])
	case o.format != "":
		return cmdline.Usage("--items applies only with HOOK, and HOOK is missing")
	}
	o.Retries = o.retry.Retries
	o.Items = map[string]lines.Items{"value": lines.Value, "text": lines.Text}[o.format]
	return err
}

// readNamed reads the words that are named arguments of every call.
func (prog *program) readNamed(ctx context.Context, words []string) ([]schema.Word, error) {
	parsed, err := prog.readWords(ctx, words)
	for i, w := range parsed {
		if w.Name == "" && (i == 0 || parsed[i-1].Form != schema.Option) {
			return nil, cmdline.Usage("unexpected argument: %s; with --lines the words after HOOK have names, such as --name VALUE", schema.QuoteLine(words[i:i+1]))
		}
	}
	return parsed, err
}

// lines answers the lines of standard input with calls of the plugin p through k.
func (prog *program) lines(ctx context.Context, p plugin, k hook.Plugin, o *linesOptions) error {
	began, err := k.Status(ctx)
	if err != nil {
		return err
	}
	if err := o.Resolve(ctx, k); err != nil {
		return err
	}
	calls, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if err := beginRecord(ctx, p, o); err != nil {
		return err
	}
	// The first signal ends the reading, and the second cancels the calls.
	defer context.AfterFunc(prog.signals.kill, func() { cancel(context.Cause(ctx)) })()
	o.In, o.Out, o.Stop = prog.streams.In, prog.streams.Lines(o.raw), ctx.Done()
	if o.raw {
		o.Raw = prog.streams.RawLine
	}
	o.Error = func(line int, e *hook.Error) json.RawMessage {
		e = p.complete(e)
		e.Plugin = "" // a daemon adds the plugin, which is the same for every line
		e.Word = 0    // the words are the same for every line
		o.failed.add(line, e, o.retry)
		if o.raw {
			prog.streams.Fail(ctx, ui.Failure{Err: e, Shown: p.shown(), Line: line})
		}
		if o.raw && o.record == nil {
			return nil
		}
		return ui.ErrorJSON(e)
	}
	o.Jobs = prog.jobs(o.Jobs, began.Concurrency)
	e := lines.New(k, o.Options)
	defer context.AfterFunc(ctx, func() {
		if n := e.Counts().Running; n > 0 && prog.streams.ErrTTY {
			prog.streams.Note(schema.Plural(n, "call") + " in progress; interrupt again to cancel")
		}
	})()
	stopProgress := prog.streams.LinesProgress(func() ui.LinesCounts {
		now, _ := k.Status(context.Background()) // without a status, no restart is shown
		return ui.LinesCounts{Counts: e.Counts(), Restarts: max(0, now.Restarts-began.Restarts)}
	})
	if o.record == nil { // a record keeps its index in memory, and this setting would allow four times its size as garbage
		debug.SetGCPercent(400) // each line is garbage after its answer: 10 MB more memory saves a tenth of the time
	}
	err = e.Run(calls)
	stopProgress()
	prog.endRecord(o, e.Counts().Kept)
	if c := e.Counts(); o.FailFast && c.Failed > 0 && err == nil && ctx.Err() == nil {
		prog.noteLast(o, "stopped at the first failure", c.Last)
	}
	return prog.linesEnd(ctx, k, o, e.Counts(), err)
}

// jobs returns how many calls to make at once, but not more than the workers accept. With more, a
// later line could get a worker first. Its stream would wait for the answer of the earlier line,
// and keep the worker that the earlier line needs.
func (prog *program) jobs(wanted, places int) int {
	if wanted == 0 {
		return places
	}
	if wanted > places {
		prog.streams.Note(fmt.Sprintf("--jobs is %d, but the workers take only %s at once; start the plugin with more --workers or --concurrency", wanted, schema.Plural(places, "call")))
	}
	return min(wanted, places)
}

// callLines answers the lines of standard input with calls of a background plugin.
func (prog *program) callLines(ctx context.Context, to target, o *linesOptions) error {
	var p *background
	var notes []string
	err := prog.withCallee(ctx, to, func(found *background) (_ bool, err error) {
		defer prog.streams.Waiting("waiting for " + to.word)()
		p = found
		_, notes, err = p.Ready(ctx)
		return true, failed(p, err)
	})
	if err != nil {
		return err
	}
	prog.streams.Notes(notes)
	if err := prog.openRecord(o, p.Identity().Name); err != nil {
		return err
	}
	gaveUp := make(chan struct{})
	o.GaveUp = gaveUp
	giveUp := sync.OnceFunc(func() { close(gaveUp) })
	k := caller{Plugin: p, failed: func(err error) {
		if takesNoMore(p, hook.AsError(err).Kind) { // all later lines would fail in the same way
			giveUp()
		}
	}}
	if p.TakesSeries() {
		o.Series = linesSeries
	}
	return failed(p, prog.lines(ctx, p, k, o))
}

// caller calls a plugin, and reports failed calls.
type caller struct {
	hook.Plugin
	failed func(error) // receives the error of a call
}

// Call calls a hook.
func (k caller) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	r, err := k.Plugin.Call(ctx, c)
	if err != nil {
		k.failed(err)
	}
	return r, err
}

// CallSeries makes a series of calls in one worker. The plugin must be a [hook.SeriesCaller].
func (k caller) CallSeries(ctx context.Context, s *hook.Series) {
	k.Plugin.(hook.SeriesCaller).CallSeries(ctx, s)
}

// takesNoMore reports whether the kind of a call's error means that the plugin accepts no more
// calls.
func takesNoMore(k hook.Plugin, kind hook.Kind) bool {
	switch kind {
	case hook.Unavailable, hook.Interpreter, hook.Start, hook.Handshake:
		now, err := k.Status(context.Background())
		return err != nil || !now.State.Takes() && now.State != hook.StateStarting
	}
	return false
}

// openRecord opens the file of --record for the calls of a plugin, and locks it. Without --record
// it does nothing.
func (prog *program) openRecord(o *linesOptions, plugin string) (err error) {
	if o.file == "" {
		return nil
	}
	head := cases.Head{Plugin: plugin, Hook: o.Hook, Items: o.format, Version: versionText()}
	for _, w := range o.Words {
		head.Words = append(head.Words, w.Typed)
	}
	for name, stream := range map[string]any{"input": prog.streams.In, "output": prog.streams.Out} {
		if isFile(stream, o.file) {
			return cmdline.Usage("--record: %s is also standard %s, expected another file", o.file, name)
		}
	}
	o.record, err = cases.OpenRecord(o.file, head)
	return err
}

// isFile reports whether a stream is the regular file with a name.
func isFile(stream any, name string) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	is, err := file.Stat()
	there, failed := os.Stat(name)
	return err == nil && failed == nil && is.Mode().IsRegular() && os.SameFile(is, there)
}

// beginRecord makes lines use the record for a plugin that has started.
func beginRecord(ctx context.Context, p plugin, o *linesOptions) error {
	if o.record == nil {
		return nil
	}
	o.Record = o.record
	files := ""
	if own, ok := p.(*local); ok {
		var err error
		if files, err = own.Digest(ctx); err != nil {
			return err
		}
	}
	return o.record.Begin(files)
}

// endRecord closes the record, and reports how many answers came from it.
func (prog *program) endRecord(o *linesOptions, kept int64) {
	if o.record == nil {
		return
	}
	_ = o.record.Close() // the answers were written before
	if kept == 0 {
		return
	}
	text := fmt.Sprintf("%s came from %s", schema.Plural(kept, "answer"), o.file)
	if n := o.record.Outdated(); n > 0 {
		text += fmt.Sprintf("; %d of them when the plugin had other files", n)
	}
	prog.streams.Note(text)
}
