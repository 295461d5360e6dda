package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
)

// outputOptions are what every command that prints something takes.
type outputOptions struct {
	json, quiet, verbose, logJSON bool
	debug                         []string // areas
	color                         string
}

func (o *outputOptions) flags() []cli.Flag {
	o.color = "auto"
	var format string
	log := choiceFlag(&format, "log-format", "format of standard error: `FORMAT` is text (the default) or json", "text", "json")
	parse := valueOf(log).parse
	valueOf(log).parse = func(text string) error {
		o.logJSON = text == "json"
		return parse(text)
	}
	quiet := switchFlag(&o.quiet, "quiet", "hide the plugin's output and notes")
	quiet.Aliases = []string{"q"}
	verbose := switchFlag(&o.verbose, "verbose", "log what pyplug does")
	verbose.Aliases = []string{"v"}
	return []cli.Flag{
		switchFlag(&o.json, "json", "print one JSON object, also for an error"),
		quiet,
		verbose,
		fromEnv(log, "PYPLUG_LOG_FORMAT"),
		fromEnv(listFlag(&o.debug, "debug", "log details of `AREAS`: "+strings.Join(runner.DebugAreas(), ","), runner.DebugAreas()), "PYPLUG_DEBUG"),
		fromEnv(choiceFlag(&o.color, "color", "use colour: `WHEN` is auto (the default), always or never", "auto", "always", "never"), "PYPLUG_COLOR"),
	}
}

// pluginOptions are what every command that starts a plugin takes.
type pluginOptions struct {
	python, transport, dir string
	env                    []string
	cleanEnv               bool
	timeouts               runner.Timeouts
	grpc                   grpcOptions
}

// flags declares them. startLimit is the default limit of an import, for the help.
func (o *pluginOptions) flags(startLimit string) []cli.Flag {
	env := repeated(newFlag("env", "set the plugin's variable `K=V`; with --clean-env, K alone passes it on", func(text string) error {
		o.env = append(o.env, text)
		return checkEnv(text)
	}))
	cwd := fileFlag(&o.dir, "cwd", "the plugin's working directory `DIR` (default: the current one)")
	python := fileFlag(&o.python, "python", "use this Python: a `PATH`, an environment, a name or a version (or PYPLUG_PYTHON)")
	return append([]cli.Flag{
		python,
		choiceFlag(&o.transport, "transport", "`TRANSPORT` is pipe or grpc (default: detected)", "pipe", "grpc"),
		env,
		switchFlag(&o.cleanEnv, "clean-env", "give the plugin only PATH, HOME, the locale and the like, and --env"),
		cwd,
		fromEnv(durationFlag(&o.timeouts.Start, "start-timeout", "`DURATION` is the limit of the import (default: "+startLimit+") or the handshake (30s)"), "PYPLUG_START_TIMEOUT"),
		fromEnv(durationFlag(&o.timeouts.Stop, "stop-timeout", "kill a plugin that has not ended after `DURATION` (default: 5s)"), "PYPLUG_STOP_TIMEOUT"),
	}, o.grpc.flags()...)
}

// config returns what is to be opened.
func (o *pluginOptions) config(plugin string) (runner.Config, error) {
	cwd, err := os.Getwd()
	if err != nil && !filepath.IsAbs(plugin) {
		return runner.Config{}, usage("the current directory: %w", err)
	}
	cfg := runner.Config{
		Plugin: plugin, Python: o.python, Transport: o.transport, Environ: os.Environ(), Cwd: cwd,
		Env: o.env, CleanEnv: o.cleanEnv, Dir: o.dir, Timeouts: o.timeouts,
	}
	cfg.GRPC, err = o.grpc.config()
	return cfg, err
}

func checkEnv(e string) error {
	name, _, _ := strings.Cut(e, "=")
	if name == "" {
		return fmt.Errorf("is %q, want NAME=VALUE or NAME", e)
	}
	if strings.ContainsRune(e, 0) {
		return errors.New("has a value with a NUL byte")
	}
	return nil
}

// resultOptions say how a plugin that is started makes its results.
type resultOptions struct {
	nan          string
	emitDefaults bool
	headers      headers
}

func (o *resultOptions) flags() []cli.Flag {
	o.nan = "error"
	return append([]cli.Flag{
		choiceFlag(&o.nan, "nan", "turn NaN and Infinity in a result into `WHAT`: error (the default), null or literal", "error", "null", "literal"),
	}, inCategory(grpcCategory,
		switchFlag(&o.emitDefaults, "emit-defaults", "also print fields without a value"),
		o.headers.flag(),
	)...)
}

// launchOptions say how a plugin is started and kept alive.
type launchOptions struct {
	plugin pluginOptions
	result resultOptions
	keep   keepOptions
}

func (o *launchOptions) flags() []cli.Flag {
	return slices.Concat(o.result.flags(), o.keep.flags(), o.plugin.flags("10m"))
}

// config returns what is to be opened.
func (o *launchOptions) config(plugin string) (runner.Config, error) {
	cfg, err := o.plugin.config(plugin)
	if err != nil {
		return cfg, err
	}
	cfg.NaN, cfg.GRPC.EmitDefaults, cfg.GRPC.Metadata = o.result.nan, o.result.emitDefaults, o.result.headers.pairs
	cfg.Keep = o.keep.Keep
	return cfg, o.keep.check()
}

// firstTyped is the first of flags that was typed, rather than set by the
// environment, which may set it for other commands; empty if none was.
func (f *program) firstTyped(flags []cli.Flag) string {
	for _, flag := range flags {
		if name := flag.Names()[0]; slices.Contains(f.typed, name) {
			return "--" + name
		}
	}
	return ""
}
