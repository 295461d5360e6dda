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
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// resolved is what is known about a plugin before its transport opens it. The zero value is
// empty. After an error it has what was resolved before.
type resolved struct {
	config  Config // with the values of the manifest and the defaults, once they are known
	plugin  manifest.Plugin
	took    time.Duration // to find the plugin
	environ []string
	dir     string             // the working directory
	sync    string             // the command line that makes its environment
	python  interp.Interpreter // runs the plugin, also one that is a script by itself; zero if no Python does
	script  string             // what Python runs, see [scriptOf]
	dirs    []string           // in which the plugin's own modules are
	why     string             // what decided the transport; or empty for the default
	lacks   string             // the limits that this system cannot enforce; or empty
	// firstProbe is the timeout of a probe that a flag or the manifest sets; or 0. Without one, a gRPC plugin has more
	// time for its first answer.
	firstProbe time.Duration
}

// resolve finds the plugin and its Python, chooses the transport and applies the settings. The
// error is a [*hook.Error], or has ctx's in its chain.
func resolve(ctx context.Context, c Config) (r resolved, err error) {
	r.config = c
	r.config.Transport = "" // until it is chosen
	began := time.Now()
	r.plugin, err = findPlugin(c)
	if r.took = time.Since(began); err != nil {
		return r, err
	}
	if r.dir, err = workDir(c, cmp.Or(c.WorkDir, r.plugin.Manifest.WorkDir)); err != nil {
		return r, hook.NewError(hook.Usage, err)
	}
	r.environ = environ(c, r.plugin.Manifest)
	if err := r.resolvePython(ctx, c.Transport); err != nil {
		return r, err
	}
	if err := r.misfit(c); err != nil {
		return r, err
	}
	if r.config.Settings, r.lacks, err = settingsOf(c, r.plugin.Manifest, r.config.Transport); err != nil {
		return r, hook.NewError(hook.Usage, err)
	}
	r.firstProbe = cmp.Or(c.Timeouts.Probe, r.plugin.Manifest.Timeouts.Probe)
	if r.config.WorkDir != "" {
		r.config.WorkDir = r.dir
	}
	return r, nil
}

// misfit returns a usage error if a flag or a key of the manifest does not apply to the plugin's transport. If a flag
// chose the transport, the manifest may be written for the other one.
func (r *resolved) misfit(c Config) error {
	for i := range settings.Table {
		row := &settings.Table[i]
		switch {
		case row.Only == "" || row.Only == r.config.Transport:
		case row.IsSet(&c.Settings) && !c.Several:
			e := hook.NewError(hook.Usage, fmt.Errorf("--%s applies only to %s, and %s is %s", row.Flag, TransportOf(row.Only).plural(), c.Plugin, r.Transport().What))
			if TransportOf(row.Only).Serves {
				e.Hints = schema.Hints("to start it as a gRPC plugin, pass %s grpc", schema.Setting("transport"))
			}
			return e
		case row.IsSet(&r.plugin.Manifest.Settings) && r.why != byFlag:
			return r.plugin.OnlyGRPC(row.Key)
		}
	}
	return nil
}

// findPlugin finds c.Plugin and every requires-python of its project.
func findPlugin(c Config) (manifest.Plugin, error) {
	p, err := manifest.Resolve(c.Plugin, inDir(c.Cwd, c.WorkDir))
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

// isFunctions reports whether an executable is a functions file: a Python script that defines
// public functions and does nothing that servers do, and neither does a file that it imports. A
// script beside its Python is not one: it was installed as a program.
func isFunctions(c Config, p manifest.Plugin) bool {
	switch transport := cmp.Or(c.Transport, p.Manifest.Transport); {
	case p.Kind != manifest.Executable || p.Shebang == "":
		return false
	case transport != "":
		return !TransportOf(transport).Serves
	case c.decides() != "" || p.Manifest.Host != "":
		return false
	}
	script := scriptOf(p.Entry)
	files, _ := pysrc.Own(script, pysrc.PlaceOf(p.Entry, nil).Dirs(), pysrc.Short)
	installed := filepath.IsAbs(p.Shebang) && interp.SamePath(filepath.Dir(script), filepath.Dir(p.Shebang))
	if installed || !files[0].DefinesFunctions() {
		return false
	}
	return !pysrc.ServesOf(files).Any()
}

// scriptOf returns the file that Python runs for an entry. It follows links.
func scriptOf(entry string) string {
	if info, err := os.Stat(entry); err == nil && info.IsDir() {
		return filepath.Join(entry, "__main__.py")
	}
	return bounded.Real(entry)
}

// resolvePython chooses the interpreter, and the transport, which depends on it. transport is the
// value of the flag.
func (r *resolved) resolvePython(ctx context.Context, transport string) (err error) {
	c, executable := r.config, r.plugin.Kind == manifest.Executable
	if !executable {
		ask := request(c, r.plugin, r.environ)
		r.sync = ask.Sync
		if r.python, err = interp.Find(ctx, ask); err != nil {
			return err
		}
	}
	if r.plugin.Entry == "" {
		if err := r.locateModule(ctx); err != nil {
			return err
		}
	}
	r.script = scriptOf(r.plugin.Entry)
	r.dirs = r.ownDirs()
	r.config.Transport, r.why = r.chooseTransport(transport)
	kind, zip := "an executable", manifest.IsZip(r.script)
	if zip {
		kind = "a zip application"
	}
	switch {
	case !r.Transport().Serves && (executable || zip):
		return hook.NewError(hook.Usage, fmt.Errorf("%s is %s, want the transport \"grpc\" for it and not %q", c.Plugin, kind, r.config.Transport))
	case !executable:
		return nil
	case c.Python != "":
		return hook.NewError(hook.Usage, fmt.Errorf("%s is an executable, which chooses its Python itself: want no --python", c.Plugin))
	}
	if ask, ok := shebangRequest(c, r.plugin, r.environ); ok {
		r.python, _ = interp.Find(ctx, ask) // the zero one if that is unknown
		r.python.OfProject = true
	}
	return nil
}

// findModule is the Python program that finds a module.
//
//go:embed module.py
var findModule string

// Marked returns the answer of a Python program of ours, which is between two marks: a .pth file or
// a script that wraps Python may print something before and after it.
func Marked(stdout []byte) (answer []byte, ok bool) {
	_, answer, ok = bytes.Cut(stdout, []byte("\x1epyplug "))
	answer, _, ended := bytes.Cut(answer, []byte("\x1e"))
	return answer, ok && ended
}

// locateModule asks the plugin's Python where the plugin's module is. Python imports neither the module nor its parent
// packages, except for a module that an installed package creates during its own import. As with uv run, the project
// counts as installed: its src is searched last.
func (r *resolved) locateModule(ctx context.Context) error {
	p := r.plugin
	if err := r.MayRun(); err != nil {
		return hook.NewError(hook.Usage, fmt.Errorf("no file in %s is the module %s, and no Python is asked where it is: %w", p.From, p.Module, err))
	}
	p.Src = p.Project.Src()
	out, err := proc.Run(ctx, proc.Tool{Path: r.python.Path, Args: []string{"-c", findModule, p.From, p.Src, p.Module}, Env: r.environ, Dir: p.From})
	answer, ok := Marked(out.Stdout)
	if err == nil && !ok {
		err = errors.New(hook.Exit(out.Exit).String())
	}
	if err != nil {
		e := hook.NewError(hook.Interpreter, fmt.Errorf("%s cannot be asked where the module %s is: %w", r.python.Path, p.Module, err))
		e.Tried = strings.Split(strings.TrimSpace(string(out.Stderr)), "\n")
		return e
	}
	words := strings.Split(string(answer), "\x00")
	switch kind, where := words[0], words[1]; kind {
	case "package":
		p.Entry, p.Kind = where, manifest.Package
	case "file":
		p.Entry, p.Kind = where, manifest.File
	case "built-in": // each has a path of its own
		p.Entry, p.Kind = r.python.Path+":"+p.Module, manifest.File
	case "namespace":
		return hook.NewError(hook.Usage, fmt.Errorf("the module %s is a directory without __init__.py: want a module with code", p.Module))
	default:
		e := hook.NewError(hook.Usage, fmt.Errorf("no module %s: python %s finds no %s", p.Module, r.python.Version, where))
		e.Tried = words[2:]
		if file, isFile := strings.CutSuffix(p.Module, ".py"); isFile {
			e.Hints = schema.Hints("-m takes the name of a module, without .py: -m %s", file)
		}
		return e
	}
	r.plugin = p
	return nil
}

// lacksSource reports whether Python runs the plugin from something other than source.
func (r *resolved) lacksSource() bool {
	p := r.plugin
	return manifest.IsZip(r.script) || p.Module != "" && p.Kind == manifest.File && !strings.HasSuffix(p.Entry, ".py")
}

// ownDirs returns the directories of the plugin's own modules. An installed module has only
// that of its package.
func (r *resolved) ownDirs() []string {
	p := r.plugin
	if p.Module != "" && p.Root() == "" {
		return []string{p.Entry}
	}
	return r.imported().Dirs()
}

// imported returns the place of a plugin that is imported.
func (r *resolved) imported() pysrc.Place {
	switch p := r.plugin; {
	case p.Module != "":
		return modulePlace(p)
	case p.Kind == manifest.Executable || manifest.IsZip(r.script):
		return pysrc.ScriptPlace(r.script)
	default:
		return pysrc.PlaceOf(p.Entry, func() []string { return r.python.SearchPath(r.environ) })
	}
}

// modulePlace returns the place of what -m names, which is where Python finds it.
func modulePlace(p manifest.Plugin) pysrc.Place {
	place := pysrc.Place{Name: p.Module, First: p.From, Last: p.Src}
	switch {
	case p.Kind == manifest.Package:
		place.File = filepath.Join(p.Entry, "__init__.py")
	case strings.HasSuffix(p.Entry, ".py"):
		place.File = p.Entry
	}
	if place.File != "" {
		place.Root = p.Root()
	}
	return place
}

// Place says how Python imports the plugin, or runs it as a program. It reads the file: an edit may
// change it. Hosts run a script as python FILE, and a package as python -m. A module that runs only
// under its full name is run by that name.
func (r *resolved) Place() pysrc.Place {
	place := r.imported()
	switch {
	case !r.Transport().Serves: // or it is not known yet
	case place.Name == "":
		return pysrc.ScriptPlace(r.script)
	case r.plugin.Kind == manifest.Package:
		place.Last = ""
	}
	return place
}

// byFlag is why a transport was chosen that a flag names.
const byFlag = "--transport"

// chooseTransport decides on the transport, and says why, without running the plugin.
// Below, an entry is that of [manifest.Plugin]: a file, or the directory of a package.
func (r *resolved) chooseTransport(flag string) (transport, why string) {
	switch {
	case flag != "":
		return flag, byFlag
	case r.plugin.Manifest.Transport != "":
		return r.plugin.Manifest.Transport, r.plugin.Manifest.File
	case r.plugin.Kind == manifest.Executable:
		return "grpc", "it is an executable"
	case manifest.IsZip(r.script):
		return "grpc", "a zip application"
	}
	yes, why := false, ""
	if !r.lacksSource() {
		yes, why = r.looksGRPC()
	}
	switch {
	case yes:
		return "grpc", why
	case r.config.decides() != "":
		return "grpc", r.config.decides()
	case r.plugin.Manifest.Host != "":
		return "grpc", "its host is " + r.plugin.Manifest.Host
	}
	return "pipe", ""
}

// looksGRPC reports whether a plugin is a gRPC plugin, and why. Either it imports a library
// that serves go-plugin's hosts. Or one of its own files prints a handshake, and one imports gRPC.
// One sign alone is not enough: any function may print such a line, and a test may
// start a server. If [pysrc.ServesOf] cannot detect the line, --transport is needed.
func (r *resolved) looksGRPC() (yes bool, why string) {
	files, _ := pysrc.Own(r.script, r.dirs, pysrc.Short)
	switch all := pysrc.ServesOf(files); {
	case all.PrintsHandshake && all.ImportsGRPC && all.Printer == r.script:
		return true, "it imports gRPC and prints a handshake"
	case all.PrintsHandshake && all.ImportsGRPC:
		return true, r.shown(all.Printer) + " prints a handshake"
	case all.SDK != "":
		return true, "it imports " + all.SDK
	}
	return false, ""
}

// Transport returns how the plugin is run. It is the zero value until it is known.
func (r *resolved) Transport() Transport { return TransportOf(r.config.Transport) }

// Source is the plugin's Python source: the files that Python runs, the Python that
// runs them, and the directories in which the plugin's own modules are. There are none
// for a program that is not Python's, and no files for a zip application or a module that
// is not written in Python.
func (r *resolved) Source() (scripts []string, python interp.Interpreter, dirs []string) {
	if python = r.python; python.Path == "" || r.lacksSource() {
		return nil, python, nil
	}
	if r.plugin.Kind == manifest.Package {
		scripts = append(scripts, filepath.Join(r.plugin.Entry, "__init__.py"))
		if !r.Transport().Serves { // it is imported, and __main__.py is not
			return scripts, python, r.dirs
		}
	}
	return append(scripts, r.script), python, r.dirs
}

// shown returns a path for messages: relative to the directory of the entry or of its own
// modules if possible.
func (r *resolved) shown(path string) string {
	return schema.Relative(path, append([]string{filepath.Dir(r.plugin.Entry)}, r.dirs...)...)
}

// MayRun returns an error if the plugin was opened with [Config.Untrusted] and files of its
// project choose its Python.
func (r *resolved) MayRun() error {
	switch {
	case !r.config.Untrusted:
	case r.python.OfProject:
		return fmt.Errorf("the plugin's directory chooses %s (%s)", r.python.Path, r.python.Source)
	case len(r.plugin.Manifest.Env) > 0: // LD_PRELOAD, PYTHONPATH and the like
		return fmt.Errorf("%s sets variables for %s", r.plugin.Manifest.File, r.python.Path)
	}
	return nil
}

// reader returns a Python that may read the plugin's source, with its environment: the
// plugin's own if MayRun allows it, else one of the user or the system.
func (r *resolved) reader(ctx context.Context) (path string, vars []string, err error) {
	if r.MayRun() == nil {
		return r.python.Path, r.environ, nil
	}
	own := Config{Environ: r.config.Environ, Untrusted: true}
	found, err := interp.Find(ctx, request(own, manifest.Plugin{}, nil))
	return found.Path, environ(own, manifest.Manifest{}), err
}
