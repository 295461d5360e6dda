package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/settings"
)

// Config says which plugin to open and how. It is copied and never modified: [Plan] contains a copy
// with the effective settings.
type Config struct {
	// Settings are the settings of flags and variables. The manifest comes next in precedence, then
	// Defaults, then the defaults in the table of settings.
	settings.Settings
	Defaults settings.Settings
	// Several says that the settings are for several plugins. A setting that does not apply to the
	// transport of this plugin is ignored, and does not choose the transport.
	Several bool
	// Plugin is the path as typed.
	Plugin string
	// Active prefers an activated environment to the plugin's own. NoActive ignores it.
	Active, NoActive bool
	// Untrusted prevents the start of programs that files of the plugin's project choose. It is for
	// callers that read a plugin and do not start it.
	Untrusted bool
	// Environ is the caller's environment, and Cwd its working directory.
	Environ []string
	Cwd     string
	// Once starts one worker that is never restarted, whatever the settings say.
	// It is for commands that make a call or two.
	Once bool
	// Jobs is the number of concurrent calls, or 0. If nothing sets Workers, a functions file gets
	// enough workers for these calls, or with Threads one worker for all of them.
	Jobs int
	// Patient, Await, Events and Note have the same meaning as in [pool.Options]. ProbeEvery is the
	// interval of probes, or 0 for the pool's default.
	Patient    bool
	ProbeEvery time.Duration
	Await      func(ctx context.Context, inst hook.Instance) error
	Events     func(hook.Event)
	Note       func(text string)
	// AnyHealth accepts a gRPC plugin whatever its health service answers. NoCookie sets no cookie,
	// whatever the settings say.
	AnyHealth, NoCookie bool
	// Output receives the plugin's output line by line. A nil Output discards it. Several processes
	// may call it at once, each with one line at a time.
	Output func(stream, text string, cut int)
	// Debug receives messages for developers. A nil Debug discards them. The areas are listed by
	// DebugAreas.
	Debug func(area, text string)
	// DebugWire reports every frame to Debug, which costs time.
	DebugWire bool
}

// DebugAreas lists the areas of [Config.Debug].
func DebugAreas() []string { return []string{"wire", "proc", "state", "grpc", "go-plugin"} }

// decides returns the flag that makes the plugin a gRPC plugin, or "".
func (c Config) decides() string {
	if c.Several {
		return ""
	}
	return c.Deciding()
}

// once contains the settings of one worker that is never restarted.
var once = settings.Settings{Workers: 1, Restart: settings.Restart{Policy: settings.No}, Preload: "off",
	Limits: settings.Limits{Calls: settings.NoLimit, Age: settings.NoLimit}}

// settingsOf returns the effective settings of a plugin after its transport was chosen. It drops a
// limit of the manifest that this system cannot enforce, and returns that limit as lacks.
func settingsOf(c Config, m manifest.Manifest, transport string) (s settings.Settings, lacks string, err error) {
	first, usual := settings.Settings{}, settings.Settings{}
	if c.Once {
		first = once
	}
	first.Transport = transport
	serves, jobs := TransportOf(transport).Serves, c.Jobs
	switch {
	case serves:
		usual, jobs = settings.ServerDefaults(), 0
	case c.Threads == settings.On:
		usual.Concurrency = jobs
	}
	s = settings.Resolve(first, c.Settings, settings.Hosts[c.Host].Settings, m.Settings, settings.Hosts[m.Host].Settings,
		usual, c.Defaults, settings.Defaults())
	if cmp.Or(first.Workers, c.Workers, m.Workers) == 0 {
		s.Workers = max(1, min((jobs+s.Concurrency-1)/s.Concurrency, settings.MaxWorkers))
	}
	if s.Workers == settings.Auto {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	if serves {
		if s.Preload == "force" {
			return s, "", errors.New("preload applies only to functions files, and this is a gRPC plugin")
		}
		s.Preload = "off"
	}
	err = proc.CheckMaxMemory(max(0, s.Limits.Memory))
	if errors.Is(err, errors.ErrUnsupported) && c.Limits.Memory == 0 {
		s.Limits.Memory = settings.NoLimit
		return s, err.Error(), nil
	}
	return s, "", err
}

// workDir resolves the plugin's working directory. The default is the caller's. It checks the
// directory, because a process that cannot enter it would look like a broken Python.
func workDir(c Config, dir string) (string, error) {
	if dir == "" {
		return c.Cwd, nil
	}
	dir = InDir(c.Cwd, dir)
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("working directory: %s is not a directory", dir)
	}
	return dir, nil
}

// InDir joins a relative path to a directory. It returns an absolute path unchanged.
func InDir(dir, path string) string {
	if filepath.IsAbs(path) || dir == "" {
		return path
	}
	return filepath.Join(dir, path)
}

// environ returns the plugin's environment: pyplug's own, then the variables of the manifest, then
// those of flags.
func environ(c Config, m manifest.Manifest) []string {
	return proc.Environ(c.Environ, c.CleanEnv == settings.On, slices.Concat(m.Env, c.Env))
}
