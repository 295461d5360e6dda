package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
)

// Open makes a plugin ready and returns its session, which the caller closes.
// When it fails, what it started is gone, and the session it returns all the
// same tells how far it came: its path, manifest and interpreter. The error is a
// [*hook.Error] of the kinds Usage, Interpreter, Start, Handshake, Unhealthy,
// Internal and Canceled, or of those of [Session.Call] when a bootstrap call
// failed. Cancelling ctx ends the start.
func Open(ctx context.Context, c Config) (*Session, error) {
	s := &Session{}
	var err error
	if s.plugin, err = manifest.Resolve(c.Plugin); err != nil {
		return s, fail(hook.Usage, err)
	}
	s.settings = settle(c, s.plugin)
	if s.settings.Dir, err = workDir(c, s.settings.Dir); err != nil {
		return s, fail(hook.Usage, err)
	}
	if s.settings.Transport != "pipe" || s.plugin.Kind == manifest.Executable {
		return s, fail(hook.Usage, &TransportError{Plugin: c.Plugin,
			Transport: s.settings.Transport, Executable: s.plugin.Kind == manifest.Executable})
	}
	env := environ(c, s.plugin.Manifest)
	if s.python, err = find(ctx, c, s.plugin, env); err != nil {
		return s, err
	}
	s.launcher = pyworker.New(pyworker.Config{
		Python:       s.python.Path,
		Plugin:       s.plugin.Entry,
		Env:          env,
		Dir:          s.settings.Dir,
		NaN:          c.NaN,
		Probe:        s.plugin.Manifest.Probe,
		Concurrency:  s.plugin.Manifest.Concurrency,
		StartTimeout: s.settings.Timeouts.Start,
		StopTimeout:  s.settings.Timeouts.Stop,
		Output:       c.Output,
		Debug:        c.Debug,
		DebugWire:    c.DebugWire,
	})
	s.debug = c.Debug
	s.state("starting")
	if s.inst, err = s.launcher.Launch(ctx); err != nil {
		s.state("failed")
		_ = s.launcher.Close(ctx) // it kept nothing that could fail to end
		return s, err
	}
	if err := s.calls(ctx, s.plugin.Manifest.Bootstrap); err != nil {
		s.state("failed")
		_ = s.inst.Stop(ctx) // the bootstrap's error is the one to tell
		_ = s.launcher.Close(ctx)
		return s, err
	}
	s.bootstrapped = true
	s.state("ready")
	return s, nil
}

// TransportError says that a plugin speaks what this pyplug does not: an
// executable's own protocol, or that of its transport.
type TransportError struct {
	Plugin, Transport string
	Executable        bool
}

// Error names the plugin, what it is, and what was wanted.
func (e *TransportError) Error() string {
	what := "has the transport " + strconv.Quote(e.Transport)
	if e.Executable {
		what = "is an executable"
	}
	return e.Plugin + " " + what + ", want a Python file or package whose functions are called"
}

// workDir settles the plugin's working directory: the caller's unless another
// was named. A process that cannot enter it would be told as a broken Python.
func workDir(c Config, dir string) (string, error) {
	if dir == "" {
		return c.Cwd, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Cwd, dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("working directory: %s is not a directory", dir)
	}
	return dir, nil
}

// environ is the plugin's environment: ours, then the manifest's, then flags'.
func environ(c Config, m manifest.Manifest) []string {
	set := make([]string, 0, len(m.Env)+len(c.Env))
	for k, v := range m.Env {
		set = append(set, k+"="+v)
	}
	return proc.Environ(c.Environ, c.CleanEnv, append(set, c.Env...))
}

// find chooses the interpreter.
func find(ctx context.Context, c Config, p manifest.Plugin, env []string) (interp.Interpreter, error) {
	m := p.Manifest
	r := interp.Request{
		Flag:        c.Python,
		Manifest:    m.Python,
		ManifestDir: m.Dir,
		Dirs:        p.Dirs,
		EnvNames:    m.EnvNames(),
		Environ:     c.Environ,
		Cwd:         or(c.Cwd, string(filepath.Separator)), // it may have been deleted
		Run: func(ctx context.Context, path string, args []string) ([]byte, error) {
			return ask(ctx, Tool{Path: path, Args: args, Env: env})
		},
	}
	for _, q := range p.Requires {
		r.Requires = append(r.Requires, interp.Requirement(q))
	}
	found, err := interp.Find(ctx, r)
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return found, fail(hook.Canceled, context.Cause(ctx))
	}
	e := fail(hook.Interpreter, err)
	if none := (*interp.NotFoundError)(nil); errors.As(err, &none) {
		for _, a := range none.Tried {
			e.Tried = append(e.Tried, a.String())
		}
	}
	return found, e
}

// ask runs a Python that is to say its version. What it complains about is part
// of the error.
func ask(ctx context.Context, t Tool) ([]byte, error) {
	out, err := RunTool(ctx, t)
	if err == nil && (out.Exit.Code != 0 || out.Exit.Signal != "") {
		err = &interp.EndedError{Path: t.Path, Code: out.Exit.Code, Signal: out.Exit.Signal, Said: string(bytes.TrimSpace(out.Stderr))}
	}
	return out.Stdout, err
}

// Tool is a program to run to its end. See [proc.Tool].
type Tool = proc.Tool

// RunTool runs a tool, bounded in time and output, and leaves nothing of it.
func RunTool(ctx context.Context, t Tool) (proc.Output, error) { return proc.Run(ctx, t) }

// Shutdown ends what this process keeps for all its sessions. It comes after
// the last [Session.Close].
func Shutdown() { proc.Close() }

// Lacks says what cannot be had on this system, empty when nothing.
func Lacks() string { return proc.Lacks() }
