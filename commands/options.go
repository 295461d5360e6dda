package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/manifest"
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
		cmdline.Switch(&o.json, "json", "print one JSON object, also for an error"),
		cmdline.Switch(&o.quiet, "quiet", "hide the plugin's output and notes").Alias("q"),
		cmdline.Switch(&o.verbose, "verbose", "log what pyplug does").Alias("v"),
		cmdline.Choice(&format, "log-format", "format of standard error: `FORMAT` is text (the default) or json", "text", "json").Then(func() { o.logJSON = format == "json" }).FromEnv("PYPLUG_LOG_FORMAT"),
		cmdline.List(&o.debug, "debug", "log details of `AREAS`: "+strings.Join(runner.DebugAreas(), ","), runner.DebugAreas()).FromEnv("PYPLUG_DEBUG"),
		cmdline.Choice(&o.color, "color", "use colour: `WHEN` is auto (the default), always or never", "auto", "always", "never").FromEnv("PYPLUG_COLOR"),
	}
}

// The functions below declare groups of flags that say what to open and how. They write to one
// [runner.Config]. openConfig adds the rest.

// quickImport is the timeout of an import in commands where somebody waits for the result, such
// as check and health.
const quickImport = 60 * time.Second

// pluginFlags returns the flags of every command that starts a plugin. startLimit is the
// default limit of an import, for the help.
func pluginFlags(cfg *runner.Config, startLimit string) cmdline.Flags {
	return append(append(pythonFlags(cfg),
		cmdline.Choice(&cfg.Transport, "transport", "`TRANSPORT` is pipe or grpc (default: detected)", "pipe", "grpc"),
		cmdline.New("env", "set the plugin's variable `K=V`; with --clean-env, K alone passes it on", func(text string) error {
			if cfg.Env = append(cfg.Env, text); text == "" || text[0] == '=' {
				return fmt.Errorf("is %q, want NAME=VALUE or NAME", text)
			}
			return nil
		}).Repeat(),
		cmdline.Switch(&cfg.CleanEnv, "clean-env", "give the plugin only PATH, HOME, the locale and the like, and --env"),
		cmdline.File(&cfg.Dir, "cwd", "the plugin's working directory `DIR` (default: the current one)"),
		cmdline.Duration(&cfg.Timeouts.Start, "start-timeout", "limit the import (default: "+startLimit+") or the handshake (30s) to `DURATION`").FromEnv("PYPLUG_START_TIMEOUT"),
		cmdline.Duration(&cfg.Timeouts.Stop, "stop-timeout", "kill a plugin that has not ended after `DURATION` (default: 5s)").FromEnv("PYPLUG_STOP_TIMEOUT"),
	), grpcFlags(&cfg.GRPC)...)
}

// pythonFlags say which Python to use.
func pythonFlags(cfg *runner.Config) cmdline.Flags {
	return cmdline.Flags{
		cmdline.File(&cfg.Python, "python", "use this Python: a `PATH`, an environment, a name or a version (or PYPLUG_PYTHON)"),
		cmdline.Switch(&cfg.Active, "active", "prefer an activated environment to the plugin's own"),
		cmdline.Switch(&cfg.NoActive, "no-active", "ignore an activated environment"),
	}
}

// resultFlags say how a plugin returns its results.
func resultFlags(cfg *runner.Config) cmdline.Flags {
	cfg.NaN = "error"
	return append(cmdline.Flags{
		cmdline.Choice(&cfg.NaN, "nan", "turn NaN and Infinity in a result into `WHAT`: error (the default), null or literal", "error", "null", "literal"),
		cmdline.Switch(&cfg.NoConvert, "no-convert", "do not convert arguments to their annotations"),
	}, cmdline.InCategory(grpcCategory,
		headerFlag(&cfg.GRPC.Metadata),
	)...)
}

// launchFlags say how a plugin is started and kept alive.
func launchFlags(cfg *runner.Config) cmdline.Flags {
	return slices.Concat(resultFlags(cfg), keepFlags(&cfg.Keep), pluginFlags(cfg, "10m"))
}

// timeoutFlag limits one call, or every call of a plugin that is kept alive.
func timeoutFlag(cfg *runner.Config) *cmdline.Flag {
	return cmdline.Duration(&cfg.Timeouts.Call, "timeout", "limit a call to `DURATION`, 0 for no limit (default: 2m)").FromEnv("PYPLUG_TIMEOUT")
}

// openConfig adds the plugin, and the directory and environment of this process, to the
// configuration. It rejects flags that contradict each other.
func openConfig(cfg *runner.Config, plugin string) error {
	var err error
	if cfg.Cwd, err = os.Getwd(); err != nil && !filepath.IsAbs(plugin) {
		return cmdline.Usage("the current directory: %w", err)
	}
	cfg.Plugin, cfg.Environ = plugin, os.Environ()
	if cfg.Active && cfg.NoActive {
		return cmdline.Usage("--active and --no-active contradict each other")
	}
	return nil
}

// keepCategory is the heading of keepFlags in the help.
const keepCategory = "Kept alive"

// keepFlags returns the flags of every command that keeps a plugin alive. Some may be
// set by the environment: how many workers, how much of the machine they use and when
// they are restarted often depend on where pyplug runs.
func keepFlags(k *runner.Keep) cmdline.Flags {
	workers := cmdline.Count(&k.Workers, 1, runner.MaxWorkers, "workers", "run `N` worker processes, or auto: one for each core (default: 1)")
	workers.Parse, workers.Candidates = orAuto(workers.Parse, &k.Workers), []string{"auto"}
	memory := cmdline.Size(&k.MaxMemory, manifest.NoLimit, manifest.LeastMemory, 1<<62, "max-memory", "replace or kill workers that use more than `SIZE`, such as 512MB")
	return cmdline.InCategory(keepCategory,
		workers.FromEnv("PYPLUG_WORKERS"),
		cmdline.Count(&k.Concurrency, 1, runner.MaxConcurrency, "concurrency", "send a worker `N` calls at once (default: 1; a gRPC plugin: 100)").FromEnv("PYPLUG_CONCURRENCY"),
		cmdline.Switch(&k.Threads, "threads", "run plain functions in threads, as many as --concurrency"),
		cmdline.Count(&k.Queue, 1, 10_000_000, "queue", "let `N` calls wait for a worker (default: 1000)"),
		cmdline.Choice(&k.Restart, "restart", "restart policy: `POLICY` is no, on-failure or always", "no", "on-failure", "always").FromEnv("PYPLUG_RESTART"),
		cmdline.OrZero(&k.MaxFailures, manifest.NoLimit, cmdline.Count(&k.MaxFailures, 0, 1_000_000, "max-restarts", "give up after `N` failed starts in a row; 0 means never")),
		memory.FromEnv("PYPLUG_MAX_MEMORY"),
		cmdline.OrZero(&k.MaxCalls, manifest.NoLimit, cmdline.Count(&k.MaxCalls, 0, 1<<31-1, "max-calls", "replace workers after about `N` calls")),
		cmdline.Choice(&k.Preload, "preload", "fork workers from a preloaded process: `WHEN` is off, auto or force (default: auto, if that is safe)", "off", "auto", "force").FromEnv("PYPLUG_PRELOAD"),
	)
}

// orAuto accepts the word auto, too.
func orAuto(parse func(text string) error, to *int) func(text string) error {
	return func(text string) error {
		if text == "auto" {
			*to = runner.AutoWorkers
			return nil
		}
		if err := parse(text); err != nil {
			return fmt.Errorf("%w, or auto", err)
		}
		return nil
	}
}

const (
	grpcCategory = "gRPC plugins"
	// defaultMessage is --max-message when it is not given.
	defaultMessage = 64 << 20
)

// grpcFlags returns the flags for gRPC plugins of every command that starts a plugin.
func grpcFlags(g *runner.GRPC) cmdline.Flags {
	g.MaxMessage = defaultMessage
	const most = 1<<31 - 1 // of HTTP/2's framing by gRPC
	var mtls bool
	decides := func(f *cmdline.Flag) *cmdline.Flag { return f.Then(func() { g.Decides = "--" + f.Name }) }
	return cmdline.InCategory(grpcCategory,
		decides(cmdline.Choice(&g.Host, "host", "start it as `HOST` does: "+strings.Join(manifest.HostNames(), ", "), manifest.HostNames()...)),
		decides(cmdline.New("cookie", "set the magic cookie that the plugin's host sets, `KEY=VALUE`", func(text string) error {
			var ok bool
			if g.CookieKey, g.CookieValue, ok = strings.Cut(text, "="); !ok || g.CookieKey == "" {
				return fmt.Errorf("is %q, want KEY=VALUE", text)
			}
			return nil
		})),
		decides(cmdline.New("protocol-versions", "offer these protocol versions, `LIST` such as 1,2 (default: 1)", func(text string) error {
			return setVersions(&g.Versions, text)
		})),
		cmdline.Switch(&mtls, "mtls", "secure the connection as go-plugin's AutoMTLS does").Then(func() {
			if g.MTLS = &mtls; mtls {
				g.Decides = "--mtls"
			}
		}),
		cmdline.Size(&g.MaxMessage, 0, 1, most, "max-message", "limit messages to `SIZE`, such as 16MB (default: 64MB)"),
		cmdline.Name(&g.Service, "service", "ask for the health of the service `NAME` (default for a plugin: \"plugin\")"),
		cmdline.Texts(&g.Arguments, "arg", "pass the plugin the argument `VALUE`"),
		cmdline.Files(&g.Proto, "proto", "read the plugin's methods from `FILE`, a *_pb2.py"),
		cmdline.Files(&g.Protoset, "protoset", "read the plugin's methods from descriptors in `FILE`, as protoc -o writes it"),
	)
}

func setVersions(to *[]int, text string) error {
	*to = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 0 {
			return fmt.Errorf("is %q, want numbers separated by commas", text)
		}
		*to = append(*to, n)
	}
	return nil
}

// headerFlag takes metadata of requests, which it stores as pairs of name and value.
func headerFlag(to *[]string) *cmdline.Flag {
	f := cmdline.New("header", "send this metadata, `NAME=VALUE` or \"NAME: VALUE\"; base64 if the name ends in -bin", func(text string) error {
		name, value, err := runner.ParseHeader(text)
		*to = append(*to, name, value)
		return err
	}).Repeat()
	f.Category = grpcCategory
	return f.Alias("H")
}
