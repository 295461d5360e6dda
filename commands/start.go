package commands

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

const backgroundCategory = "Background plugins"

// startOptions are the options of a plugin that is kept alive under a name.
type startOptions struct {
	service.Options
	events string   // the file of --events
	words  []string // the flags, for the process in the background
}

// nameFlags returns the flags of every command that keeps a plugin alive under a name.
func (o *startOptions) nameFlags() []cli.Flag {
	return inCategory(backgroundCategory,
		newFlag("name", "name the plugin `NAME` (default: the manifest's id, or the file's name)", func(text string) error {
			if o.Name = text; !daemon.ValidName(text) {
				return fmt.Errorf("is %q, want lower case letters, digits, - and _, and a letter or digit first", text)
			}
			return nil
		}),
		switchFlag(&o.Watch, "watch", "restart the workers when the plugin's own files change"),
		fileFlag(&o.events, "events", "append every change of state to `FILE`, as a line of JSON"),
	)
}

// flags returns the flags of start.
func (o *startOptions) flags() []cli.Flag {
	return slices.Concat(o.nameFlags(), limitFlags(&o.Config.Timeouts.Call, &o.Config.ErrorField), launchFlags(&o.Config))
}

// readStart adds PLUGIN to the options, and the flags for the process in the background.
func (f *program) readStart(o *startOptions, plugin string, flags []cli.Flag) error {
	o.Version = versionText()
	o.words = flagWords(flags)
	if o.AutoStarted {
		o.words = append(o.words, "--auto")
	}
	if len(f.opts.debug) > 0 {
		o.words = append(o.words, "--debug="+strings.Join(f.opts.debug, ","))
	}
	return openConfig(&o.Config, plugin)
}

// readKept reads the command line of a command that keeps one PLUGIN alive.
func (f *program) readKept(words []string, o *startOptions, flags []cli.Flag) error {
	word, err := oneWord(words)
	if err != nil {
		return err
	}
	return f.readStart(o, word, flags)
}

func startCommand(f *program) command {
	var o startOptions
	flags := o.flags()
	return newCommand("start", "start a plugin in the background", "PLUGIN...",
		slices.Concat(flags, f.opts.flags()), func(ctx context.Context, words []string) error {
			switch err := wantWords(words, slices.Repeat([]string{"PLUGIN"}, max(1, len(words)))...); {
			case err != nil:
				return err
			case len(words) > 1 && o.Name != "":
				return usage("--name names one plugin, but %d are given", len(words))
			case o.events == "-":
				return usage("--events is -, but a background plugin has no standard output: want a FILE")
			}
			var failures []error
			for _, word := range words {
				if err := f.readStart(&o, word, flags); err != nil {
					return err
				}
				if err := f.start(ctx, o); err != nil {
					failures = append(failures, err)
				}
			}
			return f.firstOf(failures)
		})
}

// start starts a plugin in the background, and prints its name or how to attach to it.
func (f *program) start(ctx context.Context, o startOptions) error {
	name, err := f.startOrFind(ctx, o)
	line := name
	if err == nil && f.opts.json {
		line, err = service.StartedAttach(ctx, name)
	}
	if err != nil {
		return err
	}
	err = f.write(ctx, func() error { return f.streams.Line(line) })
	if e := (*hook.Error)(nil); errors.As(err, &e) && e.Reason == ui.OutputFailed {
		return hinted(err, schema.Hintf("%s is running: %s stops it", name, schema.Command{"stop", name}))
	}
	return err
}

// startOrFind returns the name under which a plugin runs in the background. It starts the
// plugin if it does not run yet.
func (f *program) startOrFind(ctx context.Context, o startOptions) (string, error) {
	p := &plugin{f: f, path: o.Config.Plugin}
	defer f.streams.Waiting("starting " + p.path)()
	err := p.open(ctx, o.Config)
	if err == nil && !o.AutoStarted && f.opts.json && p.opened.Settings().MTLS {
		err = service.NoAttachError()
	}
	if err != nil {
		return "", p.failed(err)
	}
	p.elsewhere = true
	notePython := sync.OnceFunc(p.notePython)
	name, err := service.Start(ctx, p.opened, o.Options, service.Starter{
		Spawn: func() (daemon.Identity, error) {
			notePython()
			return daemon.Spawn(ctx, []string{daemonWord, "--", p.path}, append(os.Environ(), handOver(o.words)), f.streams.Note)
		},
		Note:      f.streams.Note,
		Replacing: func(name string) { f.streams.Log("info", "replacing the plugin that a call started", "name", name) },
	})
	return name, p.failed(err)
}

// daemonWord is the hidden command that runs a plugin in the background.
const daemonWord = "__daemon"

// daemonCommand runs the plugin of start in the background process.
func daemonCommand(f *program) command {
	var o startOptions
	flags := o.flags()
	auto := switchFlag(&o.AutoStarted, "auto", "")
	cmd := newCommand(daemonWord, "", "PLUGIN",
		slices.Concat(flags, []cli.Flag{auto}, f.opts.flags()), func(ctx context.Context, words []string) error {
			starter := daemon.OpenStarter()
			err := f.readKept(words, &o, flags)
			if err == nil {
				o.Detached = true
				f.streams.Quiet = true // all of it goes into the log
				err = f.serve(ctx, o, starter)
			}
			if err == nil {
				return nil
			}
			starter.Fail(pluginOf(err).complete(err)) // unless it has its answer
			return &printedError{code: exitCode(err)} // the log has it, as the reason of the last state
		})
	cmd.Hidden = true
	return cmd
}

// wordsVariable passes flags to the process in the background. They may hold secrets, such
// as those of --env and --header. Every user of the machine can read the command line of a
// process; only the same user can read its environment.
const wordsVariable = "PYPLUG_DAEMON_WORDS"

// handOver returns the variable that holds words, which need not be UTF-8.
func handOver(words []string) string { return wordsVariable + "=" + url.Values{"": words}.Encode() }

// takeOver returns the command line of the process in the background with the words of
// wordsVariable, which it removes from the environment: they are not for the plugin.
func takeOver(args []string) []string {
	if len(args) < 2 || args[1] != daemonWord {
		return args
	}
	values, _ := url.ParseQuery(os.Getenv(wordsVariable)) // as handOver wrote it
	_ = os.Unsetenv(wordsVariable)                        // fails only for an invalid name
	return slices.Concat(args[:2], values[""], args[2:])
}

// serve keeps a plugin alive under its name, in the background or in the foreground, until
// a signal or a client stops it.
func (f *program) serve(ctx context.Context, o startOptions, starter *daemon.Starter) error {
	p := f.newPlugin(o.Config.Plugin, f.opts.quiet || o.Detached)
	defer p.output.Close()
	p.follow(&o.Config)
	p.followEvents(&o.Config.Keep)
	stop := f.streams.Waiting("starting " + p.path)
	defer stop()
	host, err := p.host(ctx, o, starter, stop)
	if err == nil {
		kept := service.New(o.Options, host)
		p.printed = kept.Printed
		if err = p.open(ctx, kept.Config()); err == nil {
			err = kept.Serve(ctx, p.opened)
		}
	}
	if p.pool != nil {
		f.streams.Log("info", "stopped", "plugin", p.path)
	}
	switch {
	case p.pool != nil && err == nil && ctx.Err() != nil && !terminated(ctx):
		err = hook.NewError(hook.Canceled, context.Cause(ctx))
	case p.pool == nil && terminated(ctx) && !o.Detached && f.signals.kill.Err() == nil:
		err = nil
	}
	return p.failed(err)
}

// host returns what this process provides for the service that keeps p. The host calls
// started when the plugin is ready.
func (p *plugin) host(ctx context.Context, o startOptions, starter *daemon.Starter, started func()) (service.Host, error) {
	f := p.f
	h := service.Host{
		Starter: starter, Kill: f.signals.kill, Hangup: f.signals.onHangup, Complete: p.complete, Note: p.note, Warn: p.warn,
		Ready: func(pool *runner.Pool) {
			p.pool = pool
			started()
			p.noteReady()
		},
	}
	for _, flag := range launchFlags(new(runner.Config)) {
		h.StartFlags = append(h.StartFlags, flag.Names()[0])
	}
	if !o.Detached && !f.opts.verbose {
		h.Transition = p.note
	}
	if !o.Detached && o.events != "-" {
		h.Attach = func(ctx context.Context, line string) error {
			return f.write(ctx, func() error { return f.streams.Line(line) })
		}
	}
	if o.events == "" {
		return h, nil
	}
	to, err := f.streams.Out, error(nil)
	if o.events != "-" {
		to, err = openOutput(ctx, "--events", o.events, os.O_APPEND, 0o600) // until the process ends
	}
	h.Event = func(name string, e hook.Event) error {
		_, err := to.Write(ui.EventJSON(name, e))
		return err
	}
	return h, err
}

// terminated reports whether SIGTERM, or the end of its terminal, ended ctx.
func terminated(ctx context.Context) bool {
	signal := (*signalError)(nil)
	return errors.As(context.Cause(ctx), &signal) && (signal.signal == syscall.SIGTERM || signal.signal == syscall.SIGHUP)
}
