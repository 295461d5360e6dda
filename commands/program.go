package commands

import (
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
)

// program is one run of pyplug: what all commands need. It is set up while the command
// line is read, and then only read.
type program struct {
	streams  *ui.Streams
	signals  *signals
	commands []command

	opts       outputOptions // of the command; set once its flags are read
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

// untilSignal is the end of a command that runs until a signal, which is then no failure.
func (f *program) untilSignal(err error) error {
	if signal := (*signalError)(nil); !errors.As(err, &signal) {
		return err
	}
	f.streams.EndLine()
	return &printedError{code: exitCode(err)}
}
