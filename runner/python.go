package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/env"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
)

// Variable is an environment variable that concerns Python, and its effect.
type Variable struct{ Name, Value, Effect string }

// Decision says how the Python is chosen.
type Decision struct {
	interp.Decision
	Variables []Variable
}

// Explain says how the Python is chosen for c.Plugin, or without one for c.Cwd. It starts
// nothing, whatever the plugin is. The error is a [*hook.Error]. If no Python was chosen,
// the decision says why, and Explain returns no error.
func Explain(ctx context.Context, c Config) (Decision, error) {
	return hook.Interruptible(ctx, func() (d Decision, err error) {
		r, p, environ, err := pythonRequest(c)
		if err != nil {
			return d, err
		}
		if env.SourceOf(p.Entry, p.Project.Dirs).Kind == "" {
			r.Sync = ""
		}
		if d.Decision, err = interp.Explain(ctx, r); err != nil {
			return d, hook.NewError(hook.Canceled, context.Cause(ctx))
		}
		d.Variables = variables(c, environ)
		return d, nil
	})
}

// FindPython returns the Python that a start of c.Plugin would use. If c.Plugin is empty, it
// is that of c.Cwd. The error is a [*hook.Error].
func FindPython(ctx context.Context, c Config) (interp.Interpreter, error) {
	return hook.Interruptible(ctx, func() (interp.Interpreter, error) {
		r, _, _, err := pythonRequest(c)
		if err != nil {
			return interp.Interpreter{}, err
		}
		return findBy(ctx, r)
	})
}

// IsPlugin reports whether c.Plugin is a plugin whose Python pyplug chooses.
func IsPlugin(ctx context.Context, c Config) bool {
	_, err := hook.Interruptible(ctx, func() (none struct{}, err error) {
		_, _, _, err = pythonRequest(c)
		return none, err
	})
	return err == nil
}

// Pythons lists the Pythons of this machine, see [interp.List].
func Pythons(ctx context.Context, c Config) ([]interp.Interpreter, error) {
	r := request(c, manifest.Plugin{Dirs: []string{c.Cwd}}, nil)
	all, err := hook.Interruptible(ctx, func() ([]interp.Interpreter, error) { return interp.List(ctx, r) })
	if err != nil {
		return nil, hook.NewError(hook.Canceled, context.Cause(ctx))
	}
	return all, nil
}

// pythonRequest returns the request for the Python of c.Plugin, which may be empty, with the
// plugin and its environment.
func pythonRequest(c Config) (interp.Request, manifest.Plugin, []string, error) {
	p, err := manifest.Plugin{Dirs: []string{c.Cwd}}, error(nil)
	if c.Plugin != "" {
		p, err = findPlugin(c)
	} else {
		p.Project = interp.FindProject(p.Dirs, c.Environ)
		p.Requires = manifest.Requires(p.Project.Dirs)
	}
	if err != nil {
		return interp.Request{}, p, nil, hook.NewError(hook.Usage, err)
	}
	env := environ(c, p.Manifest)
	if p.Kind != manifest.Executable {
		return request(c, p, env), p, env, nil
	}
	r, ok := shebangRequest(c, p, env)
	if !ok {
		return interp.Request{}, p, nil, hook.NewError(hook.Usage, fmt.Errorf("%s is a program, which chooses its Python itself", c.Plugin))
	}
	return r, p, env, nil
}

// findPlugin finds c.Plugin and every requires-python of its project.
func findPlugin(c Config) (manifest.Plugin, error) {
	from, err := workDir(c, c.Dir)
	if err != nil {
		return manifest.Plugin{}, err
	}
	p, err := manifest.Resolve(c.Plugin, from)
	if err != nil {
		return p, err
	}
	p.Project = interp.FindProject(p.Dirs, c.Environ)
	p.Requires = append(p.Requires, manifest.Requires(p.Project.Dirs[len(p.Dirs):])...)
	if isFunctions(c, p) {
		p.Kind = manifest.File
	}
	return p, nil
}

// pythonVariables are the variables of the caller that concern Python, with their effects.
var pythonVariables = []Variable{
	{Name: "PYPLUG_PYTHON", Effect: "names the Python, unless --python does"},
	{Name: "VIRTUAL_ENV", Effect: "is the activated environment"},
	{Name: "CONDA_PREFIX", Effect: "is the activated environment of conda"},
	{Name: "UV_PROJECT_ENVIRONMENT", Effect: "names the environment of a project of uv"},
	{Name: "POETRY_VIRTUALENVS_PATH", Effect: "says where poetry keeps environments"},
	{Name: "PYENV_VERSION", Effect: "selects what pyenv's shims start"},
	{Name: "PYTHONPATH", Effect: "kept: its directories come before the installed packages"},
	{Name: "PYTHONHOME"}, {Name: "PYTHONEXECUTABLE"}, {Name: "__PYVENV_LAUNCHER__"},
	{Name: "PYTHONSTARTUP"}, {Name: "PYTHONNOUSERSITE"}, {Name: "PYTHONUSERBASE"},
}

// variables returns the variables of the caller that concern Python. env is the plugin's environment.
func variables(c Config, env []string) (all []Variable) {
	for _, v := range pythonVariables {
		v.Value = valueIn(c.Environ, v.Name)
		switch {
		case v.Value == "":
			continue
		case valueIn(env, v.Name) == "" && (v.Effect == "" || v.Name == "PYTHONPATH"):
			v.Effect = "removed: it would lead Python elsewhere"
		case v.Effect == "":
			v.Effect = "kept"
		}
		all = append(all, v)
	}
	return all
}

// valueIn returns the last value of a variable in an environment, or "".
func valueIn(environ []string, name string) (value string) {
	for _, entry := range environ {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			value = text
		}
	}
	return value
}

// shebangRequest is a request for the Python of an executable that is a Python script.
func shebangRequest(c Config, p manifest.Plugin, env []string) (interp.Request, bool) {
	r := request(Config{Python: p.Shebang, Environ: c.Environ, Cwd: c.Cwd}, manifest.Plugin{}, env)
	if c.Untrusted {
		r.Run = nil
	}
	return r, p.Shebang != ""
}

// MayRun returns an error if the plugin was opened with [Config.Untrusted] and files of its
// project choose its Python.
func (o *Opened) MayRun() error {
	switch {
	case !o.config.Untrusted:
	case o.python.OfProject:
		return fmt.Errorf("the plugin's directory chooses %s (%s)", o.python.Path, o.python.Source)
	case len(o.plugin.Manifest.Env) > 0: // LD_PRELOAD, PYTHONPATH and the like
		return fmt.Errorf("%s sets variables for %s", o.plugin.Manifest.File, o.python.Path)
	}
	return nil
}

// reader returns a Python that may read the plugin's source, with its environment: the
// plugin's own if MayRun allows it, else one of the user or the system.
func (o *Opened) reader(ctx context.Context) (path string, vars []string, err error) {
	if o.MayRun() == nil {
		return o.python.Path, o.environ, nil
	}
	own := Config{Environ: o.config.Environ, Untrusted: true}
	found, err := interp.Find(ctx, request(own, manifest.Plugin{}, nil))
	return found.Path, environ(own, manifest.Manifest{}), err
}

// findBy chooses the interpreter.
func findBy(ctx context.Context, r interp.Request) (interp.Interpreter, error) {
	found, err := interp.Find(ctx, r)
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return found, hook.NewError(hook.Canceled, context.Cause(ctx))
	}
	return found, PythonError(err)
}

// PythonError converts an error of interp to a [*hook.Error].
func PythonError(err error) *hook.Error {
	e := hook.NewError(hook.Interpreter, err)
	if none := (*interp.Error)(nil); errors.As(err, &none) {
		for _, a := range none.Tried {
			e.Tried = append(e.Tried, a.String())
		}
	}
	return e
}

// request returns the request for an interpreter.
func request(c Config, p manifest.Plugin, vars []string) interp.Request {
	m := p.Manifest
	if c.Untrusted { // the variables of a manifest are untrusted, too
		vars = environ(c, manifest.Manifest{})
	}
	var synced env.Record
	if cache, err := env.Cache(); err == nil && p.Entry != "" {
		synced = env.Lookup(cache, p.Entry, p.Project.Dirs)
	}
	return interp.Request{
		Synced: synced.Dir, Outdated: synced.Stale, Sync: syncLine(p, synced.Dir, c.Python),
		Flag:        c.Python,
		Active:      c.Active,
		NoActive:    c.NoActive,
		Requires:    p.Requires,
		Manifest:    m.Python,
		ManifestDir: m.Dir,
		Entry:       p.Entry,
		Dirs:        p.Dirs,
		Project:     p.Project,
		Environ:     c.Environ,
		Cwd:         cmp.Or(c.Cwd, string(filepath.Separator)), // it may have been deleted
		Untrusted:   c.Untrusted,
		Run: func(ctx context.Context, path string, args []string) ([]byte, string, error) {
			return ask(ctx, proc.Tool{Path: path, Args: args, Env: vars, Limit: askLimit})
		},
	}
}

// askLimit is the timeout of a Python that prints its version. A healthy one takes
// milliseconds. A wrapper that hangs may be tried under several names.
const askLimit = 10 * time.Second

// ask runs a Python that prints its version. See [interp.RunFunc].
func ask(ctx context.Context, t proc.Tool) (stdout []byte, stderr string, err error) {
	out, err := proc.Run(ctx, t)
	if err == nil && out.Exit.Code != 0 {
		err = errors.New(hook.Exit(out.Exit).String())
	}
	return out.Stdout, string(out.Stderr), err
}
