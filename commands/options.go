package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
)

// duration is a flag's value: "30s", "2m", or a bare number of seconds.
type duration struct {
	value time.Duration
	set   bool
}

// Set reads a duration.
func (d *duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil {
		var seconds float64
		if seconds, err = strconv.ParseFloat(text, 64); err == nil {
			v = -1
			if seconds >= 0 && seconds <= runner.Forever.Seconds() { // and a number
				v = time.Duration(seconds * float64(time.Second))
			}
		}
	}
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no duration, want such as 30s, 2m or a number of seconds", text)
	}
	d.value, d.set = v, true
	return nil
}

func (d *duration) String() string {
	if !d.set {
		return ""
	}
	return d.value.String()
}

func durationFlag(name, use string, env ...string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: use, Value: &duration{}, EnvVars: env}
}

// durationOf reads a duration flag. A limit of 0 is none: it becomes for ever.
func durationOf(c *cli.Context, name string) time.Duration {
	d, ok := c.Generic(name).(*duration)
	if !ok || !d.set {
		return 0
	}
	if d.value == 0 {
		return runner.Forever
	}
	return d.value
}

// pluginFlags are those of every command that starts a plugin; start is how long
// an import may take by default.
func pluginFlags(start string) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "python", Usage: "use this Python: a `PATH`, an environment, a name or a version (or PYPLUG_PYTHON)"},
		&cli.StringFlag{Name: "transport", Usage: "`HOW` the plugin is spoken to: pipe or grpc (default: its code tells)"},
		&cli.StringSliceFlag{Name: "env", Usage: "set the plugin's variable `K=V`; with --clean-env, K alone lets it pass"},
		&cli.BoolFlag{Name: "clean-env", Usage: "pass the plugin only PATH, HOME, the locale and the like, and what --env names"},
		&cli.StringFlag{Name: "cwd", Usage: "the plugin's working `DIR` (default: the current one)"},
		durationFlag("start-timeout", "how `LONG` an import (default: "+start+") or a handshake (30s) may take", "PYPLUG_START_TIMEOUT"),
		durationFlag("stop-timeout", "how `LONG` a plugin may take to end before it is killed (default: 5s)", "PYPLUG_STOP_TIMEOUT"),
	}, grpcFlags()...)
}

// outputFlags are those of every command that says something.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print one JSON object, errors too"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "say nothing of what the plugin prints, and no notes"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say what pyplug does"},
		&cli.StringFlag{Name: "log-format", Usage: "`FORMAT` of what goes to standard error: text or json", Value: "text", EnvVars: []string{"PYPLUG_LOG_FORMAT"}},
		&cli.StringFlag{Name: "debug", Usage: "show `AREAS`: " + strings.Join(runner.DebugAreas(), ","), EnvVars: []string{"PYPLUG_DEBUG"}},
		&cli.StringFlag{Name: "color", Usage: "`WHEN` to use colour: auto, always or never", Value: "auto", EnvVars: []string{"PYPLUG_COLOR"}},
	}
}

// outputOptions are what outputFlags say.
type outputOptions struct {
	json, quiet, verbose, logJSON bool
	debug                         []string
	color                         string
}

func readOutput(c *cli.Context) (outputOptions, error) {
	o := outputOptions{
		json:    c.Bool("json"),
		quiet:   c.Bool("quiet"),
		verbose: c.Bool("verbose"),
		color:   c.String("color"),
	}
	switch format := c.String("log-format"); format {
	case "text":
	case "json":
		o.logJSON = true
	default:
		return o, usage("--log-format is %q, want text or json", format)
	}
	if areas := c.String("debug"); areas != "" {
		o.debug = strings.Split(areas, ",")
	}
	for _, area := range o.debug {
		if !slices.Contains(runner.DebugAreas(), area) {
			return o, usage("--debug has the area %q, want some of %s", area, strings.Join(runner.DebugAreas(), ","))
		}
	}
	return o, nil
}

// readPlugin fills the part of a Config that pluginFlags say.
func readPlugin(c *cli.Context, plugin string) (runner.Config, error) {
	if err := notEmpty(c, "cwd", "input", "template"); err != nil {
		return runner.Config{}, err
	}
	cwd, err := os.Getwd()
	if err != nil && !filepath.IsAbs(plugin) {
		return runner.Config{}, usage("the current directory: %w", err)
	}
	cfg := runner.Config{
		Plugin:    plugin,
		Python:    c.String("python"),
		Transport: c.String("transport"),
		Environ:   os.Environ(),
		Cwd:       cwd,
		Env:       c.StringSlice("env"),
		CleanEnv:  c.Bool("clean-env"),
		Dir:       c.String("cwd"),
		Timeouts: runner.Timeouts{
			Start: durationOf(c, "start-timeout"),
			Stop:  durationOf(c, "stop-timeout"),
		},
	}
	if cfg.GRPC, err = readGRPC(c); err != nil {
		return cfg, err
	}
	switch cfg.Transport {
	case "", "pipe", "grpc":
	default:
		return cfg, usage("--transport is %q, want pipe or grpc", cfg.Transport)
	}
	if c.IsSet("python") && cfg.Python == "" {
		return cfg, usage("--python is empty, want a path, an environment, a name or a version")
	}
	for _, e := range cfg.Env {
		if err := checkEnv(e); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func checkEnv(e string) error {
	name, _, _ := strings.Cut(e, "=")
	if name == "" {
		return usage("--env is %q, want NAME=VALUE or NAME", e)
	}
	if strings.ContainsRune(e, 0) {
		return usage("--env %s: %w", name, errors.New("the value has a NUL byte"))
	}
	return nil
}
