package runner

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/proc"
)

// The defaults of [Timeouts].
const (
	DefaultCall      = 2 * time.Minute
	DefaultImport    = 10 * time.Minute
	DefaultHandshake = 30 * time.Second
	DefaultStop      = 5 * time.Second
	DefaultProbe     = 2 * time.Second
)

// Config says what to open and how. A field with its zero value takes the value of the
// manifest, else the default. Config is copied and never written to: [Opened.Config] is a copy
// with these values.
type Config struct {
	// Plugin is the path as typed.
	Plugin string
	// Python is an interpreter, environment, name or version, as typed.
	Python string
	// Active prefers an activated environment to the plugin's own; NoActive ignores it.
	Active, NoActive bool
	// Untrusted prevents the start of programs that files of the plugin's project choose.
	// It is for callers that read a plugin and do not start it.
	Untrusted bool
	// Transport is "pipe" or "grpc".
	Transport string
	// Environ is the caller's environment, Cwd its working directory.
	Environ []string
	Cwd     string
	// Env sets variables of the plugin ("K=V"). With CleanEnv, "K" passes one on.
	Env      []string
	CleanEnv bool
	// Dir is the plugin's working directory.
	Dir string
	// NaN is "error", "null" or "literal".
	NaN string
	// NoConvert disables the conversion of arguments by annotations.
	NoConvert bool
	Timeouts  Timeouts
	// DefaultStart is the default timeout of an import; 0 means
	// DefaultImport. The default of a handshake is always DefaultHandshake.
	DefaultStart time.Duration
	GRPC         GRPC
	// Once starts one worker that is never restarted, whatever Keep and the manifest say.
	// It is for commands that make a call or two.
	Once bool
	// Keep says how the plugin is kept alive.
	Keep Keep
	// Started receives the facts about each process that is ready. Observe receives the
	// evidence of each start of a gRPC plugin, even if it failed. Both may be nil, and
	// must not block.
	Started func(hook.Info)
	Observe func(Evidence)
	// Output receives what the plugin prints, a line at a time; nil discards
	// it. Several processes may call it at once, each with one line at a time.
	Output func(stream, text string, cut int)
	// Debug receives what happens, for a developer; nil discards it. The areas are
	// those of DebugAreas.
	Debug func(area, text string)
	// DebugWire asks for every frame, which costs time.
	DebugWire bool
}

// DebugAreas lists the areas of [Config.Debug].
func DebugAreas() []string { return []string{"wire", "proc", "state", "grpc", "go-plugin"} }

// Timeouts bound the waits. Zero is not set.
type Timeouts = manifest.Timeouts

// with applies flag, manifest and default, in this order, to all but what the transport decides.
func (c Config) with(m manifest.Manifest) Config {
	t := &c.Timeouts
	t.Start = cmp.Or(t.Start, m.Timeouts.Start)
	t.Call = cmp.Or(t.Call, m.Timeouts.Call, DefaultCall)
	t.Stop = cmp.Or(t.Stop, m.Timeouts.Stop, DefaultStop)
	t.Probe = cmp.Or(t.Probe, m.Timeouts.Probe)
	c.GRPC.HealthTimeout = t.Probe // its default is longer: it is for the first answer
	t.Probe = cmp.Or(t.Probe, DefaultProbe)
	c.Dir = cmp.Or(c.Dir, m.Cwd)
	c.NoConvert = c.NoConvert || m.Convert != nil && !*m.Convert
	return c
}

// MaxConcurrency is the maximum number of concurrent calls in one worker.
const MaxConcurrency = 65536

// MaxWorkers is the maximum number of workers of a plugin.
const MaxWorkers = 1024

// AutoWorkers is as many workers as there are cores.
const AutoWorkers = -1

// manyCalls is the default concurrency of a gRPC plugin, which has its own queue.
const manyCalls = 100

// Keep says how a plugin is kept alive. A field with its zero value takes the value of the
// manifest, else the default. A negative limit means no limit, whatever the manifest says.
//
// Only the pool options that flags and manifests can set are read. The defaults are those of
// [pool.Options] with two exceptions: Restart is [pool.Always], and Concurrency is 100 for a
// gRPC plugin, whose server queues calls by itself. Workers may be [AutoWorkers]. A worker
// that uses more than MaxMemory is killed; from four fifths of it on, it is replaced between
// calls.
type Keep struct {
	pool.Options
	// Threads runs the plain functions of one worker in threads, as many at once
	// as Concurrency says. It is for functions files alone.
	Threads bool
	// Preload is "off", "auto" or "force"; by default "auto".
	Preload string
	// DefaultConcurrency and DefaultMaxFailures are the defaults of Concurrency, for
	// functions files, and of MaxFailures.
	DefaultConcurrency, DefaultMaxFailures int
	// Jobs is the number of calls that are made at once, or 0. If Workers is not set, a
	// functions file gets as many workers as these calls need; with Threads, one worker
	// for all of them.
	Jobs int
}

// resolveKeep applies flag, manifest and default, in this order. It drops limits of the
// manifest that this system cannot enforce, and returns them as lacks. serves is that of the
// [Transport].
func resolveKeep(k Keep, m manifest.Manifest, serves bool) (resolved Keep, lacks string, err error) {
	asked, usual, jobs := k.MaxMemory > 0, max(1, k.DefaultConcurrency), k.Jobs
	k.Preload = cmp.Or(k.Preload, m.Preload, "auto")
	switch {
	case serves && k.Threads:
		return k, "", errors.New("--threads applies only to functions files; the server of a gRPC plugin has its own threads")
	case serves && k.Preload == "force":
		return k, "", errors.New("preload applies only to functions files, and this is a gRPC plugin")
	case serves:
		usual, jobs, k.Preload = manyCalls, 0, "off"
	case k.Threads:
		usual = max(usual, jobs)
	}
	k.Concurrency = cmp.Or(k.Concurrency, m.Concurrency, usual)
	k.Workers = cmp.Or(k.Workers, m.Workers, min((jobs+k.Concurrency-1)/k.Concurrency, MaxWorkers), 1)
	if k.Workers == AutoWorkers {
		k.Workers = runtime.GOMAXPROCS(0)
	}
	k.Restart = cmp.Or(k.Restart, m.Restart.Policy, pool.Always)
	k.MaxFailures = max(0, cmp.Or(k.MaxFailures, m.Restart.Max, k.DefaultMaxFailures))
	k.Backoff = cmp.Or(k.Backoff, m.Restart.Backoff)
	k.BackoffMax = cmp.Or(k.BackoffMax, m.Restart.BackoffMax)
	k.HealthyAfter = cmp.Or(k.HealthyAfter, m.Restart.HealthyAfter)
	k.MaxMemory = max(0, cmp.Or(k.MaxMemory, m.Limits.Memory))
	k.MaxCalls = max(0, cmp.Or(k.MaxCalls, m.Limits.Calls))
	k.MaxAge = max(0, cmp.Or(k.MaxAge, m.Limits.Age))
	err = proc.CheckMaxMemory(k.MaxMemory)
	if errors.Is(err, errors.ErrUnsupported) && !asked {
		k.MaxMemory = 0
		return k, err.Error(), nil
	}
	return k, "", err
}

// once returns the settings of one worker that is never restarted.
func (k Keep) once() Keep {
	k.Workers, k.Restart, k.Preload = 1, pool.No, "off"
	k.MaxCalls, k.MaxAge = 0, 0
	return k
}

// workDir resolves the plugin's working directory: the caller's unless another was
// named. A process that cannot enter it would look like a broken Python.
func workDir(c Config, dir string) (string, error) {
	if dir == "" {
		return c.Cwd, nil
	}
	dir = inDir(c.Cwd, dir)
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("working directory: %s is not a directory", dir)
	}
	return dir, nil
}

// inDir returns a path relative to a directory, unless it is absolute.
func inDir(dir, path string) string {
	if filepath.IsAbs(path) || dir == "" {
		return path
	}
	return filepath.Join(dir, path)
}

// environ is the plugin's environment: ours, then the manifest's, then flags'.
func environ(c Config, m manifest.Manifest) []string {
	set := make([]string, 0, len(m.Env)+len(c.Env))
	for k, v := range m.Env {
		set = append(set, k+"="+v)
	}
	return proc.Environ(c.Environ, c.CleanEnv, append(set, c.Env...))
}
