package commands

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

const runText = `Start PLUGIN, call one HOOK, print its result as one JSON line, stop.

` + argumentText + `

   HOOK of a gRPC plugin is Method, Service/Method or pkg.Service/Method. Its arguments are fields by
   name, a.b=VALUE for nested ones, once more for each element of a repeated one; those of a stream
   are JSON Lines from --input.

` + linesText + `

` + keepText + `

   pyplug run greeter.py greet World
   pyplug run greeter.py add a=2 b=40
   pyplug run --raw greeter.py greet "=$name"
   echo '{"name": "Ada"}' | pyplug run --input - greeter.py greet
   pyplug run kv/plugin.py KV/Put key=hello value=world`

// runOptions are what the command line of run says.
type runOptions struct {
	callOptions
	cfg runner.Config
}

func runCommand(f *program) command {
	return command{names: 2, wordless: []string{"lines", "keep"}, Command: &cli.Command{
		Name:        "run",
		Usage:       "start a plugin, call one hook, print the result, stop",
		ArgsUsage:   "PLUGIN HOOK [ARG...]\n   pyplug run [command options] --lines PLUGIN [HOOK]\n   pyplug run [command options] --keep PLUGIN",
		Description: runText,
		Flags:       slices.Concat(callFlags(), resultFlags(), linesFlags(), keepModeFlags(), keepFlags(), pluginFlags("10m"), outputFlags()),
		Action: func(c *cli.Context) error {
			if err := f.begin(c); err != nil {
				return err
			}
			if c.Bool("keep") {
				return f.runKeep(c)
			}
			if err := f.onlyWith("run --keep", nameFlags()); err != nil {
				return err
			}
			if c.Bool("lines") {
				o, err := f.readLines(c)
				if err != nil {
					return err
				}
				return f.lines(c.Context, o)
			}
			if err := f.onlyWith("run --lines", linesFlags()[1:]); err != nil { // without --lines itself
				return err
			}
			if err := f.onlyWith("run --lines and --keep", keepFlags()); err != nil {
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
	var err error
	if o.cfg, err = readPlugin(c, words[0]); err != nil {
		return o, err
	}
	if err := readResult(c, &o.cfg); err != nil {
		return o, err
	}
	if o.callOptions, err = f.readCallFlags(c, words[1], words[2:]); err != nil {
		return o, err
	}
	o.cfg.Timeouts.Call, o.cfg.ErrorField, o.maxMessage = o.timeout, o.errorField, o.cfg.GRPC.MaxMessage
	return o, nil
}

// resultFlags say how a plugin that is started makes its results.
func resultFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "nan", Usage: "`WHAT` NaN and Infinity in a result become: error, null or literal", Value: "error"},
		&cli.BoolFlag{Category: grpcCategory, Name: "emit-defaults", Usage: "print the fields that have no value, too"},
		headerFlag(),
	}
}

// readResult reads what of resultFlags readPlugin does not.
func readResult(c *cli.Context, cfg *runner.Config) error {
	cfg.NaN = c.String("nan")
	switch cfg.NaN {
	case "error", "null", "literal":
		return nil
	}
	return usage("--nan is %q, want error, null or literal", cfg.NaN)
}

// missingHookError is told with a hint.
type missingHookError struct{ plugin string }

func (e *missingHookError) Error() string { return "HOOK is missing" }

// run opens the plugin, calls the hook and prints what it returns.
func (f *program) run(ctx context.Context, o runOptions) error {
	s, err := f.open(ctx, o.cfg, func(s *runner.Session) error {
		return f.readInput(ctx, s.Settings().Transport, &o.callOptions)
	})
	if err != nil {
		return err
	}
	defer f.closeSession(s)
	return f.answer(ctx, s.Settings().Timeouts.Call, s, o.callOptions, func() (hook.Info, int) { return s.Info(), 1 })
}
