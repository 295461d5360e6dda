package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/settings"
)

// outputOptions are the options of every command that prints something.
type outputOptions struct {
	json, quiet, verbose, logJSON bool
	debug                         []string // areas
	color                         string
}

func (o *outputOptions) flags() cmdline.Flags {
	o.color = "auto"
	var format string
	return cmdline.Flags{
		cmdline.Switch(&o.json, "json", "print JSON objects, one per line, also for an error"),
		cmdline.Switch(&o.quiet, "quiet", "hide the plugin's output and notes").Alias("q"),
		cmdline.Switch(&o.verbose, "verbose", "log what pyplug does").Alias("v"),
		cmdline.Choice(&format, "log-format", "write standard error in `FORMAT`: text (the default) or json", "text", "json").Then(func() { o.logJSON = format == "json" }).FromEnv("PYPLUG_LOG_FORMAT").Seldom(),
		cmdline.List(&o.debug, "debug", "log details of `AREAS`: "+strings.Join(plan.DebugAreas(), ","), plan.DebugAreas()).FromEnv("PYPLUG_DEBUG").Seldom(),
		cmdline.Choice(&o.color, "color", "use color `WHEN`: auto (the default), always or never", "auto", "always", "never").FromEnv("PYPLUG_COLOR").Seldom(),
	}
}

// quickStart is the timeout of an import in commands whose user waits for the result, such as check
// and health.
var quickStart = settings.Settings{Timeouts: settings.Timeouts{Start: 60 * time.Second}}

// pluginFlags returns the flags of every command that starts a plugin. They set the settings of
// cfg. The help shows the defaults of cfg.
func pluginFlags(cfg *plan.Config) cmdline.Flags {
	return slices.Concat(pythonFlags(cfg), settingFlags(cfg, settings.Start))
}

// pythonFlags returns the flags that choose the Python.
func pythonFlags(cfg *plan.Config) cmdline.Flags {
	return append(settingFlags(cfg, settings.Find),
		cmdline.Switch(&cfg.Active, "active", "prefer an activated environment to the plugin's own").Seldom(),
		cmdline.Switch(&cfg.NoActive, "no-active", "ignore an activated environment").Seldom(),
	)
}

// launchFlags returns the flags that say how a plugin is started and kept alive, and how it returns
// its results.
func launchFlags(cfg *plan.Config) cmdline.Flags {
	return slices.Concat(settingFlags(cfg, settings.Result), settingFlags(cfg, settings.Keep), pluginFlags(cfg))
}

// settingFlags returns the flags of a group of commands.
func settingFlags(cfg *plan.Config, group settings.Commands) (flags cmdline.Flags) {
	for _, row := range settings.RowsOf(group) {
		flags = append(flags, settingFlag(cfg, row))
	}
	return flags
}

// settingFlag returns the flag of a setting.
func settingFlag(cfg *plan.Config, row *settings.Row) *cmdline.Flag {
	f := cmdline.Setting(&cfg.Settings, row, &cfg.Defaults)
	f.Category = categories[row.Commands]
	if plan.TransportOf(row.Only).Serves {
		f.Category = grpcCategory
	}
	return f
}

const (
	keepCategory = "Workers"
	grpcCategory = "gRPC plugins"
)

// categories maps groups of commands to the headings of flags in the help.
var categories = map[settings.Commands]string{settings.Keep: keepCategory, settings.Background: backgroundCategory}

// openConfig adds the plugin, and the directory and environment of this process, to the
// configuration. It rejects flags that contradict each other.
func openConfig(cfg *plan.Config, plugin string) error {
	var err error
	if cfg.Cwd, err = os.Getwd(); err != nil && !filepath.IsAbs(plugin) {
		return cmdline.Usage("the current directory: %w", err)
	}
	cfg.Plugin, cfg.Environ = plugin, os.Environ()
	if cfg.Active && cfg.NoActive {
		return cmdline.Usage("--active and --no-active cannot be combined")
	}
	return nil
}
