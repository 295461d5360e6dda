package runner

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// Opened is a plugin that is resolved but not started: its path, interpreter, transport and
// settings. It never changes, and is safe for concurrent use. The zero value is empty.
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
	lacks    string // the limits of keep that this system cannot enforce; or empty

	// The following are nil until the plugin is opened.
	transport transport
	files     *files
	launcher  *launcher // of all its pools
}

// Open resolves a plugin: its path, manifest, interpreter, transport and settings. It
// starts nothing. The result is never nil. After an error it has what was resolved before.
// The error is a [*hook.Error] of the kinds Usage, Interpreter and Canceled. Open returns
// when ctx ends, even while it reads a file that blocks.
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
		return hook.NewError(hook.Usage, fmt.Errorf("%s is %s, want the transport \"grpc\" for it and not %q", c.Plugin, kind, o.settings.Transport))
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

// KeepSettings returns how the plugin is kept alive.
func (o *Opened) KeepSettings() Keep { return o.keep }

// TakesSeries reports whether workers make a [hook.Series]: they make one call at a time, and
// results are not searched for errors.
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

// Resolved returns how long the search for the plugin and its manifest took.
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

// Bootstrap returns the calls that are made after every start, in order.
func (o *Opened) Bootstrap() []hook.Call { return hookCalls(o.plugin.Manifest.Bootstrap) }

// Shutdown returns the calls that are made before the plugin is stopped, in order.
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

// Shutdown releases what this process keeps for all its plugins. Call it after the last
// of them is closed.
func Shutdown() { proc.Close() }

// Lacks returns what this system does not support, or "".
func Lacks() string { return proc.Lacks() }

// findModule is the Python program that finds a module.
//
//go:embed module.py
var findModule string

// moduleMark begins its answer, because a .pth file may print something before.
const moduleMark = "\x1epyplug-module "

// locateModule asks the plugin's Python where the plugin's module is. Python imports neither the module nor its parent
// packages, except for a module that an installed package creates during its own import. As with uv run, the project
// counts as installed: its src is searched last.
func (o *Opened) locateModule(ctx context.Context) error {
	p := o.plugin
	if err := o.MayRun(); err != nil {
		return hook.NewError(hook.Usage, fmt.Errorf("no file in %s is the module %s, and no Python is asked where it is: %w", p.From, p.Module, err))
	}
	p.Src = p.Project.Src()
	out, err := proc.Run(ctx, proc.Tool{Path: o.python.Path, Args: []string{"-c", findModule, p.From, p.Src, p.Module}, Env: o.environ, Dir: p.From})
	if ctx.Err() != nil {
		return hook.NewError(hook.Canceled, context.Cause(ctx))
	}
	_, answer, ok := bytes.Cut(out.Stdout, []byte(moduleMark))
	if err == nil && !ok {
		err = errors.New(hook.Exit(out.Exit).String())
	}
	if err != nil {
		e := hook.NewError(hook.Interpreter, fmt.Errorf("%s cannot be asked where the module %s is: %w", o.python.Path, p.Module, err))
		e.Tried = strings.Split(strings.TrimSpace(string(out.Stderr)), "\n")
		return e
	}
	words := strings.Split(string(answer), "\x00")
	switch kind, where := words[0], words[1]; kind {
	case "package", "file":
		o.plugin = p.Located(where, kind == "package")
	case "built-in": // each has a path of its own
		o.plugin = p.Located(o.python.Path+":"+p.Module, false)
	case "namespace":
		return hook.NewError(hook.Usage, fmt.Errorf("the module %s is a directory without __init__.py: want a module with code", p.Module))
	default:
		e := hook.NewError(hook.Usage, fmt.Errorf("no module %s: python %s finds no %s", p.Module, o.python.Version, where))
		e.Tried = words[2:]
		if file, isFile := strings.CutSuffix(p.Module, ".py"); isFile {
			e.Hints = schema.Hints("-m takes the name of a module, without .py: -m %s", file)
		}
		return e
	}
	return nil
}

// lacksSource reports whether Python runs the plugin from something other than source.
func (o *Opened) lacksSource() bool {
	p := o.plugin
	return manifest.IsZip(o.script) || p.Module != "" && p.Kind == manifest.File && !strings.HasSuffix(p.Entry, ".py")
}

// ownDirs returns the directories of the plugin's own modules. An installed module has only
// that of its package.
func (o *Opened) ownDirs() []string {
	p := o.plugin
	if p.Module != "" && p.Root() == "" {
		return []string{p.Entry}
	}
	return o.Place().Dirs()
}
