package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

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

   pyplug run greeter.py greet World
   pyplug run greeter.py add a=2 b=40
   pyplug run --raw greeter.py greet "=$name"
   echo '{"name": "Ada"}' | pyplug run --input - greeter.py greet`

// runOptions are what the command line of run says.
type runOptions struct {
	cfg    runner.Config
	call   hook.Call
	format ui.Format
}

func runCommand(f *program) command {
	flags := []cli.Flag{
		durationFlag("timeout", "how `LONG` the call may take, 0 for no limit (default: 2m)", "PYPLUG_TIMEOUT"),
		&cli.StringFlag{Name: "input", Usage: "read all arguments from `FILE`, - for standard input"},
		&cli.BoolFlag{Name: "raw", Usage: "print a string as it is, bytes verbatim, nothing for null"},
		&cli.StringFlag{Name: "error-field", Usage: "a result with an error at this dotted `PATH` is a failed hook"},
		&cli.StringFlag{Name: "nan", Usage: "`WHAT` NaN and Infinity in a result become: error, null or literal", Value: "error"},
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
	o.call.Hook = words[1]
	o.call.Args, err = f.readArgs(c.Context, words[2:], c.String("input"))
	return o, err
}

// missingHookError is told with a hint.
type missingHookError struct{ plugin string }

func (e *missingHookError) Error() string { return "HOOK is missing" }

// readArgs reads the arguments from the words or from the file of --input.
func (f *program) readArgs(ctx context.Context, words []string, input string) (hook.Args, error) {
	read := func(name string) ([]byte, error) {
		stop := f.streams.Waiting("reading " + inputName(name))
		defer stop()
		return interruptible(ctx, func() ([]byte, error) {
			if name == "-" {
				return io.ReadAll(f.streams.In)
			}
			return os.ReadFile(name)
		})
	}
	if input == "" {
		parsed, err := schema.ParseWords(words, read)
		if canceled := (*hook.Error)(nil); errors.As(err, &canceled) {
			return hook.Args{}, canceled
		}
		if err != nil {
			return hook.Args{}, &hook.Error{Kind: hook.Request, Err: err}
		}
		return hook.Args{Words: parsed}, nil
	}
	if len(words) > 0 {
		return hook.Args{}, usage("--input gives all arguments, and %s is one more", quoteLine(words[:1]))
	}
	text, err := read(input)
	if canceled := (*hook.Error)(nil); errors.As(err, &canceled) {
		return hook.Args{}, canceled
	}
	if err != nil {
		return hook.Args{}, usage("--input: %w", err)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err := checkInput(text); err != nil {
		return hook.Args{}, &hook.Error{Kind: hook.Request, Err: fmt.Errorf("--input %s: %w", inputName(input), err)}
	}
	return hook.Args{JSON: text}, nil
}

func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// checkInput wants one JSON object or array.
func checkInput(text []byte) error {
	if len(text) == 0 {
		return errors.New("it is empty, want a JSON object or array")
	}
	if !utf8.Valid(text) {
		at := 0
		for at < len(text) {
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return fmt.Errorf("it is not UTF-8: byte %d is 0x%02x", at+1, text[at])
	}
	if json.Valid(text) {
		if text[0] != '{' && text[0] != '[' {
			return errors.New("it holds one value, want a JSON object (names) or array (positions)")
		}
		return nil
	}
	var v any
	err := json.Unmarshal(text, &v)
	line := 1
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		line += bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
	}
	return fmt.Errorf("it is not JSON: line %d: %w", line, err)
}

// run opens the plugin, calls the hook and prints what it returns.
func (f *program) run(ctx context.Context, o runOptions) error {
	s, err := f.open(ctx, o.cfg)
	if err != nil {
		return err
	}
	defer f.closeSession(s)
	callCtx, cancel := context.WithTimeout(ctx, s.Settings().Timeouts.Call)
	defer cancel()
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
