package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// program is what the commands of one run share.
type program struct {
	streams  *ui.Streams
	life     *life
	commands []command
	chosen   *cli.Command   // the one that args name; nil: none of ours, or all are needed
	typed    []string       // the names of its flags that were typed
	opts     outputOptions  // of the command, once its flags are read
	session  *runner.Opened // the plugin that was opened, for messages
	seen     sighting       // of its starts
	plugin   string         // its path as typed
	about    string         // the plugin that runs, and its Python, for messages
	cfg      runner.Config  // with what it was opened
	grpcFlag string         // a flag of its command line that only gRPC plugins know
	output   *ui.Output
	telling  *backlog                           // what becomes of a plugin that is kept
	printed  func(stream, text string, cut int) // gets what the plugin prints, too; nil: nobody
	tls      bool                               // a server is asked by TLS
	shook    atomic.Bool                        // a functions file printed a handshake, and that was told
	heldBack atomic.Bool                        // some of what the plugin printed was not shown
	noted    bool                               // what is to be known of a plugin that is ready was told
	early    error                              // what prepare found wrong
	probing  bool                               // --probe-codes was given
	endless  bool                               // the command goes on until a signal, which is no failure then
	help     helpWriter
}

// begin sets up the output of a command.
func (f *program) begin(c *cli.Context) error {
	o := f.opts
	f.grpcFlag = f.grpcOnly(c.Command)
	f.streams.Quiet, f.streams.Verbose, f.streams.LogJSON = o.quiet, o.verbose, o.logJSON
	if err := f.streams.SetColor(o.color); err != nil {
		return usage("--color: %w", err)
	}
	return nil
}

// open starts a plugin for a call or two, with what it prints going to standard error.
// Before anything is started, prepared may still refuse; nil takes any plugin.
func (f *program) open(ctx context.Context, cfg runner.Config, prepared func(*runner.Opened) error) (*runner.Pool, error) {
	cfg.Once = true
	return f.launch(ctx, cfg, prepared)
}

// launch resolves a plugin and starts it.
func (f *program) launch(ctx context.Context, cfg runner.Config, prepared func(*runner.Opened) error) (*runner.Pool, error) {
	f.listen(&cfg)
	stop := f.streams.Waiting("starting " + cfg.Plugin)
	defer stop()
	o, err := f.resolve(ctx, cfg, prepared)
	if err != nil {
		return nil, err
	}
	p, err := o.Start(ctx)
	if err != nil {
		return nil, err
	}
	if f.telling != nil {
		f.telling.flush()
	}
	f.ready(o)
	return p, nil
}

// listen has what a plugin prints, and what happens, go to standard error.
func (f *program) listen(cfg *runner.Config) {
	f.plugin, f.cfg = cfg.Plugin, *cfg
	f.output = f.streams.PluginOutput(ui.OutputOptions{Label: pluginLabel(cfg.Plugin), Quiet: f.opts.quiet, JSON: f.opts.logJSON})
	f.output.SetGeneration(1)
	cfg.Output = f.outputLine
	cfg.Started, cfg.Observe = f.seen.start, f.seen.observe
	f.debugTo(cfg)
}

// sighting is what was seen of the starts of a plugin. It is safe for concurrent use.
type sighting struct {
	mu       sync.Mutex // protects following
	info     hook.Info  // of the newest process
	evidence runner.Evidence
}

func (s *sighting) start(info hook.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = info
}

func (s *sighting) observe(e runner.Evidence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evidence = e
}

func (s *sighting) process() hook.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

// oddities are what other hosts would refuse about the plugin.
func (s *sighting) oddities() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return runner.Oddities(s.evidence)
}

// resolve resolves a plugin, which what was typed and prepared may refuse.
func (f *program) resolve(ctx context.Context, cfg runner.Config, prepared func(*runner.Opened) error) (*runner.Opened, error) {
	o, err := runner.Open(ctx, cfg)
	f.session = o
	if err == nil {
		err = f.suits(o)
	}
	if err == nil && prepared != nil {
		err = prepared(o)
	}
	return o, err
}

// debugTo has what happens told, as far as that was asked for.
func (f *program) debugTo(cfg *runner.Config) {
	if len(f.opts.debug) == 0 {
		return
	}
	cfg.DebugWire = slices.Contains(f.opts.debug, "wire")
	cfg.Debug = func(area, text string) {
		if slices.Contains(f.opts.debug, area) {
			f.streams.Log("debug", area+": "+text)
		}
	}
}

// outputLine prints a line of the plugin. What one in Go logs for its host's
// debugging, of which go-plugin itself writes some at each start, is told when
// pyplug tells what it does, too.
func (f *program) outputLine(stream, text string, cut int) {
	if !f.opts.verbose && f.session.Plugin().Kind == manifest.Executable && hostDebug(text) {
		f.heldBack.Store(true)
		return
	}
	if f.session.Settings().Transport == "pipe" && handshake.Looks(text) && f.shook.CompareAndSwap(false, true) {
		f.streams.Note(f.plugin + " prints the handshake of a gRPC plugin: --transport grpc starts it as one")
	}
	f.output.Line(stream, text, cut)
	if f.printed != nil {
		f.printed(stream, text, cut)
	}
}

// hostDebug tells whether a line is hclog's JSON for debugging.
func hostDebug(text string) bool {
	return strings.HasPrefix(text, `{"@level":"debug"`) || strings.HasPrefix(text, `{"@level":"trace"`)
}

// suits holds what was typed to what the plugin is.
func (f *program) suits(s *runner.Opened) error {
	if f.grpcFlag != "" && s.Settings().Transport != "grpc" {
		return &notGRPCError{flag: f.grpcFlag, plugin: f.plugin}
	}
	return nil
}

// notGRPCError says that a flag needs a gRPC plugin.
type notGRPCError struct{ flag, plugin string }

func (e *notGRPCError) Error() string {
	return e.flag + " is for gRPC plugins, and " + e.plugin + " is a functions file"
}

// Hints names the flag that starts it as one.
func (e *notGRPCError) Hints() []string {
	return []string{"--transport grpc starts it as a gRPC plugin"}
}

// ready tells of a plugin that is.
func (f *program) ready(s *runner.Opened) {
	py, info, settings := s.Interpreter(), f.seen.process(), s.Settings()
	if !f.noted {
		for _, skipped := range py.Skipped {
			f.streams.Note(skipped.String() + "; using " + py.Path)
		}
		for _, odd := range f.seen.oddities() {
			f.streams.Note(f.plugin + ": " + odd)
		}
	}
	f.noted = true
	told := []any{"plugin", f.plugin, "transport", settings.Transport}
	if settings.Why != "" {
		told = append(told, "because", settings.Why)
	}
	if py.Path != "" {
		told = append(told, "python", py.Path, "version", f.pythonVersion(), "source", string(py.Source))
	}
	f.streams.Log("info", "ready", append(told, "pid", info.PID, "after", info.Ready)...)
}

// closePlugin stops the plugin. A second signal has it killed.
func (f *program) closePlugin(p *runner.Pool) {
	stop := f.streams.Waiting("stopping " + f.plugin)
	defer stop()
	if err := p.Close(f.life.kill); err != nil && !errors.Is(err, context.Canceled) {
		f.warn(err)
	}
	f.streams.Log("info", "stopped", "plugin", f.plugin)
}

// warn tells of an error that does not change the exit code.
func (f *program) warn(err error) {
	text := f.plugin + ": " + err.Error()
	if limit := (*hook.LimitError)(nil); errors.As(err, &limit) {
		text += " and was killed"
	}
	for _, at := range asError(err).At {
		text += fmt.Sprintf("\nwas at %s:%d in %s", at.File, at.Line, at.Function)
	}
	f.streams.Warn(text)
}

// finish ends what prints.
func (f *program) finish() {
	if f.output != nil {
		f.output.Close()
	}
}

// fail shows an error with its hints.
func (f *program) fail(err error) {
	signal, checked := (*signalError)(nil), (*checkedError)(nil)
	if errors.Is(err, errQuiet) || errors.As(err, &checked) {
		return
	}
	if f.endless && errors.As(err, &signal) {
		f.streams.EndLine()
		return
	}
	if f.output != nil {
		f.output.Close() // what the plugin said comes first
	}
	e := asError(err)
	f.streams.Fail(ui.Failure{Err: e, Context: f.context(e), Hints: f.hints(err),
		Shown: f.output != nil && !f.opts.quiet && !f.heldBack.Load(), JSON: f.opts.json})
}
