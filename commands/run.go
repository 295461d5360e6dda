package commands

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// runOptions are the options of run for a single call.
type runOptions struct {
	callOptions
	cfg runner.Config // what they say of the plugin
}

func runCommand(f *program) command {
	var (
		o             runOptions
		lines         linesOptions
		start         startOptions
		inLines, keep bool
	)
	ofLines, ofKeep := lines.flags(", by --workers unless that is set"), start.nameFlags()
	linesFlag := switchFlag(&inLines, "lines", "keep the plugin alive and answer each line of standard input, a call, with a line")
	keepFlag := switchFlag(&keep, "keep", "keep the plugin alive in the foreground, and take calls under a name")
	ofCall, ofResults, ofWorkers := []cli.Flag{inputFlag(&o.input)}, []cli.Flag{o.rawFlag()}, keepFlags(&o.cfg.Keep)
	flags := slices.Concat(limitFlags(&o.cfg.Timeouts.Call, &o.cfg.ErrorField), ofCall, ofResults,
		inCategory(linesCategory, linesFlag), ofLines, inCategory(backgroundCategory, keepFlag), ofKeep,
		resultFlags(&o.cfg), ofWorkers, pluginFlags(&o.cfg, "10m"), f.opts.flags())
	cmd := newCommand("run", "start a plugin, call one hook, print the result, stop", "PLUGIN HOOK [ARG...]\n--lines PLUGIN [HOOK [ARG...]]\n--keep PLUGIN",
		flags, func(ctx context.Context, words []string) error {
			if keep && inLines {
				return usage("--lines and --keep cannot be combined")
			}
			err := onlyFor(flagGroup{inLines, "run --lines", ofLines}, flagGroup{keep, "run --keep", ofKeep},
				flagGroup{keep || inLines, "run --lines and --keep", ofWorkers}, flagGroup{!keep && !inLines, "a single call", ofCall},
				flagGroup{!keep, "a single call and --lines", ofResults})
			switch {
			case err != nil:
				return err
			case keep:
				start.Config = o.cfg
				if err := f.readKept(words, &start, nil); err != nil {
					return err
				}
				return f.untilSignal(f.serve(ctx, start, nil))
			case inLines:
				lines.raw = o.raw
				return f.runLines(ctx, words, &lines, o.cfg)
			}
			if err := f.readRun(ctx, words, &o); err != nil {
				return err
			}
			return f.run(ctx, o)
		})
	cmd.names, cmd.config = 2, &o.cfg
	return cmd
}

// readRun reads PLUGIN, HOOK and its arguments. It reports every mistake in them before anything
// starts.
func (f *program) readRun(ctx context.Context, words []string, o *runOptions) error {
	if err := wantHook(words, "PLUGIN"); err != nil {
		return err
	}
	if err := openConfig(&o.cfg, words[0]); err != nil {
		return err
	}
	if err := f.readHook(ctx, &o.callOptions, words[1], words[2:]); err != nil {
		return err
	}
	o.maxMessage = o.cfg.GRPC.MaxMessage
	return nil
}

// wantHook returns a usage error unless the arguments are a plugin and a hook. what is the word
// for the plugin in the message.
func wantHook(words []string, what string) error {
	err := wantWords(words, what, "HOOK")
	if len(words) != 1 {
		return err
	}
	if two := manifest.TwoWords(words[0]); two != nil {
		return hinted(err, two...)
	}
	return hinted(err, schema.Hintf("%s lists its hooks", append(schema.Command{"hooks"}, typedWords(words)...)))
}

// run opens the plugin, calls the hook and prints what it returns.
func (f *program) run(ctx context.Context, o runOptions) error {
	o.cfg.Once = true
	p, err := f.launch(ctx, o.cfg, func(s *runner.Opened) error {
		return f.readInput(ctx, s.Transport().Streams, &o.callOptions)
	})
	if err != nil {
		return err
	}
	defer p.close()
	return p.failed(p.answer(ctx, p.opened.Settings().Timeouts.Call, o.callOptions))
}
