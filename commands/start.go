package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

const backgroundCategory = "Background plugins"

// startOptions are what a command line says of a plugin that is kept alive under a name.
type startOptions struct {
	cfg    runner.Config
	name   string // as typed; empty: the default
	watch  bool
	events string

	words []string // the flags, for the process in the background
	// auto reports whether a call starts the plugin, detached whether this is the
	// process in the background.
	auto, detached bool
}

// nameFlags are those of every command that keeps a plugin alive under a name.
func (o *startOptions) nameFlags() []cli.Flag {
	return inCategory(backgroundCategory,
		newFlag("name", "name the plugin `NAME` (default: the manifest's id, or the file's name)", func(text string) error {
			if o.name = text; !daemon.ValidName(text) {
				return fmt.Errorf("is %q, want lower case letters, digits, - and _, and a letter or digit first", text)
			}
			return nil
		}),
		switchFlag(&o.watch, "watch", "restart the workers when the plugin's own files change"),
		fileFlag(&o.events, "events", "append every change of state to `FILE`, as a line of JSON"),
	)
}

// flags are those of start.
func (o *startOptions) flags() []cli.Flag {
	return slices.Concat(o.nameFlags(), limitFlags(&o.cfg.Timeouts.Call, &o.cfg.ErrorField), launchFlags(&o.cfg))
}

// readStart completes what the flags say by PLUGIN. The process in the background gets
// the same flags.
func (f *program) readStart(o *startOptions, plugin string, flags []cli.Flag) error {
	o.words = flagWords(flags)
	if o.auto {
		o.words = append(o.words, "--auto")
	}
	if len(f.opts.debug) > 0 {
		o.words = append(o.words, "--debug="+strings.Join(f.opts.debug, ","))
	}
	return openConfig(&o.cfg, plugin)
}

// readKept reads the command line of a command that keeps one PLUGIN alive.
func (f *program) readKept(c *cli.Context, o *startOptions, flags []cli.Flag) error {
	word, err := oneWord(c, "PLUGIN")
	if err != nil {
		return err
	}
	return f.readStart(o, word, flags)
}

func startCommand(f *program) command {
	var o startOptions
	flags := o.flags()
	return command{names: allWords, Command: &cli.Command{
		Name:      "start",
		Usage:     "start a plugin in the background",
		ArgsUsage: "PLUGIN",
		Flags:     slices.Concat(flags, f.opts.flags()),
		Action: func(c *cli.Context) error {
			if err := f.readKept(c, &o, flags); err != nil {
				return err
			}
			if o.events == "-" {
				return usage("--events is -, but a background plugin has no standard output: want a FILE")
			}
			return f.start(c.Context, o)
		},
	}}
}

// start starts a plugin in the background, and prints its name or how to attach to it.
func (f *program) start(ctx context.Context, o startOptions) error {
	name, err := f.startOrFind(ctx, o)
	if err != nil {
		return err
	}
	line := name
	if f.opts.json {
		c, err := daemon.Open(ctx, name)
		if err != nil {
			return err
		}
		st, _, err := c.Ready(ctx)
		if err == nil && st.Attach == nil {
			err = hook.NewError(hook.Unavailable, errors.New("no worker is ready"))
		}
		if err != nil {
			return err
		}
		line = string(st.Attach)
	}
	err = f.write(ctx, func() error { return f.streams.Line(line) })
	if e := (*hook.Error)(nil); errors.As(err, &e) && e.Reason == ui.OutputFailed {
		return &hook.Error{Kind: e.Kind, Reason: e.Reason, Hints: []string{fmt.Sprintf("`pyplug stop %s` stops it", name)},
			Err: fmt.Errorf("%w; %s is running nevertheless", e.Err, name)}
	}
	return err
}

// daemonWord is how pyplug is executed for a plugin in the background.
const daemonWord = "__daemon"

// daemonCommand is start in the process that stays.
func daemonCommand(f *program) command {
	var o startOptions
	flags := o.flags()
	auto := switchFlag(&o.auto, "auto", "")
	return command{names: allWords, Command: &cli.Command{
		Name:      daemonWord,
		Hidden:    true,
		ArgsUsage: "PLUGIN",
		Flags:     slices.Concat(flags, []cli.Flag{auto}, f.opts.flags()),
		Action: func(c *cli.Context) error {
			starter := daemon.OpenStarter()
			if err := f.readKept(c, &o, flags); err != nil {
				starter.Fail(f.complete(err))
				return err
			}
			o.detached = true
			f.opts.quiet, f.streams.Quiet = true, true // all of it goes into the log
			return f.serve(c.Context, o, starter)
		},
	}}
}
