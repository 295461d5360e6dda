package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/service"
)

// program is one run of pyplug. It has what all commands need. Reading the command line sets
// its fields; after that they do not change.
type program struct {
	streams  *ui.Streams
	signals  *signals
	commands []command

	opts       outputOptions // of the command; set once its flags are read
	line       *lineReader   // of the command; nil until it is read
	grpcFlag   string        // one that was typed and that only gRPC plugins know; empty: none
	showHelp   bool          // --help was given
	helpAll    bool          // --help-all was given
	probeCodes bool          // exit with the codes of grpc-health-probe
}

// begin sets up the output of a command, whose flags have been read.
func (f *program) begin(flags []cli.Flag) {
	o := f.opts
	f.grpcFlag = firstTyped(slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool { return valueOf(f).Category != grpcCategory }))
	f.streams.Quiet, f.streams.Verbose, f.streams.LogJSON = o.quiet, o.verbose, o.logJSON
	f.streams.SetColor(o.color)
}

// fail prints an error with its hints.
func (f *program) fail(err error) {
	if printed := (*printedError)(nil); errors.Is(err, errQuiet) || errors.As(err, &printed) {
		return
	}
	p := pluginOf(err)
	f.streams.Fail(f.signals.kill, ui.Failure{Err: p.complete(err), Shown: p.shown(), JSON: f.opts.json})
}

// untilSignal returns the error of a command that runs until a signal. The signal is no failure.
func (f *program) untilSignal(err error) error {
	if signal := (*signalError)(nil); !errors.As(err, &signal) {
		return err
	}
	f.streams.EndLine()
	return &printedError{code: exitCode(err)}
}

// writeGrace is the time that a write still has after its context ended. A write that succeeds
// must not be reported as interrupted.
const writeGrace = 100 * time.Millisecond

// write does one write to standard output. A reader that has gone away ends
// the command quietly; one that does not read is left soon after ctx ends.
func (f *program) write(ctx context.Context, write func() error) error {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(writeGrace, func() { cancel(context.Cause(ctx)) })
	})()
	_, err := hook.Interruptible(late, func() (struct{}, error) { return struct{}{}, write() })
	if err == nil || context.Cause(ctx) != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return outputError(err)
}

// openOutput opens the file of a flag for writing, and creates it if necessary. The wait for
// the reader of a named pipe ends with ctx.
func openOutput(ctx context.Context, flag, name string, how int, mode fs.FileMode) (*os.File, error) {
	return hook.Interruptible(ctx, func() (*os.File, error) {
		file, err := os.OpenFile(name, how|os.O_WRONLY|os.O_CREATE, mode)
		if err != nil {
			return nil, usage("%s: %w", flag, err)
		}
		return file, nil
	})
}

func outputError(err error) error {
	switch {
	case err == nil:
		return nil
	case ui.IsClosedPipe(err):
		return errQuiet
	default:
		return &hook.Error{Kind: hook.Failed, Reason: ui.OutputFailed, Err: fmt.Errorf("standard output: %w", err)}
	}
}

// asCanceled returns err if it is of kind Canceled, else nil.
func asCanceled(err error) *hook.Error {
	if e := (*hook.Error)(nil); errors.As(err, &e) && e.Kind == hook.Canceled {
		return e
	}
	return nil
}

// connect connects to the background plugin that word names.
func (f *program) connect(ctx context.Context, word string) (*plugin, error) {
	id, err := service.FindRunning(ctx, word)
	if err != nil {
		return nil, err
	}
	return f.connectTo(ctx, id.Name, word)
}

// connectTo connects to the background plugin name. word names it in messages.
func (f *program) connectTo(ctx context.Context, name, word string) (*plugin, error) {
	c, err := daemon.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &plugin{f: f, path: word, client: c, elsewhere: true}, nil
}

// connectNamed connects to the background plugin that a plain word names. It returns nil if
// the word is a path, or if no such plugin runs.
func (f *program) connectNamed(ctx context.Context, word string) (*plugin, error) {
	if !service.Plain(word) {
		return nil, nil
	}
	id, err := service.Find(ctx, word)
	if err != nil || id.Name == "" {
		return nil, err
	}
	return f.connectTo(ctx, id.Name, word)
}

// connectOrStart connects to the background plugin with the name cfg.Plugin, or starts the
// plugin at that path for a call or two. With a name it rejects the flags ofPlugin, which
// say how a plugin is started.
func (f *program) connectOrStart(ctx context.Context, cfg runner.Config, ofPlugin []cli.Flag) (*plugin, error) {
	p, err := f.connectNamed(ctx, cfg.Plugin)
	if err != nil {
		return nil, err
	}
	if p == nil {
		cfg.Once = true
		return f.launch(ctx, cfg, nil)
	}
	if name := firstTyped(ofPlugin); name != "" {
		return nil, p.failed(usage("%s does not apply to %s, which is already running", name, cfg.Plugin))
	}
	return p, nil
}

// isNotRunning reports whether an error says that nothing runs under a name.
func isNotRunning(err error) bool { return daemon.Is(err, daemon.NotRunning) }
