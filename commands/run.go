package commands

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const runText = `Start PLUGIN, call one HOOK, print its result as one JSON line, stop.

   VALUE          a positional argument; the parameter's annotation or default decides its type
   name=VALUE     the same for the parameter of that name
   =TEXT          positional text, verbatim: what scripts write as "=$v"
   :=JSON         JSON, also as name:=JSON
   name@=FILE     the file's text; name:=@FILE the file's JSON
   --input FILE   all arguments: one JSON object (names) or array (positions); - is standard input

   Flags stand before HOOK; every word after it is data. A streamed result is one line per item.

   HOOK of a gRPC plugin is Method, Service/Method or pkg.Service/Method. Its arguments are fields by
   name, a.b=VALUE for nested ones, once more for each element of a repeated one; those of a stream
   are JSON Lines from --input.

   pyplug run greeter.py greet World
   pyplug run greeter.py add a=2 b=40
   pyplug run --raw greeter.py greet "=$name"
   echo '{"name": "Ada"}' | pyplug run --input - greeter.py greet
   pyplug run kv/plugin.py KV/Put key=hello value=world`

// runOptions are what the command line of run says.
type runOptions struct {
	cfg    runner.Config
	call   hook.Call
	input  string    // the file of --input
	stream io.Reader // it, when it is read as it is sent
	format ui.Format
}

func runCommand(f *program) command {
	flags := []cli.Flag{
		durationFlag("timeout", "how `LONG` the call may take, 0 for no limit (default: 2m)", "PYPLUG_TIMEOUT"),
		&cli.StringFlag{Name: "input", Usage: "read all arguments from `FILE`, - for standard input"},
		&cli.BoolFlag{Name: "raw", Usage: "print a string as it is, bytes verbatim, nothing for null, of a message its only text"},
		&cli.StringFlag{Name: "error-field", Usage: "a result with an error at this dotted `PATH` is a failed hook"},
		&cli.StringFlag{Name: "nan", Usage: "`WHAT` NaN and Infinity in a result become: error, null or literal", Value: "error"},
		&cli.BoolFlag{Category: grpcCategory, Name: "emit-defaults", Usage: "print the fields that have no value, too"},
		headerFlag(),
	}
	return command{names: 2, Command: &cli.Command{
		Name:        "run",
		Usage:       "start a plugin, call one hook, print the result, stop",
		ArgsUsage:   "PLUGIN HOOK [ARG...]",
		Description: runText,
		Flags:       append(append(flags, pluginFlags("10m")...), outputFlags()...),
		Action: func(c *cli.Context) error {
			if err := f.begin(c); err != nil {
				return err
			}
			o, err := f.readRun(c)
			if err != nil {
				return err
			}
			return f.run(c.Context, o)
		},
	}}
}

// readRun reads the command line of run. All that can be wrong with it is told
// before anything is started.
func (f *program) readRun(c *cli.Context) (runOptions, error) {
	var o runOptions
	words := c.Args().Slice()
	switch len(words) {
	case 0:
		return o, usage("PLUGIN and HOOK are missing")
	case 1:
		return o, &missingHookError{plugin: words[0]}
	}
	if words[1] == "" {
		return o, usage("HOOK is empty")
	}
	var err error
	if o.cfg, err = readPlugin(c, words[0]); err != nil {
		return o, err
	}
	o.cfg.Timeouts.Call = durationOf(c, "timeout")
	o.cfg.ErrorField = c.String("error-field")
	o.cfg.NaN = c.String("nan")
	switch o.cfg.NaN {
	case "error", "null", "literal":
	default:
		return o, usage("--nan is %q, want error, null or literal", o.cfg.NaN)
	}
	switch {
	case c.Bool("json") && c.Bool("raw"):
		return o, usage("--json and --raw exclude each other")
	case c.Bool("json"):
		o.format = ui.Envelope
	case c.Bool("raw"):
		o.format = ui.Raw
	}
	if c.IsSet("error-field") && slices.Contains(strings.Split(o.cfg.ErrorField, "."), "") {
		return o, usage("--error-field is %q, want names with dots between them", o.cfg.ErrorField)
	}
	o.call.Hook, o.input = words[1], c.String("input")
	if o.input != "" && len(words) > 2 {
		return o, usage("--input gives all arguments, and %s is one more", schema.QuoteLine(words[2:3]))
	}
	o.call.Args.Words, err = f.readWords(c.Context, words[2:])
	return o, err
}

// missingHookError is told with a hint.
type missingHookError struct{ plugin string }

func (e *missingHookError) Error() string { return "HOOK is missing" }

// run opens the plugin, calls the hook and prints what it returns.
func (f *program) run(ctx context.Context, o runOptions) error {
	s, err := f.open(ctx, o.cfg, func(s *runner.Session) error { return f.readInput(ctx, s, &o) })
	if err != nil {
		return err
	}
	defer f.closeSession(s)
	callCtx, cancel := context.WithTimeout(ctx, s.Settings().Timeouts.Call)
	defer cancel()
	if o.stream != nil {
		o.call.Input = messages(callCtx, o.stream, inputName(o.input), o.cfg.GRPC.MaxMessage)
	}
	stop := f.streams.Waiting("waiting for " + o.call.Hook)
	o.call.Emit = func(item hook.Item) error {
		f.output.Flush()
		return f.write(callCtx, func() error { return f.streams.Item(o.format, o.call.Hook, item) })
	}
	r, err := s.Call(callCtx, o.call)
	stop()
	f.output.Flush()
	if err != nil {
		return err
	}
	f.streams.Log("info", "called", "hook", o.call.Hook, "took", r.Took)
	if r.Streamed && o.format != ui.Envelope {
		return nil
	}
	return f.write(ctx, func() error { return f.streams.Result(o.format, o.call.Hook, r, s.Info(), 1) })
}
