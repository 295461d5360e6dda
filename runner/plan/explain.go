package plan

import (
	"context"
	"fmt"
	"os"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/env"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// Decision says how the Python is chosen.
type Decision struct {
	interp.Decision
	Variables []interp.Variable
}

// Explain says how the Python is chosen for c.Plugin, or for c.Cwd if c.Plugin is empty. It starts
// no program, whatever the plugin is. The error is a [*hook.Error]. If no Python was chosen, the
// decision says why, and Explain returns no error.
func Explain(ctx context.Context, c Config) (Decision, error) {
	return hook.Interruptible(ctx, func() (d Decision, err error) {
		r, p, err := pythonRequest(c)
		if err != nil {
			return d, err
		}
		if !env.SourceOf(p.Entry, p.Project.Dirs).Installable() {
			r.Sync = ""
		}
		d.Variables = interp.Explained(c.Environ, environ(c, p.Manifest))
		d.Decision, err = interp.Explain(ctx, r)
		return d, err
	})
}

// FindPython returns the Python that a start of c.Plugin would use. If c.Plugin is empty, it
// returns the Python of c.Cwd. The error is a [*hook.Error].
func FindPython(ctx context.Context, c Config) (interp.Interpreter, error) {
	return hook.Interruptible(ctx, func() (interp.Interpreter, error) {
		r, _, err := pythonRequest(c)
		if err != nil {
			return interp.Interpreter{}, err
		}
		return interp.Find(ctx, r)
	})
}

// OrProject returns c. If c.Plugin is a directory that is not a plugin whose Python pyplug chooses, it
// returns c without a plugin and with that directory as Cwd, to find the Python of a project.
func OrProject(ctx context.Context, c Config) Config {
	dir := InDir(c.Cwd, c.Plugin)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return c
	}
	_, err := hook.Interruptible(ctx, func() (none struct{}, err error) {
		_, _, err = pythonRequest(c)
		return none, err
	})
	if err != nil {
		c.Plugin, c.Cwd = "", dir
	}
	return c
}

// Pythons lists the Pythons of this machine, see [interp.List].
func Pythons(ctx context.Context, c Config) ([]interp.Interpreter, error) {
	r := request(c, manifest.Plugin{Dirs: []string{c.Cwd}}, nil)
	return hook.Interruptible(ctx, func() ([]interp.Interpreter, error) { return interp.List(ctx, r) })
}

// pythonRequest returns the request for the Python of c.Plugin, which may be empty, and the plugin.
func pythonRequest(c Config) (interp.Request, manifest.Plugin, error) {
	p, err := manifest.Plugin{Dirs: []string{c.Cwd}}, error(nil)
	if c.Plugin != "" {
		p, err = findPlugin(c)
	} else {
		p.Project = interp.FindProject(p.Dirs, c.Environ)
		p.Requires = manifest.Requires(p.Project.Dirs)
	}
	if err != nil {
		return interp.Request{}, p, err
	}
	env := environ(c, p.Manifest)
	if p.Kind != manifest.Executable {
		return request(c, p, env), p, nil
	}
	r, ok := shebangRequest(c, p, env)
	if !ok {
		return r, p, hook.NewError(hook.Usage, fmt.Errorf("%s is a program, which chooses its Python itself", c.Plugin))
	}
	return r, p, nil
}
