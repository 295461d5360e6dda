package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
	"github.com/pyplug/pyplug/runner/settings"
)

// Program describes how to start a gRPC plugin.
type Program = grpcplugin.Config

// Evidence records what a gRPC plugin did while it started.
type Evidence = grpcplugin.Evidence

// exited reports whether a process has exited, even if children of a gRPC plugin still run.
func exited(inst hook.Instance) bool {
	g, _ := inst.(*grpcplugin.Instance) // nil for other transports
	return g != nil && g.Exited() || hook.IsClosed(inst.Done())
}

// server is a gRPC plugin, a program that serves its hooks itself.
type server struct {
	plan.Plan
	program Program // its Output is set for each launcher
	seen    atomic.Pointer[Evidence]
}

// openServer opens a gRPC plugin.
func openServer(r plan.Plan) (transport, error) {
	s := &server{Plan: r}
	var err error
	s.program, err = grpcConfig(&s.Plan)
	s.program.Observe = func(seen Evidence) { s.seen.Store(&seen) }
	return s, err
}

// evidenceOf returns the evidence of a gRPC plugin's newest start, even if that failed. It returns
// the zero value for other plugins.
func evidenceOf(t transport) Evidence {
	if s, ok := t.(*server); ok && s.seen.Load() != nil {
		return *s.seen.Load()
	}
	return Evidence{}
}

// programOf returns how to start a gRPC plugin. It returns the zero value for other plugins.
func programOf(t transport) Program {
	if s, ok := t.(*server); ok {
		return s.program
	}
	return Program{}
}

func (s *server) launcher() hook.Launcher {
	c := s.program
	c.Output = s.Config.Output
	return grpcplugin.New(c)
}

func (s *server) watched() []string {
	scripts, _, _ := s.Source()
	if len(scripts) == 0 {
		return nil
	}
	return pysrc.Files(filepath.Dir(scripts[0]))
}

func (s *server) debug(hook.Call) error {
	e := hook.NewError(hook.Usage, errors.New("--pdb does not apply to a gRPC plugin, which runs its own server"))
	e.Hints = schema.Hints("use a debugger that listens; %s shows how", schema.Command{"help", "debugging"})
	return e
}

func (s *server) takesSeries() bool { return false }

// sourceHooks returns the methods in the plugin's descriptors.
func (s *server) sourceHooks(ctx context.Context) []schema.Hook {
	found, _ := hook.Interruptible(ctx, func() ([]schema.Hook, error) {
		sources := s.program.Extra
		if s.program.Sources != nil {
			own, err := s.program.Sources()
			if err != nil {
				return nil, err
			}
			sources = append(own, sources...)
		}
		set, err := protoschema.MergeDescriptors(sources...)
		if err != nil {
			return nil, err
		}
		return set.Schema(schema.Query{Input: true}).Hooks, nil
	})
	return found
}

// grpcConfig returns how to start a gRPC plugin. An error is of kind Usage.
func grpcConfig(r *plan.Plan) (Program, error) {
	c := r.Config
	cfg := Program{
		Path:          r.Plugin.Entry,
		Env:           r.Environ,
		Dir:           r.Dir,
		Versions:      c.ProtocolVersions,
		MTLS:          c.MTLS == settings.On,
		StartTimeout:  c.Timeouts.Start,
		HealthTimeout: r.FirstProbe,
		StopTimeout:   c.Timeouts.Stop,
		MaxMemory:     max(0, c.Limits.Memory),
		Service:       cmp.Or(c.Service, c.Probe),
		AnyHealth:     c.AnyHealth,
		MaxMessage:    int(c.MaxMessage),
		Debug:         c.Debug,
	}
	var err error
	if cfg.Extra, err = plan.DescribedBy(c); err != nil {
		return cfg, err
	}
	if !c.NoCookie {
		cfg.CookieKey, cfg.CookieValue, _ = strings.Cut(c.Cookie, "=")
	}
	for _, text := range c.Header {
		name, value, err := settings.ParseHeader(text)
		if err != nil {
			return cfg, err
		}
		cfg.Metadata = append(cfg.Metadata, name, value)
	}
	if r.Python.Path != "" {
		cfg.Sources, cfg.Cookie, cfg.Logs = r.PB2Sources, r.ShownCookie, sync.OnceValue(r.SetsUpLogging)
	}
	if cfg.Python = r.Plugin.Shebang != ""; r.Plugin.Kind != manifest.Executable {
		cfg.Python, cfg.Path, cfg.Missing = true, r.Python.Path, r.MissingHints
		if cfg.Args, err = pythonArgs(r); err != nil {
			return cfg, err
		}
	}
	cfg.Args = append(cfg.Args, c.Args...)
	return cfg, nil
}

// asPackage runs a package or a module as python -m does, but from any directory. It changes
// sys.path before it imports anything from a file, because Python would search the working
// directory.
const asPackage = `import sys
sys.path[0], last, name = sys.argv[1:4]
if last:
    sys.path.append(last)
del sys.argv[1:4]
import runpy
runpy.run_module(name, run_name="__main__", alter_sys=True)`

// pythonArgs returns the arguments with which Python runs the plugin as a program.
func pythonArgs(r *plan.Plan) ([]string, error) {
	p, place := r.Plugin, r.Place()
	if place.Name == "" {
		return []string{p.Entry}, nil
	}
	if _, err := os.Stat(filepath.Join(p.Entry, "__main__.py")); p.Module == "" && p.Kind == manifest.Package && errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no __main__.py, expected one in a package that is a gRPC plugin", p.Path)
	}
	return []string{"-c", asPackage, place.First, place.Last, place.Name}, nil
}
