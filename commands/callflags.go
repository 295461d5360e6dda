package commands

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// argumentText explains the arguments of a hook, for the help of the commands
// that call one.
const argumentText = `   VALUE          a positional argument; the parameter's annotation or default decides its type
   name=VALUE     the same for the parameter of that name
   =TEXT          positional text, verbatim: what scripts write as "=$v"
   :=JSON         JSON, also as name:=JSON
   name@=FILE     the file's text; name:=@FILE the file's JSON
   --input FILE   all arguments: one JSON object (names) or array (positions); - is standard input

   Flags stand before HOOK; every word after it is data. A streamed result is one line per item.`

// callFlags are those of every command that makes one call and prints what comes
// of it.
func callFlags() []cli.Flag {
	return []cli.Flag{
		durationFlag("timeout", "how `LONG` the call may take, 0 for no limit (default: 2m)", "PYPLUG_TIMEOUT"),
		&cli.StringFlag{Name: "input", Usage: "read all arguments from `FILE`, - for standard input"},
		&cli.BoolFlag{Name: "raw", Usage: "print a string as it is, bytes verbatim, nothing for null, of a message its only text"},
		&cli.StringFlag{Name: "error-field", Usage: "a result with an error at this dotted `PATH` is a failed hook"},
	}
}

// callOptions are what a command line says of one call.
type callOptions struct {
	call       hook.Call
	timeout    time.Duration // 0: the plugin's own
	errorField string
	input      string    // the file of --input
	stream     io.Reader // it, when it is read as it is sent
	maxMessage int       // of that
	format     ui.Format
}

// readCallFlags reads callFlags, HOOK and its arguments.
func (f *program) readCallFlags(c *cli.Context, hookName string, args []string) (callOptions, error) {
	o := callOptions{timeout: durationOf(c, "timeout"), input: c.String("input"), maxMessage: defaultMessage}
	if hookName == "" {
		return o, usage("HOOK is empty")
	}
	switch {
	case c.Bool("json") && c.Bool("raw"):
		return o, usage("--json and --raw exclude each other")
	case c.Bool("json"):
		o.format = ui.Envelope
	case c.Bool("raw"):
		o.format = ui.Raw
	}
	var err error
	if o.errorField, err = readErrorField(c); err != nil {
		return o, err
	}
	if o.input != "" && len(args) > 0 {
		return o, usage("--input gives all arguments, and %s is one more", schema.QuoteLine(args[:1]))
	}
	o.call.Hook = hookName
	o.call.Args.Words, err = f.readWords(c.Context, args)
	return o, err
}

// answer makes a call within a limit, 0 for none, and prints what comes of it. who
// tells which process answered, and its generation; it is asked after the call.
func (f *program) answer(ctx context.Context, limit time.Duration, caller hook.Caller, o callOptions, who func() (hook.Info, int)) error {
	callCtx, cancel := context.WithCancel(ctx)
	if limit > 0 {
		callCtx, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	if o.stream != nil {
		o.call.Input = messages(callCtx, o.stream, inputName(o.input), o.maxMessage)
	}
	stop := f.streams.Waiting("waiting for " + o.call.Hook)
	o.call.Emit = func(item hook.Item) error {
		f.flush()
		return f.write(callCtx, func() error { return f.streams.Item(o.format, o.call.Hook, item) })
	}
	r, err := caller.Call(callCtx, o.call)
	stop()
	f.flush()
	if err != nil {
		return err
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

// flush has what the plugin printed seen before what is printed next.
func (f *program) flush() {
	if f.output != nil {
		f.output.Flush()
	}
}

// readErrorField reads --error-field.
func readErrorField(c *cli.Context) (string, error) {
	path := c.String("error-field")
	if c.IsSet("error-field") && slices.Contains(strings.Split(path, "."), "") {
		return "", usage("--error-field is %q, want names with dots between them", path)
	}
	return path, nil
}
