package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
	"github.com/pyplug/pyplug/runner/settings"
)

const backgroundCategory = "Background plugins"

// startOptions are the options of a plugin that is kept alive under a name.
type startOptions struct {
	service.Options
	own      cmdline.Flags // the flags that start passes on to the background process
	envFiles []string      // the files of --env-file
	fileEnv  []string      // the variables in envFiles, passed on as --env
}

// nameFlags returns the flags of every command that keeps a plugin alive under a name.
func (o *startOptions) nameFlags() cmdline.Flags {
	return cmdline.InCategory(backgroundCategory,
		cmdline.New("name", "name the plugin `NAME` (default: the manifest's id, or the file's name)", func(text string) error {
			if o.Name = text; !daemon.ValidName(text) {
				return fmt.Errorf("is %q, expected lower case letters, digits, - and _, and a letter or digit first", text)
			}
			return nil
		}),
		settingFlag(&o.Config, settings.ByFlag("watch")),
	)
}

// flags returns the flags of start.
func (o *startOptions) flags() cmdline.Flags {
	o.own = slices.Concat(o.nameFlags(), settingFlags(&o.Config, settings.Call), launchFlags(&o.Config))
	return o.own
}

// read adds PLUGIN to the options.
func (o *startOptions) read(plugin string) error {
	o.Version = versionText()
	return openConfig(&o.Config, plugin)
}

// readKept reads the command line of a command that keeps one PLUGIN alive.
func (o *startOptions) readKept(words []string) error {
	if err := cmdline.WantWords(words, "PLUGIN"); err != nil {
		return err
	}
	return o.read(words[0])
}

func startCommand(prog *program) command {
	var o startOptions
	return newCommand("start", "start a plugin in the background", "PLUGIN...",
		slices.Concat(o.flags(), cmdline.Flags{o.envFileFlag()}, prog.opts.flags()), func(ctx context.Context, words []string) error {
			switch err := cmdline.WantWords(words, "PLUGIN..."); {
			case err != nil:
				return err
			case len(words) > 1 && o.Name != "":
				return cmdline.Usage("--name names one plugin, but %d are given", len(words))
			}
			if err := o.readEnvFiles(ctx); err != nil {
				return err
			}
			var failures []error
			for _, word := range words {
				if err := o.read(word); err != nil {
					return err
				}
				if err := prog.start(ctx, o); err != nil {
					failures = append(failures, err)
				}
			}
			return prog.firstOf(failures...)
		})
}

// start starts a plugin in the background, and prints its name or how to attach to it.
func (prog *program) start(ctx context.Context, o startOptions) error {
	name, err := prog.startOrFind(ctx, o)
	line := name
	if err == nil && prog.opts.json {
		line, err = service.StartedAttach(ctx, name)
	}
	if err != nil {
		return err
	}
	err = prog.write(ctx, func() error { return prog.streams.Line(line) })
	if e := (*hook.Error)(nil); errors.As(err, &e) && e.Reason == hook.OutputFailed {
		return cmdline.Hinted(err, schema.Hintf("run %s to stop %s, which is running", schema.Command{"stop", name}, name))
	}
	return err
}

// startOrFind returns the name under which a plugin runs in the background. It starts the
// plugin if it does not run yet.
func (prog *program) startOrFind(ctx context.Context, o startOptions) (string, error) {
	path := o.Config.Plugin
	defer prog.streams.Waiting("starting " + path)()
	k, err := runner.Open(ctx, o.Config)
	if err == nil && !o.AutoStarted && prog.opts.json && k.Program().MTLS {
		err = service.NoAttachError()
	}
	p := &background{prog: prog, word: path, about: k.About()}
	if err != nil {
		return "", failed(p, k.Complete(err))
	}
	var words []string
	for _, variable := range o.fileEnv {
		words = append(words, "--env="+variable)
	}
	words = append(words, cmdline.Words(o.own)...)
	if o.AutoStarted {
		words = append(words, "--auto")
	}
	if len(prog.opts.debug) > 0 {
		words = append(words, "--debug="+strings.Join(prog.opts.debug, ","))
	}
	notePython := sync.OnceFunc(func() { prog.notePython(k) })
	name, err := service.Start(ctx, k, o.Options, service.Starter{
		Spawn: func() (daemon.Identity, error) {
			notePython()
			return daemon.Spawn(ctx, []string{daemonWord, "--", path}, append(os.Environ(), daemon.HandOver(words)), prog.streams.Note)
		},
		Note:      prog.streams.Note,
		Replacing: func(name string) { prog.streams.Log("info", "replacing the plugin", "name", name) },
	})
	return name, failed(p, err)
}

// daemonWord is the hidden command that runs a plugin in the background.
const daemonWord = "__daemon"

// daemonCommand runs the plugin of start in the background process.
func daemonCommand(prog *program) command {
	var o startOptions
	auto := cmdline.Switch(&o.AutoStarted, "auto", "")
	cmd := newCommand(daemonWord, "", "PLUGIN",
		slices.Concat(o.flags(), cmdline.Flags{auto}, prog.opts.flags()), func(ctx context.Context, words []string) error {
			starter := daemon.OpenStarter()
			err := o.readKept(words)
			if err == nil {
				o.Detached = true
				prog.streams.Quiet = true // all output is written to the log
				err = prog.serve(ctx, o, starter)
			}
			if err == nil {
				return nil
			}
			starter.Fail(completeError(err))          // has no effect if the starter has its answer
			return &printedError{code: exitCode(err)} // the log contains the error, as the reason of the last state
		})
	cmd.Hidden, cmd.keeps = true, true
	return cmd
}

// serve keeps a plugin alive under its name, in the background or in the foreground, until
// a signal or a client stops it.
func (prog *program) serve(ctx context.Context, o startOptions, starter *daemon.Starter) error {
	p := prog.newLocal(o.Config.Plugin, prog.opts.quiet || o.Detached)
	defer p.output.Close()
	hangups, onHangup := service.Hangups()
	prog.signals.onHangup(onHangup)
	defer prog.signals.onHangup(nil)
	p.follow(&o.Config)
	o.Starter, o.Kill, o.Hangups = starter, prog.signals.kill, hangups
	kept := service.New(o.Options, p)
	p.printed = kept.Printed
	ready, err := p.serve(ctx, kept)
	if ready {
		prog.streams.Log("info", "stopped", "plugin", p.path)
	}
	switch {
	case ready && err == nil && ctx.Err() != nil && !terminated(ctx):
		err = hook.NewError(hook.Canceled, context.Cause(ctx))
	case !ready && terminated(ctx) && !o.Detached && prog.signals.kill.Err() == nil:
		err = nil
	}
	return failed(p, err)
}

// serve opens and starts the plugin, and serves it. ready reports whether it was ready.
func (p *local) serve(ctx context.Context, kept *service.Service) (ready bool, err error) {
	stop := p.prog.streams.Waiting("starting " + p.path)
	defer stop()
	if err := p.open(ctx, kept.OpenConfig()); err != nil {
		return false, err
	}
	if err := kept.Start(ctx, p.Keeper); err != nil {
		return false, err
	}
	stop()
	p.noteReady()
	return true, kept.Run(ctx)
}

// terminated reports whether SIGTERM or SIGHUP ended ctx.
func terminated(ctx context.Context) bool {
	signal := (*signalError)(nil)
	return errors.As(context.Cause(ctx), &signal) && (signal.signal == syscall.SIGTERM || signal.signal == syscall.SIGHUP)
}
