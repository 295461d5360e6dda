package runner

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// Opened is a plugin at rest with all that can be known without starting it: what its
// path resolves to, its interpreter, transport and settings. It never changes, and is
// safe for concurrent use. The zero value knows nothing.
type Opened struct {
	config   Config
	plugin   manifest.Plugin
	script   string        // what Python runs, see [scriptOf]
	dirs     []string      // in which the plugin's own modules are
	resolved time.Duration // how long it took to find the plugin
	settings Settings
	environ  []string
	synced   string             // the environment that sync made last, see [interp.Request]
	sync     string             // the command line that makes it
	python   interp.Interpreter // runs the plugin, also one that is a script by itself; zero if no Python does
	keep     Keep
	lacks    string // what of keep this system cannot enforce; empty: nothing

	// The following are nil until the plugin is opened.
	transport transport
	files     *files
	launcher  *launcher // of all its pools
}

// Open resolves a plugin: its path, manifest, interpreter, transport and settings. It
// starts nothing. What it returns is never nil, and knows what was resolved before an
// error. The error is a [*hook.Error] of the kinds Usage, Interpreter and Canceled.
// Ending ctx ends it, also while it reads a file that blocks.
func Open(ctx context.Context, c Config) (*Opened, error) {
	o, err := hook.Interruptible(ctx, func() (*Opened, error) { return open(ctx, c) })
	if o == nil {
		o = &Opened{config: c}
	}
	return o, err
}

func open(ctx context.Context, c Config) (*Opened, error) {
	o := &Opened{config: c}
	began := time.Now()
	var err error
	o.plugin, err = findPlugin(c)
	if o.resolved = time.Since(began); err != nil {
		return o, hook.NewError(hook.Usage, err)
	}
	o.settings = resolveSettings(c, o.plugin)
	if o.settings.Dir, err = workDir(c, o.settings.Dir); err != nil {
		return o, hook.NewError(hook.Usage, err)
	}
	o.environ = environ(c, o.plugin.Manifest)
	if err := o.resolvePython(ctx); err != nil {
		return o, err
	}
	way := o.Transport()
	if o.keep, o.lacks, err = resolveKeep(c.Keep, o.plugin.Manifest, way.Serves); err != nil {
		return o, hook.NewError(hook.Usage, err)
	}
	if c.Once {
		o.keep = o.keep.once()
	}
	if o.transport, err = way.open(o); err != nil {
		return o, hook.NewError(hook.Usage, err)
	}
	o.files, o.launcher = newFiles(o), newLauncher(o)
	return o, nil
}

// resolvePython chooses the interpreter, and the transport, which depends on it.
func (o *Opened) resolvePython(ctx context.Context) (err error) {
	c, executable := o.config, o.plugin.Kind == manifest.Executable
	if !executable {
		r := request(c, o.plugin, o.environ)
		o.synced, o.sync = r.Synced, r.Sync
		if o.python, err = findBy(ctx, r); err != nil {
			return err
		}
	}
	if o.plugin.Entry == "" {
		if err := o.locateModule(ctx); err != nil {
			return err
		}
	}
	o.script = scriptOf(o.plugin.Entry)
	o.dirs = o.ownDirs()
	o.settings.Transport, o.settings.Why = o.chooseTransport()
	kind, zip := "an executable", manifest.IsZip(o.script)
	if zip {
		kind = "a zip application"
	}
	switch {
	case !o.Transport().Serves && (executable || zip):
		e := hook.NewError(hook.Usage, fmt.Errorf("%s is %s, want the transport \"grpc\" for it and not %q", c.Plugin, kind, o.settings.Transport))
		if o.plugin.Shebang != "" {
			e.Hints = schema.Hints("it is a Python script: give it a name, or a link, that ends in .py")
		}
		return e
	case !executable:
		return nil
	case c.Python != "":
		return hook.NewError(hook.Usage, fmt.Errorf("%s is an executable, which chooses its Python itself: want no --python", c.Plugin))
	}
	if r, ok := shebangRequest(c, o.plugin, o.environ); ok {
		o.python, _ = interp.Find(ctx, r) // the zero one if that is unknown
		o.python.OfProject = true
	}
	return nil
}

// Plugin is what the path was resolved to.
func (o *Opened) Plugin() manifest.Plugin { return o.plugin }

// Settings are the limits and choices in force.
func (o *Opened) Settings() Settings { return o.settings }

// KeepSettings say how the plugin is kept alive.
func (o *Opened) KeepSettings() Keep { return o.keep }

// TakesSeries reports whether workers make a [hook.Series]: they make one call at a time,
// and no result needs a look.
func (o *Opened) TakesSeries() bool {
	return o.transport.takesSeries() && o.settings.ErrorField == ""
}

// Interpreter is the Python that was chosen; the zero one for an executable.
func (o *Opened) Interpreter() interp.Interpreter {
	if o.plugin.Kind == manifest.Executable {
		return interp.Interpreter{}
	}
	return o.python
}

// Environ is the plugin's environment.
func (o *Opened) Environ() []string { return o.environ }

// Resolved is how long it took to find the plugin and to read its manifest.
func (o *Opened) Resolved() time.Duration { return o.resolved }

// Source is the plugin's Python source: the files that Python runs, the Python that
// runs them, and the directories in which the plugin's own modules are. There are none
// for a program that is not Python's, and no files for a zip application or a module that
// is not written in Python.
func (o *Opened) Source() (scripts []string, python interp.Interpreter, dirs []string) {
	if python = o.python; python.Path == "" || o.lacksSource() {
		return nil, python, nil
	}
	if o.plugin.Kind == manifest.Package {
		scripts = append(scripts, filepath.Join(o.plugin.Entry, "__init__.py"))
		if !o.Transport().Serves { // it is imported, and __main__.py is not
			return scripts, python, o.dirs
		}
	}
	return append(scripts, o.script), python, o.dirs
}

// Host is the host that --host or the manifest names; false if none is named.
func (o *Opened) Host() (manifest.Host, bool) {
	host, named := manifest.Hosts[cmp.Or(o.config.GRPC.Host, o.plugin.Manifest.Host)]
	return host, named
}

// Bootstrap and Shutdown are the manifest's calls, in order.
func (o *Opened) Bootstrap() []hook.Call { return hookCalls(o.plugin.Manifest.Bootstrap) }

// Shutdown are the calls that are made before the plugin is stopped.
func (o *Opened) Shutdown() []hook.Call { return hookCalls(o.plugin.Manifest.Shutdown) }

func hookCalls(calls []manifest.HookCall) []hook.Call {
	made := make([]hook.Call, len(calls))
	for i, c := range calls {
		made[i] = hook.Call{Hook: c.Hook, Args: hook.Args{JSON: c.Args}}
	}
	return made
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

// environ is the plugin's environment: ours, then the manifest's, then flags'.
func environ(c Config, m manifest.Manifest) []string {
	set := make([]string, 0, len(m.Env)+len(c.Env))
	for k, v := range m.Env {
		set = append(set, k+"="+v)
	}
	return proc.Environ(c.Environ, c.CleanEnv, append(set, c.Env...))
}

// Shutdown ends what this process keeps for all its plugins. It comes after the last
// of them is closed.
func Shutdown() { proc.Close() }

// Lacks says what cannot be had on this system, empty when nothing.
func Lacks() string { return proc.Lacks() }
