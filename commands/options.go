package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	return []cli.Flag{
		switchFlag(&o.json, "json", "print one JSON object, also for an error"),
		alias(switchFlag(&o.quiet, "quiet", "hide the plugin's output and notes"), "q"),
		alias(switchFlag(&o.verbose, "verbose", "log what pyplug does"), "v"),
		fromEnv(then(choiceFlag(&format, "log-format", "format of standard error: `FORMAT` is text (the default) or json", "text", "json"),
			func() { o.logJSON = format == "json" }), "PYPLUG_LOG_FORMAT"),
		fromEnv(listFlag(&o.debug, "debug", "log details of `AREAS`: "+strings.Join(runner.DebugAreas(), ","), runner.DebugAreas()), "PYPLUG_DEBUG"),
		fromEnv(choiceFlag(&o.color, "color", "use colour: `WHEN` is auto (the default), always or never", "auto", "always", "never"), "PYPLUG_COLOR"),
	}
}

// The functions below declare flags, in groups, that say what to open and how. They write
// into one [runner.Config], which openConfig completes.

// quickImport is the limit of an import if somebody waits for what comes after it, as for a
// check or a probe.
const quickImport = 60 * time.Second

// pluginFlags are those of every command that starts a plugin. startLimit is the default
// limit of an import, for the help.
func pluginFlags(cfg *runner.Config, startLimit string) []cli.Flag {
	return append(append(pythonFlags(cfg),
		choiceFlag(&cfg.Transport, "transport", "`TRANSPORT` is pipe or grpc (default: detected)", "pipe", "grpc"),
		repeated(newFlag("env", "set the plugin's variable `K=V`; with --clean-env, K alone passes it on", func(text string) error {
			cfg.Env = append(cfg.Env, text)
			return checkEnv(text)
		})),
		switchFlag(&cfg.CleanEnv, "clean-env", "give the plugin only PATH, HOME, the locale and the like, and --env"),
		ofKind(fileFlag(&cfg.Dir, "cwd", "the plugin's working directory `DIR` (default: the current one)"), directories),
		fromEnv(durationFlag(&cfg.Timeouts.Start, "start-timeout", "limit the import (default: "+startLimit+") or the handshake (30s) to `DURATION`"), "PYPLUG_START_TIMEOUT"),
		fromEnv(durationFlag(&cfg.Timeouts.Stop, "stop-timeout", "kill a plugin that has not ended after `DURATION` (default: 5s)"), "PYPLUG_STOP_TIMEOUT"),
	), grpcFlags(&cfg.GRPC)...)
}

// pythonFlags say which Python to take.
func pythonFlags(cfg *runner.Config) []cli.Flag {
	return []cli.Flag{
		fileFlag(&cfg.Python, "python", "use this Python: a `PATH`, an environment, a name or a version (or PYPLUG_PYTHON)"),
		switchFlag(&cfg.Active, "active", "prefer an activated environment to the plugin's own"),
		switchFlag(&cfg.NoActive, "no-active", "ignore an activated environment"),
	}
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

// resultFlags say how a plugin that is started makes its results.
func resultFlags(cfg *runner.Config) []cli.Flag {
	cfg.NaN = "error"
	return append([]cli.Flag{
		choiceFlag(&cfg.NaN, "nan", "turn NaN and Infinity in a result into `WHAT`: error (the default), null or literal", "error", "null", "literal"),
		switchFlag(&cfg.NoConvert, "no-convert", "leave arguments as JSON says, whatever the annotations are"),
	}, inCategory(grpcCategory,
		switchFlag(&cfg.GRPC.EmitDefaults, "emit-defaults", "also print fields without a value"),
		headerFlag(&cfg.GRPC.Metadata),
	)...)
}

// launchFlags say how a plugin is started and kept alive.
func launchFlags(cfg *runner.Config) []cli.Flag {
	return slices.Concat(resultFlags(cfg), keepFlags(&cfg.Keep), pluginFlags(cfg, "10m"))
}

// limitFlags hold for a call, or for every call of a plugin that is kept alive.
func limitFlags(timeout *time.Duration, errorField *string) []cli.Flag {
	return []cli.Flag{
		timeoutFlag(timeout),
		newFlag("error-field", "fail if the result has an error at the dotted `PATH`", func(path string) error {
			if *errorField = path; slices.Contains(strings.Split(path, "."), "") {
				return fmt.Errorf("is %q, want names with dots between them", path)
			}
			return nil
		}),
	}
}

func timeoutFlag(to *time.Duration) *flag {
	return fromEnv(durationFlag(to, "timeout", "limit a call to `DURATION`, 0 for no limit (default: 2m)"), "PYPLUG_TIMEOUT")
}

// openConfig completes what the flags said by the plugin and by this process's directory
// and environment, and rejects flags that contradict each other.
func openConfig(cfg *runner.Config, plugin string) error {
	var err error
	if cfg.Cwd, err = os.Getwd(); err != nil && !filepath.IsAbs(plugin) {
		return usage("the current directory: %w", err)
	}
	cfg.Plugin, cfg.Environ = plugin, os.Environ()
	if cfg.Active && cfg.NoActive {
		return usage("--active and --no-active contradict each other")
	}
	if k := cfg.Keep; k.Backoff > 0 && k.BackoffMax > 0 && k.BackoffMax < k.Backoff {
		return usage("--backoff-max is %s, want at least the %s of --backoff", k.BackoffMax, k.Backoff)
	}
	return checkGRPC(&cfg.GRPC)
}
