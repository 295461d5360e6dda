package commands

import (
	"context"
	"io"
	"time"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// callOptions are what a command line says of one call.
type callOptions struct {
	timeout    time.Duration // 0: the plugin's own
	errorField string        // empty: the plugin's own
	input      string        // the file of --input
	raw        bool

	call       hook.Call
	stream     io.Reader // the input, if it is read as it is sent
	maxMessage int       // of that
	format     ui.Format
}

func (o *callOptions) rawFlag() *flag {
	return switchFlag(&o.raw, "raw", "print a string as it is, bytes verbatim, nothing for null, and a message's only text")
}

func inputFlag(to *string) *flag {
	return fileFlag(to, "input", "read all arguments from `FILE`, - for standard input")
}

// readHook completes what the flags say by HOOK and its arguments.
func (f *program) readHook(ctx context.Context, o *callOptions, hookName string, args []string) (err error) {
	o.maxMessage = defaultMessage
	switch {
	case hookName == "":
		return usage("HOOK is empty")
	case f.opts.json && o.raw:
		return usage("--json and --raw cannot be combined")
	case f.opts.json:
		o.format = ui.Envelope
	case o.raw:
		o.format = ui.Raw
	}
	if o.input != "" && len(args) > 0 {
		return usage("--input gives all arguments; unexpected argument: %s", schema.QuoteLine(args[:1]))
	}
	o.call.Hook = hookName
	o.call.Args.Words, err = f.readWords(ctx, args)
	return err
}

// answer makes a call within a limit, 0 for none, and prints the result. After the call,
// who returns the process that answered and its generation.
func (p *plugin) answer(ctx context.Context, limit time.Duration, caller hook.Caller, o callOptions, who func() (hook.Info, int)) error {
	callCtx, cancel := hook.WithLimit(ctx, limit)
	defer cancel()
	if o.stream != nil {
		o.call.Input = messages(callCtx, o.stream, inputName(o.input), o.maxMessage)
	}
	f := p.f
	stop := f.streams.Waiting("waiting for " + o.call.Hook)
	o.call.Emit = func(item hook.Item) error {
		p.output.Flush()
		return f.write(callCtx, func() error { return f.streams.Item(o.format, o.call.Hook, item) })
	}
	r, err := runner.CallCarrying(callCtx, caller, o.errorField, o.call)
	stop()
	p.output.Flush()
	if err != nil {
		return err
	}
	for _, note := range r.Notes {
		f.streams.Note(note)
	}
	f.streams.Log("info", "called", "hook", o.call.Hook, "took", r.Took)
	if r.Streamed && o.format != ui.Envelope {
		return nil
	}
	info, generation := hook.Info{}, 0
	if o.format == ui.Envelope {
		info, generation = who()
	}
	return f.write(ctx, func() error { return f.streams.Result(o.format, o.call.Hook, r, info, generation) })
}
