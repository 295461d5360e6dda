package plan

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

// Plan contains the facts about a plugin before its transport opens it. The zero value is empty.
// After an error it contains the parts that were resolved before.
type Plan struct {
	Config  Config // includes the values of the manifest and the defaults once they are known
	Plugin  manifest.Plugin
	Took    time.Duration // the time to find the plugin
	Environ []string
	Dir     string             // the working directory
	Sync    string             // the command line that makes its environment
	Python  interp.Interpreter // runs the plugin, even if that is an executable script; zero for any other executable
	Script  string             // the file that Python runs, see scriptOf
	Dirs    []string           // the directories of the plugin's own modules
	Why     string             // the reason for the transport, or "" for the default
	Lacks   string             // the limits that this system cannot enforce, or ""
	// FirstProbe is the timeout of a probe in a flag or the manifest, or 0. If it is 0, a gRPC
	// plugin gets more time for its first answer.
	FirstProbe time.Duration
}

// Resolve finds the plugin and its Python, chooses the transport and applies the settings. The
// error is a [*hook.Error], or has the error of ctx in its chain.
func Resolve(ctx context.Context, c Config) (r Plan, err error) {
	r.Config = c
	r.Config.Transport = "" // empty until it is chosen
	began := time.Now()
	r.Plugin, err = findPlugin(c)
	if r.Took = time.Since(began); err != nil {
		return r, err
	}
	if r.Dir, err = workDir(c, cmp.Or(c.WorkDir, r.Plugin.Manifest.WorkDir)); err != nil {
		return r, hook.NewError(hook.Usage, err)
	}
	r.Environ = environ(c, r.Plugin.Manifest)
	if err := r.resolvePython(ctx, c.Transport); err != nil {
		return r, err
	}
	if err := r.misfit(c); err != nil {
		return r, err
	}
	if r.Config.Settings, r.Lacks, err = settingsOf(c, r.Plugin.Manifest, r.Config.Transport); err != nil {
		return r, hook.NewError(hook.Usage, err)
	}
	r.FirstProbe = cmp.Or(c.Timeouts.Probe, r.Plugin.Manifest.Timeouts.Probe)
	if r.Config.WorkDir != "" {
		r.Config.WorkDir = r.Dir
	}
	return r, nil
}

// misfit returns a usage error if a flag or a key of the manifest does not apply to the plugin's
// transport. If a flag chose the transport, the manifest may have keys of another transport.
func (r *Plan) misfit(c Config) error {
	for i := range settings.Table {
		row := &settings.Table[i]
		switch {
		case row.Only == "" || row.Only == r.Config.Transport:
		case row.IsSet(&c.Settings) && !c.Several:
			e := hook.NewError(hook.Usage, fmt.Errorf("--%s applies only to %s, and %s is %s", row.Flag, TransportOf(row.Only).plural(), c.Plugin, r.Transport().What))
			if TransportOf(row.Only).Serves {
				e.Hints = schema.Hints("pass %s grpc to start it as a gRPC plugin", schema.Setting("transport"))
			}
			return e
		case row.IsSet(&r.Plugin.Manifest.Settings) && r.Why != byFlag:
			return r.Plugin.OnlyGRPC(row.Key)
		}
	}
	return nil
}

// findPlugin finds c.Plugin and every requires-python of its project.
func findPlugin(c Config) (manifest.Plugin, error) {
	p, err := manifest.Resolve(c.Plugin, InDir(c.Cwd, c.WorkDir))
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
// public functions, if it and the files that it imports do not look like a server. A script in the
// directory of its Python is not a functions file, because it was installed as a program.
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
func (r *Plan) resolvePython(ctx context.Context, transport string) (err error) {
	c, executable := r.Config, r.Plugin.Kind == manifest.Executable
	if !executable {
		ask := request(c, r.Plugin, r.Environ)
		r.Sync = ask.Sync
		if r.Python, err = interp.Find(ctx, ask); err != nil {
			return err
		}
	}
	if r.Plugin.Entry == "" {
		if err := r.locateModule(ctx); err != nil {
			return err
		}
	}
	r.Script = scriptOf(r.Plugin.Entry)
	r.Dirs = r.ownDirs()
	r.Config.Transport, r.Why = r.chooseTransport(transport)
	kind, zip := "an executable", manifest.IsZip(r.Script)
	if zip {
		kind = "a zip application"
	}
	switch {
	case !r.Transport().Serves && (executable || zip):
		return hook.NewError(hook.Usage, fmt.Errorf("the transport of %s is %q, expected \"grpc\": it is %s", c.Plugin, r.Config.Transport, kind))
	case !executable:
		return nil
	case c.Python != "":
		return hook.NewError(hook.Usage, fmt.Errorf("--python does not apply to %s: an executable chooses its Python itself", c.Plugin))
	}
	if ask, ok := shebangRequest(c, r.Plugin, r.Environ); ok {
		r.Python, _ = interp.Find(ctx, ask) // the zero value if no Python is found
		r.Python.OfProject = true
	}
	return nil
}

// findModule is the Python program that finds a module.
//
//go:embed module.py
var findModule string

// Marked returns the answer of pyplug's own Python program from its output. The answer is between
// two marks, because a .pth file or a script that wraps Python may print something before and after
// it.
func Marked(stdout []byte) (answer []byte, ok bool) {
	_, answer, ok = bytes.Cut(stdout, []byte("\x1epyplug "))
	answer, _, ended := bytes.Cut(answer, []byte("\x1e"))
	return answer, ok && ended
}

// locateModule runs the plugin's Python to find the plugin's module. Python does not import the
// module or its parent packages, except for a module that an installed package creates during its
// own import. As with uv run, the project counts as installed: Python searches its src last.
func (r *Plan) locateModule(ctx context.Context) error {
	p := r.Plugin
	if err := r.MayRun(); err != nil {
		return hook.NewError(hook.Usage, fmt.Errorf("the module %s is not in %s, and pyplug runs no Python to locate it: %w", p.Module, p.From, err))
	}
	p.Src = p.Project.Src()
	out, err := proc.Run(ctx, proc.Tool{Path: r.Python.Path, Args: []string{"-c", findModule, p.From, p.Src, p.Module}, Env: r.Environ, Dir: p.From})
	answer, ok := Marked(out.Stdout)
	if err == nil && !ok {
		err = errors.New(hook.Exit(out.Exit).String())
	}
	if err != nil {
		e := hook.NewError(hook.Interpreter, fmt.Errorf("%s failed to locate the module %s: %w", r.Python.Path, p.Module, err))
		e.Tried = strings.Split(strings.TrimSpace(string(out.Stderr)), "\n")
		return e
	}
	words := strings.Split(string(answer), "\x00")
	switch kind, where := words[0], words[1]; kind {
	case "package":
		p.Entry, p.Kind = where, manifest.Package
	case "file":
		p.Entry, p.Kind = where, manifest.File
	case "built-in": // a built-in module has no file
		p.Entry, p.Kind = r.Python.Path+":"+p.Module, manifest.File
	case "namespace":
		return hook.NewError(hook.Usage, fmt.Errorf("the module %s is a directory without __init__.py, expected a module with code", p.Module))
	default:
		e := hook.NewError(hook.Usage, fmt.Errorf("no module %s: python %s finds no %s", p.Module, r.Python.Version, where))
		e.Tried = words[2:]
		if file, isFile := strings.CutSuffix(p.Module, ".py"); isFile {
			e.Hints = schema.Hints("pass the name of the module, without .py: -m %s", file)
		}
		return e
	}
	r.Plugin = p
	return nil
}

// lacksSource reports whether Python runs the plugin from something other than source.
func (r *Plan) lacksSource() bool {
	p := r.Plugin
	return manifest.IsZip(r.Script) || p.Module != "" && p.Kind == manifest.File && !strings.HasSuffix(p.Entry, ".py")
}

// ownDirs returns the directories of the plugin's own modules. For an installed module this is only
// the directory of its package.
func (r *Plan) ownDirs() []string {
	p := r.Plugin
	if p.Module != "" && p.Root() == "" {
		return []string{p.Entry}
	}
	return r.Imported().Dirs()
}

// Imported returns the place of a plugin that is imported.
func (r *Plan) Imported() pysrc.Place {
	switch p := r.Plugin; {
	case p.Module != "":
		return modulePlace(p)
	case p.Kind == manifest.Executable || manifest.IsZip(r.Script):
		return pysrc.ScriptPlace(r.Script)
	default:
		return pysrc.PlaceOf(p.Entry, func() []string { return r.Python.SearchPath(r.Environ) })
	}
}

// modulePlace returns the place of a module that -m names, as Python finds it.
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

// Place says how Python imports the plugin, or runs it as a program. It reads the file, because an
// edit may change it. Hosts run a script as python FILE, and a package as python -m. A module that
// runs only under its full name is run with that name.
func (r *Plan) Place() pysrc.Place {
	place := r.Imported()
	switch {
	case !r.Transport().Serves: // also while the transport is unknown
	case place.Name == "":
		return pysrc.ScriptPlace(r.Script)
	case r.Plugin.Kind == manifest.Package:
		place.Last = ""
	}
	return place
}

// byFlag is the reason for a transport that a flag names.
const byFlag = "--transport"

// chooseTransport chooses the transport, and returns the reason, without running the plugin.
func (r *Plan) chooseTransport(flag string) (transport, why string) {
	switch {
	case flag != "":
		return flag, byFlag
	case r.Plugin.Manifest.Transport != "":
		return r.Plugin.Manifest.Transport, r.Plugin.Manifest.File
	case r.Plugin.Kind == manifest.Executable:
		return "grpc", "it is an executable"
	case manifest.IsZip(r.Script):
		return "grpc", "a zip application"
	}
	yes, why := false, ""
	if !r.lacksSource() {
		yes, why = r.looksGRPC()
	}
	switch {
	case yes:
		return "grpc", why
	case r.Config.decides() != "":
		return "grpc", r.Config.decides()
	case r.Plugin.Manifest.Host != "":
		return "grpc", "its host is " + r.Plugin.Manifest.Host
	}
	return "pipe", ""
}

// looksGRPC reports whether a plugin is a gRPC plugin, and why. It is one if it imports a library
// that serves go-plugin's hosts, or if one of its own files prints a handshake and one imports
// gRPC. One sign alone is not enough: any function may print such a line, and a test may start a
// server. If [pysrc.ServesOf] cannot detect the line, --transport is needed.
func (r *Plan) looksGRPC() (yes bool, why string) {
	files, _ := pysrc.Own(r.Script, r.Dirs, pysrc.Short)
	switch all := pysrc.ServesOf(files); {
	case all.PrintsHandshake && all.ImportsGRPC && all.Printer == r.Script:
		return true, "it imports gRPC and prints a handshake"
	case all.PrintsHandshake && all.ImportsGRPC:
		return true, r.Shown(all.Printer) + " prints a handshake"
	case all.SDK != "":
		return true, "it imports " + all.SDK
	}
	return false, ""
}

// Transport returns the plugin's transport, or the zero value if it is not known yet.
func (r *Plan) Transport() Transport { return TransportOf(r.Config.Transport) }

// Source returns the plugin's Python source: the files that Python runs, the Python that runs them,
// and the directories of the plugin's own modules. All are empty for a program that is not written
// in Python. There are no files for a zip application or a module that is not written in Python.
func (r *Plan) Source() (scripts []string, python interp.Interpreter, dirs []string) {
	if python = r.Python; python.Path == "" || r.lacksSource() {
		return nil, python, nil
	}
	if r.Plugin.Kind == manifest.Package {
		scripts = append(scripts, filepath.Join(r.Plugin.Entry, "__init__.py"))
		if !r.Transport().Serves { // the package is imported, which does not load __main__.py
			return scripts, python, r.Dirs
		}
	}
	return append(scripts, r.Script), python, r.Dirs
}

// Shown returns a path for messages: relative to the directory of the entry or of the plugin's own
// modules if possible.
func (r *Plan) Shown(path string) string {
	return schema.Relative(path, r.shownDirs()...)
}

func (r *Plan) shownDirs() []string { return append([]string{filepath.Dir(r.Plugin.Entry)}, r.Dirs...) }

// MayRun returns an error if the plugin was opened with [Config.Untrusted] and files of its
// project choose its Python.
func (r *Plan) MayRun() error {
	switch {
	case !r.Config.Untrusted:
	case r.Python.OfProject:
		return fmt.Errorf("the plugin's directory chooses %s (%s)", r.Python.Path, r.Python.Source)
	case len(r.Plugin.Manifest.Env) > 0: // the variables may include LD_PRELOAD, PYTHONPATH and the like
		return fmt.Errorf("%s sets variables for %s", r.Plugin.Manifest.File, r.Python.Path)
	}
	return nil
}

// Reader returns a Python that may read the plugin's source, with its environment: the plugin's own
// if MayRun allows it, or else one of the user or the system.
func (r *Plan) Reader(ctx context.Context) (path string, vars []string, err error) {
	if r.MayRun() == nil {
		return r.Python.Path, r.Environ, nil
	}
	own := Config{Environ: r.Config.Environ, Untrusted: true}
	found, err := interp.Find(ctx, request(own, manifest.Plugin{}, nil))
	return found.Path, environ(own, manifest.Manifest{}), err
}

// Interpreter returns the chosen Python, or the zero value for an executable.
func (r *Plan) Interpreter() interp.Interpreter {
	if r.Plugin.Kind == manifest.Executable {
		return interp.Interpreter{}
	}
	return r.Python
}

// Host returns the host that --host or the manifest names. It returns false if none is named.
func (r *Plan) Host() (settings.Host, bool) {
	host, named := settings.Hosts[r.Config.Host]
	return host, named
}
