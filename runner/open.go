package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
)

// Open prepares a plugin and starts it, see [Prepare] and [Session.Start]. The
// session it returns is closed by the caller; when Open fails, nothing of the
// plugin is left, and the session it returns all the same tells how far it came.
func Open(ctx context.Context, c Config) (*Session, error) {
	s, err := Prepare(ctx, c)
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		_ = s.Close(ctx) // the first error is the one to tell
	}
	return s, err
}

// Prepare settles all that can be settled without starting the plugin: its
// path, manifest, interpreter and transport. The session is never nil, and tells
// how far it came. The error is a [*hook.Error] of the kinds Usage, Interpreter
// and Canceled. Ending ctx leaves it, also where a file that it reads never ends.
func Prepare(ctx context.Context, c Config) (*Session, error) {
	s, err := hook.Interruptible(ctx, func() (*Session, error) { return prepare(ctx, c) })
	if s == nil {
		s = &Session{config: c}
	}
	return s, err
}

func prepare(ctx context.Context, c Config) (*Session, error) {
	s := &Session{config: c}
	var err error
	began := time.Now()
	s.plugin, err = manifest.Resolve(c.Plugin)
	if s.resolved = time.Since(began); err != nil {
		return s, fail(hook.Usage, err)
	}
	s.settings = settle(c, s.plugin)
	if s.settings.Dir, err = workDir(c, s.settings.Dir); err != nil {
		return s, fail(hook.Usage, err)
	}
	s.environ = environ(c, s.plugin.Manifest)
	if s.plugin.Kind == manifest.Executable {
		s.settings.Transport, s.settings.Why = s.chooseTransport()
		if s.settings.Transport != "grpc" {
			return s, fail(hook.Usage, &TransportError{Plugin: c.Plugin, Transport: s.settings.Transport})
		}
		if c.Python != "" {
			return s, fail(hook.Usage, fmt.Errorf("%s is an executable, which chooses its Python itself: want no --python", c.Plugin))
		}
		s.scripted = shebangPython(ctx, c, s.plugin, s.environ)
	} else {
		if s.python, err = find(ctx, c, s.plugin, s.environ); err != nil {
			return s, err
		}
		s.settings.Transport, s.settings.Why = s.chooseTransport()
	}
	if s.keep, s.lacks, err = settleKeep(c.Keep, s.plugin.Manifest, s.settings.Transport == "grpc"); err != nil {
		return s, fail(hook.Usage, err)
	}
	start := &s.settings.Timeouts.Start
	if s.settings.Transport == "grpc" {
		*start = or(*start, DefaultHandshake)
		s.launcher, err = s.grpcLauncher()
		return s, err
	}
	*start = or(*start, c.DefaultStart, DefaultImport)
	s.launcher = s.pipeLauncher("off")
	return s, nil
}

// pipeLauncher makes the launcher of a functions file. Preload is of no use to
// one worker that is never started again.
func (s *Session) pipeLauncher(preload string) hook.Launcher {
	return pyworker.New(pyworker.Config{
		Python:       s.python.Path,
		Plugin:       s.plugin.Entry,
		Env:          s.environ,
		Dir:          s.settings.Dir,
		NaN:          s.config.NaN,
		Probe:        s.plugin.Manifest.Probe,
		Concurrency:  s.keep.Concurrency,
		Threads:      s.keep.Threads,
		Preload:      preload,
		Note:         s.keep.Note,
		StartTimeout: s.settings.Timeouts.Start,
		StopTimeout:  s.settings.Timeouts.Stop,
		Limits:       s.keep.limits(),
		Output:       s.output,
		Debug:        s.config.Debug,
		DebugWire:    s.config.DebugWire,
	})
}

// Start launches the plugin and makes the manifest's bootstrap calls. The error
// is a [*hook.Error] of the kinds Interpreter, Start, Handshake, Unhealthy,
// Internal and Canceled, or of those of [Session.Call] when a bootstrap call
// failed: then the plugin runs until [Session.Close]. Cancelling ctx ends the
// start. It is called once, on a session that [Prepare] returned without an
// error, and comes before all other methods that ask the plugin.
func (s *Session) Start(ctx context.Context) error {
	if s.launcher == nil || s.inst != nil {
		return fail(hook.Internal, errors.New("a session is started once, when it is prepared"))
	}
	s.state("starting")
	var err error
	if s.inst, err = s.launcher.Launch(ctx); err != nil {
		s.state("failed")
		s.inst = nil
		_ = s.launcher.Close(ctx) // it kept nothing that could fail to end
		return err
	}
	s.grpc, _ = s.inst.(*grpcplugin.Instance) // nil for a functions file
	if err := s.calls(ctx, s.plugin.Manifest.Bootstrap); err != nil {
		s.state("failed")
		return err
	}
	s.bootstrapped = true
	s.state("ready")
	return nil
}

// output passes on what the plugin prints, of however many processes it comes.
func (s *Session) output(stream, text string, cut int) {
	if s.config.Output == nil {
		return
	}
	s.printing.Lock()
	defer s.printing.Unlock()
	s.config.Output(stream, text, cut)
}

// TransportError says that an executable is to be spoken to in a way that only
// Python files know.
type TransportError struct{ Plugin, Transport string }

// Error names the plugin, what it is, and what was wanted.
func (e *TransportError) Error() string {
	return e.Plugin + " is an executable, want the transport \"grpc\" for it and not " + strconv.Quote(e.Transport)
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

// shebangPython is the Python of an executable that is a Python script; the zero
// one for other programs, and where that cannot be told.
func shebangPython(ctx context.Context, c Config, p manifest.Plugin, env []string) interp.Interpreter {
	words := strings.Fields(p.Shebang)
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") })
	}
	if len(words) == 0 {
		return interp.Interpreter{}
	}
	python, err := interp.Find(ctx, request(Config{Python: words[0], Environ: c.Environ, Cwd: c.Cwd}, manifest.Plugin{}, env))
	if err != nil {
		return interp.Interpreter{}
	}
	return python
}

// find chooses the interpreter.
func find(ctx context.Context, c Config, p manifest.Plugin, env []string) (interp.Interpreter, error) {
	found, err := interp.Find(ctx, request(c, p, env))
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return found, fail(hook.Canceled, context.Cause(ctx))
	}
	e := fail(hook.Interpreter, err)
	if none := (*interp.Error)(nil); errors.As(err, &none) {
		for _, a := range none.Tried {
			e.Tried = append(e.Tried, a.String())
		}
	}
	return found, e
}

// request is what is wanted of an interpreter.
func request(c Config, p manifest.Plugin, env []string) interp.Request {
	m := p.Manifest
	r := interp.Request{
		Flag:        c.Python,
		Manifest:    m.Python,
		ManifestDir: m.Dir,
		Dirs:        p.Dirs,
		EnvNames:    m.EnvNames(),
		Environ:     c.Environ,
		Cwd:         or(c.Cwd, string(filepath.Separator)), // it may have been deleted
		Run: func(ctx context.Context, path string, args []string) ([]byte, string, error) {
			return ask(ctx, Tool{Path: path, Args: args, Env: env})
		},
	}
	for _, q := range p.Requires {
		r.Requires = append(r.Requires, interp.Requirement(q))
	}
	return r
}

// ask runs a Python that is to say its version, see [interp.RunFunc].
func ask(ctx context.Context, t Tool) (stdout []byte, stderr string, err error) {
	out, err := RunTool(ctx, t)
	switch {
	case err != nil:
	case out.Exit.Signal != "":
		err = errors.New(out.Exit.Signal)
	case out.Exit.Code != 0:
		err = fmt.Errorf("exit code %d", out.Exit.Code)
	}
	return out.Stdout, string(out.Stderr), err
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
