package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

// plugin is the plugin of a command. It reports to the user what the plugin prints and how its
// state changes, and names the plugin in messages.
type plugin struct {
	prog   *program
	path   string         // as typed
	client *daemon.Client // of the daemon that runs it; nil if none does
	// elsewhere says that another process runs it, whose errors come with all hints.
	elsewhere bool

	opened  *runner.Opened                     // nil until the plugin is resolved
	pool    *runner.Pool                       // nil until it is ready
	started atomic.Pointer[hook.Info]          // the newest start; nil: none was ready
	output  *ui.Output                         // nil if another process runs it
	printed func(stream, text string, cut int) // also receives what the plugin prints; may be nil

	handshook atomic.Bool // a functions file printed a handshake, and a note said so
	heldBack  atomic.Bool // some of what the plugin printed was not shown
}

// newPlugin returns a plugin of this process. quiet hides what it prints.
func (prog *program) newPlugin(path string, quiet bool) *plugin {
	p := &plugin{prog: prog, path: path}
	label, isModule := manifest.ModuleOf(path)
	if !isModule {
		label = strings.TrimSuffix(filepath.Base(path), ".py")
	}
	p.output = prog.streams.PluginOutput(label, quiet)
	p.output.SetGeneration(1)
	return p
}

// launch opens and starts a plugin. It is kept alive unless cfg.Once is set. Before the start,
// an error of accept rejects the plugin. accept may be nil.
func (prog *program) launch(ctx context.Context, cfg runner.Config, accept func(*runner.Opened) error) (*plugin, error) {
	p := prog.newPlugin(cfg.Plugin, prog.opts.quiet)
	if err := p.start(ctx, cfg, accept); err != nil {
		return nil, err
	}
	p.noteReady()
	return p, nil
}

// start opens and starts the plugin.
func (p *plugin) start(ctx context.Context, cfg runner.Config, accept func(*runner.Opened) error) error {
	defer p.prog.streams.Waiting("starting " + p.path)()
	p.follow(&cfg)
	if !cfg.Once {
		p.followEvents(&cfg)
	}
	err := p.open(ctx, cfg)
	if err == nil && accept != nil {
		err = accept(p.opened)
	}
	if err == nil {
		p.pool, err = p.opened.Start(ctx)
	}
	if err != nil {
		p.output.Close()
		p.noteStale()
	}
	return p.failed(err)
}

// open resolves the plugin.
func (p *plugin) open(ctx context.Context, cfg runner.Config) (err error) {
	p.opened, err = runner.Open(ctx, cfg)
	return err
}

// follow makes the processes of cfg report to p.
func (p *plugin) follow(cfg *runner.Config) {
	cfg.Output, cfg.Started = p.line, func(info hook.Info) { p.started.Store(&info) }
	areas := p.prog.opts.debug
	if len(areas) == 0 {
		return
	}
	cfg.DebugWire = slices.Contains(areas, "wire")
	cfg.Debug = func(area, text string) {
		if slices.Contains(areas, area) {
			p.prog.streams.Log("debug", area+": "+text)
		}
	}
}

// followEvents makes a plugin that is kept alive report its transitions.
func (p *plugin) followEvents(cfg *runner.Config) { cfg.Events, cfg.Note = p.event, p.note }

// note prints a note about the plugin.
func (p *plugin) note(text string) { p.prog.streams.Note(p.path + ": " + text) }

// event logs a transition.
func (p *plugin) event(e hook.Event) {
	if e.To == hook.StateStarting {
		p.output.SetGeneration(e.Generation)
	}
	p.prog.streams.Log("info", string(e.To)+": "+e.Reason, "plugin", p.path, "worker", e.Worker, "generation", e.Generation, "pid", e.PID)
}

// noteReady reports what the user should know of a plugin that is ready.
func (p *plugin) noteReady() {
	p.notePython()
	found := p.opened.Plugin()
	if found.IsInSrc() {
		p.prog.streams.Aside("using " + found.Entry + ", as if the project were installed")
	}
	py, settings, info := p.opened.Interpreter(), p.opened.Config(), p.newest()
	p.prog.streams.Log("info", "ready", "plugin", p.path, "file", found.Entry, "transport", settings.Transport, "because", p.opened.Why(),
		"python", py.Path, "version", p.pythonVersion(), "source", py.Source, "pid", info.PID, "after", info.Ready)
}

// notePython prints which Python was chosen, unless it is the obvious one, and which were skipped.
func (p *plugin) notePython() {
	py := p.opened.Interpreter()
	if py.Path != "" && !py.Source.Obvious() {
		p.prog.streams.Aside(fmt.Sprintf("using python %s, %s (%s)", p.pythonVersion(), py.Path, py.Source))
	}
	p.prog.streams.Notes(p.opened.PythonNotes())
}

// noteStale prints that the environment may lack what the plugin needs, which may be why it does not
// start.
func (p *plugin) noteStale() {
	if p.opened != nil {
		if stale := p.opened.SyncStale(); stale != "" {
			p.prog.streams.Note(stale)
		}
	}
}

// close stops the plugin if this process runs it. A second signal kills the plugin.
func (p *plugin) close() {
	if p.pool == nil {
		return
	}
	stop := p.prog.streams.Waiting("stopping " + p.path)
	defer stop()
	if err := p.pool.Close(p.prog.signals.kill); err != nil && !errors.Is(err, context.Canceled) {
		p.warn(err)
	}
	p.prog.streams.Log("info", "stopped", "plugin", p.path)
	p.output.Close()
}

// warn reports an error that does not change the exit code. It ignores a reader that is gone.
func (p *plugin) warn(err error) {
	if errors.Is(err, errQuiet) || ui.IsClosedPipe(err) {
		return
	}
	text := p.path + ": " + err.Error()
	if limit := (*hook.LimitError)(nil); errors.As(err, &limit) {
		text += " and was killed"
	}
	for _, at := range hook.AsError(err).At {
		text += "\nwas at " + at.String()
	}
	p.prog.streams.Warn(text)
}

// line prints a line of the plugin. A plugin in Go writes a debug log for its host, as hclog's JSON. It
// appears only with --verbose.
func (p *plugin) line(stream, text string, cut int) {
	isDebug := strings.HasPrefix(text, `{"@level":"debug"`) || strings.HasPrefix(text, `{"@level":"trace"`)
	if isDebug && !p.prog.opts.verbose && p.opened.Plugin().Kind == manifest.Executable {
		p.heldBack.Store(true)
		return
	}
	if stream == "stdout" && handshake.LooksGRPC(text) && !p.transport().Serves && p.handshook.CompareAndSwap(false, true) {
		p.prog.streams.Note(p.path + " prints the handshake of a gRPC plugin; to start it as one, pass --transport grpc")
	}
	p.output.Line(stream, text, cut)
	if p.printed != nil {
		p.printed(stream, text, cut)
	}
}

// shown reports whether standard error has all that the plugin printed. p may be nil.
func (p *plugin) shown() bool { return p != nil && p.output.Shown() && !p.heldBack.Load() }

// describe names the plugin and, once known, its Python.
func (p *plugin) describe() string {
	switch {
	case p.client != nil:
		return cmp.Or(p.client.Identity().About, p.path)
	case p.opened == nil:
		return p.path
	}
	return service.About(p.opened, p.path, p.newest().Python)
}

// transport returns how the plugin is run.
func (p *plugin) transport() runner.Transport {
	if p.client != nil {
		return runner.TransportOf(p.client.Identity().Transport)
	}
	return p.opened.Transport()
}

// callee is a plugin that runs.
type callee interface {
	hook.Caller
	Hooks(ctx context.Context, q schema.Query) (schema.Schema, error)
	Health(ctx context.Context) error
}

// running returns the client of a daemon, or the pool.
func (p *plugin) running() callee {
	if p.client != nil {
		return p.client
	}
	return p.pool
}

// process returns the process that answers calls now, and its generation, as far as that is known.
func (p *plugin) process(ctx context.Context) (hook.Info, int) {
	switch {
	case p.pool != nil:
		return p.newest(), 1
	case p.client != nil:
		if st, err := p.client.Status(ctx); err == nil { // an error is ignored: the call has its answer already
			return hook.Info{PID: st.PID}, st.Generation
		}
	}
	return hook.Info{}, 0
}

// newest returns what is known of the newest start.
func (p *plugin) newest() hook.Info {
	if info := p.started.Load(); info != nil {
		return *info
	}
	return hook.Info{}
}

// pythonVersion returns the version that the plugin reported, else that of its files.
func (p *plugin) pythonVersion() string {
	return cmp.Or(p.newest().Python, p.opened.Interpreter().Version.String())
}

// pluginError is an error that concerns a plugin.
type pluginError struct {
	error
	p *plugin
}

func (e *pluginError) Unwrap() error { return e.error }

// failed returns err as an error that concerns the plugin, or nil if err is nil.
func (p *plugin) failed(err error) error {
	if err == nil {
		return nil
	}
	return &pluginError{err, p}
}

// pluginOf is the plugin that an error concerns, or nil.
func pluginOf(err error) *plugin {
	if of := (*pluginError)(nil); errors.As(err, &of) {
		return of.p
	}
	return nil
}

// complete is an error with the plugin's name and its hints. p may be nil.
func (p *plugin) complete(err error) *hook.Error {
	e := p.withHints(err)
	if p != nil && e.Plugin == "" && e.Kind != hook.Usage && !isNotRunning(e) {
		e.Plugin = p.describe()
	}
	return e
}

// withHints is an error with the hints of the plugin. p may be nil.
func (p *plugin) withHints(err error) *hook.Error {
	e := *hook.AsError(err)
	if p != nil && p.opened != nil && !p.elsewhere {
		e.Hints = p.opened.Hints(&e)
	}
	return &e
}
