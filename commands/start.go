package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

const startText = `Start PLUGIN in the background, wait until it is ready, and print the name that it is called by.
   It stays until stop, and is started again when it ends. Its environment and working directory are
   those of its start; what it prints is in its log.

   To start the same plugin again is success. Where another plugin has its name, it gets one of its own.

   --json prints how to attach to it: for a gRPC plugin what a host of go-plugin reads, as Terraform
   does from TF_REATTACH_PROVIDERS, for a functions file its name and socket.

   name=$(pyplug start greeter.py) && pyplug call "$name" greet World
   pyplug start --name small --workers 4 --max-memory 512MB resize.py
   pyplug start --watch greeter.py
   export TF_REATTACH_PROVIDERS=$(pyplug start --json provider.py)`

// daemonWord is how pyplug is executed for a plugin in the background.
const daemonWord = "__daemon"

func startCommand(f *program) command {
	var o startOptions
	flags := o.flags()
	return command{names: allWords, Command: &cli.Command{
		Name:        "start",
		Usage:       "start a plugin in the background",
		ArgsUsage:   "PLUGIN",
		Description: startText,
		Flags:       slices.Concat(flags, f.opts.flags()),
		Action: func(c *cli.Context) error {
			if err := f.readKept(c, &o, flags); err != nil {
				return err
			}
			if o.events == "-" {
				return usage("--events is -, and there is no standard output in the background: want a FILE")
			}
			return f.start(c.Context, o)
		},
	}}
}

// readKept reads the command line of a command that keeps one PLUGIN.
func (f *program) readKept(c *cli.Context, o *startOptions, flags []cli.Flag) error {
	if err := onePlugin(c, &o.cfg); err != nil {
		return err
	}
	f.readStart(o, flags)
	return nil
}

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

// start starts a plugin in the background, and prints its name.
func (f *program) start(ctx context.Context, o startOptions) error {
	id, err := f.startOrFind(ctx, o)
	if err != nil {
		return err
	}
	if !f.opts.json {
		return startedUntold(id.Name, f.write(ctx, func() error { return f.streams.Name(id.Name) }))
	}
	c, err := daemon.Open(ctx, id.Name)
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
	return startedUntold(id.Name, f.write(ctx, func() error { return f.streams.Attach(st.Attach) }))
}

// startedUntold is the error of a start whose name could not be printed; nil of none.
func startedUntold(name string, err error) error {
	e := (*hook.Error)(nil)
	if !errors.As(err, &e) || e.Kind != hook.Failed {
		return err
	}
	return &hook.Error{Kind: e.Kind, Hints: []string{fmt.Sprintf("`pyplug stop %s` stops it", name)},
		Err: fmt.Errorf("%w; %s runs all the same", e.Err, name)}
}

// startOrFind returns who serves a plugin, which it starts unless it runs. One that
// runs, but not as it is wanted now, is noted; one that a call started is replaced
// then, and where it is to stay.
func (f *program) startOrFind(ctx context.Context, o startOptions) (daemon.Identity, error) {
	p := &plugin{f: f, path: o.cfg.Plugin}
	f.plugin = p
	stop := f.streams.Waiting("starting " + o.cfg.Plugin)
	defer stop()
	s, err := runner.Open(ctx, o.cfg)
	p.opened = s
	if err == nil {
		err = p.fits(s)
	}
	if err == nil && f.opts.json && s.Program().MTLS {
		err = errNoAttach()
	}
	if err != nil {
		return daemon.Identity{}, err
	}
	names := namesOf(s, o.name)
	if id, ok, err := f.already(ctx, s, o, names); ok || err != nil {
		return id, err
	}
	for _, skipped := range s.Interpreter().Skipped {
		f.streams.Note(skipped.String() + "; using " + s.Interpreter().Path)
	}
	for _, name := range names {
		wanted := identityOf(s, o, name)
		id, err := daemon.Spawn(ctx, daemon.SpawnOptions{Name: name, Entry: wanted.Entry, Args: daemonArgs(o, name), Env: append(os.Environ(), handOver(o.words)), Note: f.streams.Note})
		switch {
		case err != nil:
			return id, err
		case id.Entry == wanted.Entry:
			return id, nil
		case name == names[len(names)-1]:
			return id, daemon.TakenError(wanted, id)
		}
	}
	panic("a plugin has a name") // namesOf returns one
}

// daemonArgs are the words of the process that stays, but for those that handOver
// hands it.
func daemonArgs(o startOptions, name string) []string {
	args := []string{daemonWord, "--name=" + name}
	if o.auto {
		args = append(args, "--auto")
	}
	if o.debug != "" {
		args = append(args, "--debug="+o.debug)
	}
	return append(args, "--", o.cfg.Plugin)
}

// already looks whether a plugin runs under one of its names.
func (f *program) already(ctx context.Context, s *runner.Opened, o startOptions, names []string) (id daemon.Identity, ok bool, err error) {
	for _, name := range names {
		c, err := daemon.Open(ctx, name)
		if isNotRunning(err) {
			continue
		}
		if err != nil {
			return id, false, err
		}
		id, ok, err = f.same(ctx, c, identityOf(s, o, name))
		if ok || err != nil {
			return id, ok, err
		}
	}
	return daemon.Identity{}, false, nil
}

// same reports whether the daemon runs the plugin that is wanted. It waits for one that
// is ending. If the plugin runs in another way than wanted, a note says so; a plugin
// that a call started is replaced if its files changed, or if it is now to stay.
func (f *program) same(ctx context.Context, c *daemon.Client, wanted daemon.Identity) (id daemon.Identity, ok bool, err error) {
	running := c.Identity()
	if running.Entry != wanted.Entry {
		return id, false, nil
	}
	_, notes, err := c.Ready(ctx)
	switch {
	case daemon.Is(err, daemon.Stopping):
		return id, false, daemon.AwaitFree(ctx, running.Name)
	case daemon.Is(err, daemon.Lost):
		return id, false, nil
	case err != nil:
		return id, false, err
	}
	differs := difference(running, wanted)
	replaced := strings.Join(notes, "; ")
	if running.AutoStarted && !wanted.AutoStarted {
		replaced = "a call started it, and it would end by itself"
	}
	switch {
	case running.AutoStarted && replaced != "":
		f.streams.Log("info", "replaced: "+replaced)
		_, err := daemon.Stop(ctx, running.Name)
		return id, false, err
	case differs != "":
		f.streams.Note(differs)
	case !wanted.AutoStarted: // a call prints the notes itself
		for _, note := range notes {
			f.streams.Note(note)
		}
	}
	return running, true, nil
}
