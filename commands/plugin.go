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
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/settings"
)

// plugin is the plugin that a command calls: a plugin of this process, which is [local], or one
// that runs in the [background].
type plugin interface {
	hook.Plugin
	// typed returns the word that names the plugin in messages, as the user typed it.
	typed() string
	// complete returns an error of the plugin with the plugin's name and all hints.
	complete(err error) *hook.Error
	// shown reports whether all output of the plugin is on standard error.
	shown() bool
	// flush prints the output so far.
	flush()
	transport() plan.Transport
	// timeouts returns the effective timeouts. typed contains the timeouts of the command line.
	timeouts(typed settings.Timeouts) settings.Timeouts
	// process returns the process that answers calls now, and its generation. Unknown parts are
	// zero.
	process(ctx context.Context) (hook.Info, int)
	// close stops the plugin if this process runs it.
	close()
}

// pluginError is an error that concerns a plugin.
type pluginError struct {
	error
	p plugin
}

func (e *pluginError) Unwrap() error { return e.error }

// failed returns err as an error that concerns a plugin. It returns err itself if err or p is nil.
func failed(p plugin, err error) error {
	if err == nil || p == nil {
		return err
	}
	return &pluginError{err, p}
}

// pluginOf returns the plugin that an error concerns, or nil.
func pluginOf(err error) plugin {
	if of := (*pluginError)(nil); errors.As(err, &of) {
		return of.p
	}
	return nil
}

// completeError returns an error with the name and the hints of the plugin that it concerns, if
// any.
func completeError(err error) *hook.Error {
	if p := pluginOf(err); p != nil {
		return p.complete(err)
	}
	return hook.AsError(err)
}

// background is a plugin that another process runs or starts. Its errors already have their hints.
type background struct {
	*daemon.Client // nil if the plugin was not started
	prog           *program
	word           string
	about          string // the name of the plugin in errors
}

// background returns the plugin of a client. word names it in messages.
func (prog *program) background(c *daemon.Client, word string) *background {
	return &background{Client: c, prog: prog, word: word, about: cmp.Or(c.Identity().About, word)}
}

func (p *background) typed() string { return p.word }

func (p *background) complete(err error) *hook.Error {
	e := *hook.AsError(err)
	if e.Plugin == "" && e.Kind != hook.Usage && !isNotRunning(&e) {
		e.Plugin = p.about
	}
	return &e
}

func (p *background) shown() bool { return false }
func (p *background) flush()      {}
func (p *background) close()      {}

func (p *background) transport() plan.Transport {
	return plan.TransportOf(p.Identity().Transport)
}

func (p *background) timeouts(typed settings.Timeouts) settings.Timeouts {
	typed.Probe = cmp.Or(typed.Probe, settings.Defaults().Timeouts.Probe)
	return typed
}

func (p *background) process(ctx context.Context) (hook.Info, int) {
	st, err := p.Status(ctx)
	if err != nil { // ignore the error, because the call has its answer
		return hook.Info{}, 0
	}
	return hook.Info{PID: st.PID}, st.Generation
}

// local is a plugin of this process. It reports the plugin's output and changes of its state to the
// user.
type local struct {
	*runner.Keeper // knows only the path until the plugin is resolved
	prog           *program
	path           string // as typed
	output         *ui.Output
	printed        func(stream, text string, cut int) // also receives the plugin's output; may be nil

	handshook atomic.Bool // a functions file printed a handshake, and a note said so
	heldBack  atomic.Bool // some output of the plugin was not shown
}

// newLocal returns a plugin of this process. quiet hides its output.
func (prog *program) newLocal(path string, quiet bool) *local {
	p := &local{Keeper: &runner.Keeper{Plan: plan.Plan{Config: plan.Config{Plugin: path}}}, prog: prog, path: path}
	label, isModule := manifest.ModuleOf(path)
	if !isModule {
		label = strings.TrimSuffix(filepath.Base(path), ".py")
	}
	p.output = prog.streams.PluginOutput(label, quiet)
	p.output.SetGeneration(1)
	return p
}

// launch opens and starts a plugin. The plugin is kept alive unless cfg.Once is set. launch calls
// accept before the start. If accept returns an error, the plugin is not started. accept may be
// nil.
func (prog *program) launch(ctx context.Context, cfg plan.Config, accept func(*local) error) (*local, error) {
	p := prog.newLocal(cfg.Plugin, prog.opts.quiet)
	p.follow(&cfg)
	stop := prog.streams.Waiting("starting " + p.path)
	err := p.open(ctx, cfg)
	if err == nil && accept != nil {
		err = accept(p)
	}
	if err == nil {
		err = p.Start(ctx)
	}
	if err != nil {
		p.output.Close()
		p.noteStale()
	}
	stop()
	if err != nil {
		return nil, failed(p, err)
	}
	p.noteReady()
	return p, nil
}

// open resolves the plugin.
func (p *local) open(ctx context.Context, cfg plan.Config) (err error) {
	p.Keeper, err = runner.Open(ctx, cfg)
	return err
}

// follow makes the processes of cfg report their output to p. A plugin that is kept alive also
// reports its transitions.
func (p *local) follow(cfg *plan.Config) {
	cfg.Output = p.line
	if !cfg.Once {
		cfg.Events, cfg.Note = p.event, p.Note
	}
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

func (p *local) typed() string { return p.path }

func (p *local) complete(err error) *hook.Error { return p.Complete(err) }

func (p *local) shown() bool { return p.output.Shown() && !p.heldBack.Load() }

func (p *local) flush() { p.output.Flush() }

func (p *local) transport() plan.Transport { return p.Transport() }

func (p *local) timeouts(settings.Timeouts) settings.Timeouts { return p.Config.Timeouts }

func (p *local) process(context.Context) (hook.Info, int) { return p.Newest(), 1 }

// close stops the plugin. A second signal kills it.
func (p *local) close() {
	if p.Pool == nil {
		return
	}
	stop := p.prog.streams.Waiting("stopping " + p.path)
	defer stop()
	if err := p.Close(p.prog.signals.kill); err != nil && !errors.Is(err, context.Canceled) {
		p.Warn(err)
	}
	p.prog.streams.Log("info", "stopped", "plugin", p.path)
	p.output.Close()
}

// Note prints a note about the plugin.
func (p *local) Note(text string) { p.prog.streams.Note(p.path + ": " + text) }

// Warn reports an error that does not change the exit code. It ignores the error of a reader that
// has gone away.
func (p *local) Warn(err error) {
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

// Log prints a line of the log of a plugin that is served in the foreground.
func (p *local) Log(name, text string) { p.output.Own(name, text) }

// Attach prints how to attach to the plugin.
func (p *local) Attach(ctx context.Context, line string) error {
	return p.prog.write(ctx, func() error { return p.prog.streams.Line(line) })
}

// event logs a change of a worker's state.
func (p *local) event(e hook.Event) {
	if e.To == hook.StateStarting {
		p.output.SetGeneration(e.Generation)
	}
	if p.printed != nil { // the service reports the event itself
		return
	}
	p.prog.streams.Log("info", string(e.To)+": "+e.Reason, "plugin", p.path, "worker", e.Worker, "generation", e.Generation, "pid", e.PID)
}

// noteReady prints notes about a plugin that is ready.
func (p *local) noteReady() {
	p.prog.notePython(p.Keeper)
	found := p.Plugin
	if found.IsInSrc() {
		p.prog.streams.Aside("using " + found.Entry + ", as if the project were installed")
	}
	py, settings, info := p.Interpreter(), p.Config, p.Newest()
	p.prog.streams.Log("info", "ready", "plugin", p.path, "file", found.Entry, "transport", settings.Transport, "because", p.Why,
		"python", py.Path, "version", p.PythonVersion(), "source", py.Source, "pid", info.PID, "after", info.Ready)
}

// notePython prints which Python was chosen, unless it is the obvious one, and which were skipped.
func (prog *program) notePython(k *runner.Keeper) {
	py := k.Interpreter()
	if py.Path != "" && !py.Source.Obvious() {
		prog.streams.Aside(fmt.Sprintf("using python %s, %s (%s)", k.PythonVersion(), py.Path, py.Source))
	}
	prog.streams.Notes(k.PythonNotes())
}

// noteStale prints that the environment may not satisfy the plugin's requirements, which may be why
// the plugin does not start.
func (p *local) noteStale() {
	if stale := p.SyncStale(); stale != "" {
		p.prog.streams.Note(stale)
	}
}

// line prints a line of the plugin's output. A plugin in Go writes debug lines for its host, as
// JSON of hclog. They appear only with --verbose.
func (p *local) line(stream, text string, cut int) {
	isDebug := strings.HasPrefix(text, `{"@level":"debug"`) || strings.HasPrefix(text, `{"@level":"trace"`)
	if isDebug && !p.prog.opts.verbose && p.Plugin.Kind == manifest.Executable {
		p.heldBack.Store(true)
		return
	}
	if stream == "stdout" && handshake.LooksGRPC(text) && !p.Transport().Serves && p.handshook.CompareAndSwap(false, true) {
		p.prog.streams.Note(p.path + " prints the handshake of a gRPC plugin; to start it as one, pass --transport grpc")
	}
	p.output.Line(stream, text, cut)
	if p.printed != nil {
		p.printed(stream, text, cut)
	}
}
