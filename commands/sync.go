package commands

import (
	"context"
	"slices"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
)

// syncOptions are the options of sync.
type syncOptions struct {
	cfg    plan.Config
	sync   plan.SyncOptions
	dryRun bool
}

func syncCommand(prog *program) command {
	var o syncOptions
	flags := cmdline.Flags{
		cmdline.Switch(&o.sync.IntoExisting, "into-existing", "install into a .venv that pyplug did not make, too"),
		cmdline.Switch(&o.sync.Offline, "offline", "install without the network: from uv's cache, or pip's --find-links"),
		cmdline.Switch(&o.dryRun, "dry-run", "print what would be installed and where, without installing it"),
		cmdline.File(&o.cfg.Python, "python", "make .venv with this Python: a `PATH`, a name or a version (or PYPLUG_PYTHON)"),
	}
	return newCommand("sync", "make the environment of a plugin", "[PLUGIN]",
		slices.Concat(flags, prog.opts.flags()), func(ctx context.Context, words []string) error {
			if err := o.read(ctx, words); err != nil {
				return err
			}
			return prog.sync(ctx, o)
		})
}

// read reads PLUGIN. The default is the current directory. For a directory that is not a plugin,
// the command makes the environment of the project there.
func (o *syncOptions) read(ctx context.Context, words []string) error {
	if len(words) == 0 {
		words = []string{"."}
	}
	err := cmdline.WantWords(words, "PLUGIN")
	if err == nil {
		err = openConfig(&o.cfg, words[0])
	}
	if err == nil {
		o.cfg = plan.OrProject(ctx, o.cfg)
	}
	return err
}

// sync makes or completes the environment of a plugin, and prints it.
func (prog *program) sync(ctx context.Context, o syncOptions) error {
	stop := func() {}
	o.sync.Step = func(what string) {
		stop()
		stop = prog.streams.Waiting(what)
	}
	venv, err := plan.PlanSync(ctx, o.cfg, o.sync)
	if err != nil {
		return err
	}
	synced := ui.Synced{
		Dir: schema.Path(venv.Dir), Python: schema.Path(venv.Python), Installer: venv.Installer,
		Kind: venv.Source.Kind, Source: schema.Path(venv.Source.Path), Requirements: venv.Source.Requirements, Made: !venv.Exists, DryRun: o.dryRun,
	}
	installs := " installs "
	if o.dryRun {
		installs = " would install "
	}
	prog.streams.Note(venv.Installer + installs + "the requirements of " + venv.Source.Path)
	if !o.dryRun {
		synced.Made, err = venv.Make(ctx)
		stop()
		if err != nil {
			return err
		}
		if note := plan.SyncNote(ctx, o.cfg, venv.Dir); note != "" {
			prog.streams.Note(note)
		}
	}
	return prog.write(ctx, func() error { return prog.streams.Synced(synced, prog.opts.json) })
}
