package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/schema"
)

// syncOptions are the options of sync.
type syncOptions struct {
	cfg    runner.Config
	sync   runner.SyncOptions
	dryRun bool
	clean  bool
}

func syncCommand(prog *program) command {
	var o syncOptions
	flags := cmdline.Flags{
		cmdline.Switch(&o.sync.InPlace, "in-place", "make .venv beside the file that lists the requirements, instead of one in the cache"),
		cmdline.Switch(&o.sync.Offline, "offline", "install without the network: from uv's cache, or pip's --find-links"),
		cmdline.Switch(&o.dryRun, "dry-run", "say what would be made or removed, and change nothing"),
		cmdline.Switch(&o.clean, "clean", "remove the environments in the cache that no plugin asks for any more"),
		cmdline.File(&o.cfg.Python, "python", "make it for this Python: a `PATH`, a name or a version (or PYPLUG_PYTHON)"),
	}
	return newCommand("sync", "make the environment of a plugin", "[PLUGIN]",
		slices.Concat(flags, prog.opts.flags()), func(ctx context.Context, words []string) error {
			if o.clean {
				if len(words) > 0 {
					return cmdline.Usage("--clean takes no PLUGIN")
				}
				return prog.cleanEnvironments(ctx, o.dryRun)
			}
			if err := o.read(ctx, words); err != nil {
				return err
			}
			return prog.sync(ctx, o)
		})
}

// read reads PLUGIN. Without one, or if it is a directory that is no plugin, the environment is
// that of the project in the directory.
func (o *syncOptions) read(ctx context.Context, words []string) error {
	if len(words) == 0 {
		words = []string{"."}
	}
	err := cmdline.WantWords(words, "PLUGIN")
	if err == nil {
		err = openConfig(&o.cfg, words[0])
	}
	if err == nil {
		o.cfg = runner.OrProject(ctx, o.cfg)
	}
	return err
}

// sync makes the environment of a plugin, unless it exists, and prints it.
func (prog *program) sync(ctx context.Context, o syncOptions) error {
	stop := func() {}
	o.sync.Step = func(what string) {
		stop()
		stop = prog.streams.Waiting(what)
	}
	plan, err := runner.PlanSync(ctx, o.cfg, o.sync)
	if err != nil {
		return err
	}
	made := ui.Synced{
		Dir: schema.Path(plan.Dir), Python: schema.Path(plan.Python), Installer: plan.Installer,
		Kind: plan.Source.Kind, Source: schema.Path(plan.Source.Path), Requirements: plan.Source.Requirements, Made: !plan.Exists, DryRun: o.dryRun,
	}
	switch asks := plan.Source.Path; {
	case plan.Exists:
		prog.streams.Note("the environment has what " + asks + " asks for")
	case o.dryRun:
		prog.streams.Note(plan.Installer + " would install what " + asks + " asks for")
	default:
		prog.streams.Note(plan.Installer + " installs what " + asks + " asks for")
	}
	if !o.dryRun {
		made.Made, err = runner.Sync(ctx, plan.Plan)
		stop()
		if err != nil {
			return err
		}
	}
	if plan.Note != "" {
		prog.streams.Note(plan.Note)
	}
	return prog.write(ctx, func() error { return prog.streams.Synced(made, prog.opts.json) })
}

// cleanEnvironments removes the environments that no plugin asks for, and prints their
// directories. It leaves those of background plugins.
func (prog *program) cleanEnvironments(ctx context.Context, dryRun bool) error {
	running, err := daemon.List(ctx)
	if err != nil && len(daemon.RunDirs()) > 0 { // Windows has none
		return err
	}
	inUse := func(dir string) bool {
		return slices.ContainsFunc(running, func(id daemon.Identity) bool {
			return strings.HasPrefix(string(id.Python), dir+string(filepath.Separator))
		})
	}
	removed, bytes, err := runner.Clean(inUse, dryRun)
	what := schema.Plural(len(removed), "environment") + fmt.Sprintf(", %.1f MB", float64(bytes)/(1<<20))
	done := "removed "
	if dryRun {
		done = "would remove "
	}
	prog.streams.Note(done + what)
	if failed := prog.write(ctx, func() error { return prog.streams.Cleaned(removed, bytes, prog.opts.json) }); failed != nil {
		return failed
	}
	return err
}
