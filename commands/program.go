package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// program is what the commands of one run share.
type program struct {
	streams  *ui.Streams
	life     *life
	commands []command
	opts     outputOptions   // of the command, once its flags are read
	session  *runner.Session // the plugin that was opened, for messages
	plugin   string          // its path as typed
	output   *ui.Output
	early    error // what prepare found wrong
	help     helpWriter
}

// begin settles the output of a command.
func (f *program) begin(c *cli.Context) error {
	o, err := readOutput(c)
	if err != nil {
		return err
	}
	f.opts = o
	f.streams.Quiet, f.streams.Verbose, f.streams.LogJSON = o.quiet, o.verbose, o.logJSON
	if err := f.streams.SetColor(o.color); err != nil {
		return usage("--color: %w", err)
	}
	return nil
}

// open opens a plugin, with what it prints going to standard error.
func (f *program) open(ctx context.Context, cfg runner.Config) (*runner.Session, error) {
	f.plugin = cfg.Plugin
	label := pluginLabel(cfg.Plugin)
	f.output = f.streams.PluginOutput(ui.OutputOptions{Label: label, Quiet: f.opts.quiet, JSON: f.opts.logJSON})
	f.output.SetGeneration(1)
	cfg.Output = f.output.Line
	if len(f.opts.debug) > 0 {
		cfg.DebugWire = slices.Contains(f.opts.debug, "wire")
		cfg.Debug = func(area, text string) {
			if slices.Contains(f.opts.debug, area) {
				f.streams.Log("debug", area+": "+text)
			}
		}
	}
	stop := f.streams.Waiting("starting " + cfg.Plugin)
	defer stop()
	s, err := runner.Open(ctx, cfg)
	f.session = s
	if err != nil {
		return nil, err
	}
	py := s.Interpreter()
	for _, skipped := range py.Skipped {
		f.streams.Note(skipped.String() + "; using " + py.Path)
	}
	f.streams.Log("info", "ready", "plugin", cfg.Plugin, "python", py.Path, "version", s.Info().Python,
		"source", string(py.Source), "pid", s.Info().PID, "after", s.Info().Ready)
	return s, nil
}

// closeSession stops the plugin. A second signal has it killed.
func (f *program) closeSession(s *runner.Session) {
	stop := f.streams.Waiting("stopping " + f.plugin)
	defer stop()
	if err := s.Close(f.life.kill); err != nil {
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
	if errors.Is(err, errQuiet) {
		return
	}
	if f.output != nil {
		f.output.Close() // what the plugin said comes first
	}
	e := asError(err)
	f.streams.Fail(ui.Failure{Err: e, Context: f.context(e), Hints: f.hints(err),
		Shown: f.output != nil && !f.opts.quiet, JSON: f.opts.json})
}
