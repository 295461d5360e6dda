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
)

// plugin is the plugin of a command, with what the user sees of it: what it prints,
// what becomes of it, and how messages name it.
type plugin struct {
	f      *program
	path   string          // as typed
	daemon daemon.Identity // of the daemon that runs it; zero if this process does

	opened  *runner.Opened // nil until the plugin is resolved
	pool    *runner.Pool   // nil until it is ready
	starts  starts
	output  *ui.Output                         // nil if another process runs it
	printed func(stream, text string, cut int) // also gets what the plugin prints; nil: nobody
	events  *backlog                           // reports transitions; nil unless the plugin is kept alive

	handshook atomic.Bool // a functions file printed a handshake, and a note said so
	heldBack  atomic.Bool // some of what the plugin printed was not shown
}

// newPlugin returns a plugin of this process.
func (f *program) newPlugin(path string) *plugin {
	p := &plugin{f: f, path: path}
	label, isModule := manifest.ModuleOf(path)
	if !isModule {
		label = strings.TrimSuffix(filepath.Base(path), ".py")
	}
	p.output = f.streams.PluginOutput(label, f.opts.quiet)
	p.output.SetGeneration(1)
	return p
}

// open resolves a plugin and starts it: with cfg.Once for a call or two, else it is kept
// alive. Before the plugin starts, accept may refuse it; nil accepts any plugin.
func (f *program) open(ctx context.Context, cfg runner.Config, accept func(*runner.Opened) error) (*plugin, error) {
	p := f.newPlugin(cfg.Plugin)
	f.plugin = p
	p.follow(&cfg)
	if !cfg.Once {
		p.followEvents(&cfg.Keep)
	}
	stop := f.streams.Waiting("starting " + p.path)
	defer stop()
	if err := p.start(ctx, cfg, accept); err != nil {
		p.endEvents()
		return nil, err
	}
	if p.events != nil {
		p.events.flush()
	}
	p.noteReady()
	return p, nil
}

// follow makes the processes of cfg report to p.
func (p *plugin) follow(cfg *runner.Config) {
	cfg.Output, cfg.Started, cfg.Observe = p.line, p.starts.started, p.starts.observe
	areas := p.f.opts.debug
	if len(areas) == 0 {
		return
	}
	cfg.DebugWire = slices.Contains(areas, "wire")
	cfg.Debug = func(area, text string) {
		if slices.Contains(areas, area) {
			p.f.streams.Log("debug", area+": "+text)
		}
	}
}

// start resolves the plugin and starts it.
func (p *plugin) start(ctx context.Context, cfg runner.Config, accept func(*runner.Opened) error) (err error) {
	if p.opened, err = runner.Open(ctx, cfg); err == nil {
		err = p.fits(p.opened)
	}
	if err == nil && accept != nil {
		err = accept(p.opened)
	}
	if err == nil {
		p.pool, err = p.opened.Start(ctx)
	}
	return err
}

// fits rejects a flag for gRPC plugins if this is none.
func (p *plugin) fits(o *runner.Opened) error {
	flag := p.f.grpcFlag
	if flag == "" || o.Transport().Serves {
		return nil
	}
	return hinted(usage("%s applies only to gRPC plugins, and %s is %s", flag, p.path, o.Transport().What),
		"to start it as a gRPC plugin, pass --transport grpc")
}

// noteReady reports what the user should know of a plugin that is ready.
func (p *plugin) noteReady() {
	f, py, settings := p.f, p.opened.Interpreter(), p.opened.Settings()
	if !f.noted {
		p.notePython()
		for _, odd := range p.starts.oddities() {
			f.streams.Note(p.path + ": " + odd)
		}
	}
	f.noted = true
	fields := []any{"plugin", p.path, "transport", settings.Transport}
	if settings.Why != "" {
		fields = append(fields, "because", settings.Why)
	}
	if py.Path != "" {
		fields = append(fields, "python", py.Path, "version", p.pythonVersion(), "source", string(py.Source))
	}
	info := p.starts.newest()
	f.streams.Log("info", "ready", append(fields, "pid", info.PID, "after", info.Ready)...)
}

// notePython says which Python was chosen if that is not the obvious one, and which were not.
func (p *plugin) notePython() {
	py := p.opened.Interpreter()
	if py.Path != "" && !py.Source.Obvious() {
		p.f.streams.Aside(fmt.Sprintf("using python %s, %s (%s)", p.pythonVersion(), py.Path, py.Source))
	}
	for _, note := range p.opened.PythonNotes() {
		p.f.streams.Note(note)
	}
}

// close stops the plugin. A second signal kills it.
func (p *plugin) close() {
	stop := p.f.streams.Waiting("stopping " + p.path)
	defer stop()
	if err := p.pool.Close(p.f.signals.kill); err != nil && !errors.Is(err, context.Canceled) {
		p.warn(err)
	}
	p.endEvents()
	p.f.streams.Log("info", "stopped", "plugin", p.path)
}

// warn reports an error that does not change the exit code.
func (p *plugin) warn(err error) {
	text := p.path + ": " + err.Error()
	if limit := (*hook.LimitError)(nil); errors.As(err, &limit) {
		text += " and was killed"
	}
	for _, at := range asError(err).At {
		text += fmt.Sprintf("\nwas at %s:%d in %s", at.File, at.Line, at.Function)
	}
	p.f.streams.Warn(text)
}

// line prints a line of the plugin. The debug log that a plugin in Go writes for its
// host, some of it go-plugin's own, appears only with --verbose.
func (p *plugin) line(stream, text string, cut int) {
	if !p.f.opts.verbose && p.opened.Plugin().Kind == manifest.Executable && isHostDebug(text) {
		p.heldBack.Store(true)
		return
	}
	serves := stream == "stdout" && handshake.Looks(text) && strings.Contains(text, "|grpc")
	if serves && !p.transport().Serves && p.handshook.CompareAndSwap(false, true) {
		p.f.streams.Note(p.path + " prints the handshake of a gRPC plugin; to start it as one, pass --transport grpc")
	}
	p.output.Line(stream, text, cut)
	if p.printed != nil {
		p.printed(stream, text, cut)
	}
}

// isHostDebug reports whether a line is hclog's JSON for debugging.
func isHostDebug(text string) bool {
	return strings.HasPrefix(text, `{"@level":"debug"`) || strings.HasPrefix(text, `{"@level":"trace"`)
}

// shown reports whether standard error has all that the plugin printed.
func (p *plugin) shown() bool { return p.output != nil && !p.f.opts.quiet && !p.heldBack.Load() }

// describe names the plugin and, once known, its Python.
func (p *plugin) describe() string {
	if p.daemon.About != "" {
		return p.daemon.About
	}
	if p.opened == nil || p.opened.Interpreter().Path == "" {
		return p.path
	}
	py := p.opened.Interpreter()
	return fmt.Sprintf("%s (python %s, %s)", p.path, p.pythonVersion(), cmp.Or(py.Env, py.Path))
}

// transport is how the plugin is run.
func (p *plugin) transport() runner.Transport {
	if p.opened == nil {
		return runner.TransportOf(p.daemon.Transport)
	}
	return p.opened.Transport()
}

// pythonVersion is what the running plugin reported, else what files say.
func (p *plugin) pythonVersion() string {
	return cmp.Or(p.starts.newest().Python, p.opened.Interpreter().Version.String())
}

// starts is what is known of the newest start of a plugin. It is safe for concurrent use.
type starts struct {
	info     atomic.Pointer[hook.Info]       // nil: none was ready
	evidence atomic.Pointer[runner.Evidence] // nil: none was seen
}

func (s *starts) started(info hook.Info)    { s.info.Store(&info) }
func (s *starts) observe(e runner.Evidence) { s.evidence.Store(&e) }

func (s *starts) newest() hook.Info {
	if info := s.info.Load(); info != nil {
		return *info
	}
	return hook.Info{}
}

// oddities are what other hosts would reject about the plugin.
func (s *starts) oddities() []string {
	if e := s.evidence.Load(); e != nil {
		return e.Oddities()
	}
	return nil
}
