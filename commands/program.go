package commands

import (
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
)

// program is one run of pyplug: what all commands need.
type program struct {
	streams  *ui.Streams
	signals  *signals
	commands []command

	opts       outputOptions // of the command; set once its flags are read
	grpcFlag   string        // one that was typed and that only gRPC plugins know; empty: none
	showHelp   bool          // --help was given
	helpAll    bool          // --help-all was given
	probeCodes bool          // exit with the codes of grpc-health-probe
	endless    bool          // the command runs until a signal, which is then no failure

	plugin *plugin // the one that messages are about; nil: none
	noted  bool    // the notes on a plugin that is ready have been printed
}

// begin sets up the output of a command, whose flags have been read.
func (f *program) begin(flags []cli.Flag) {
	o := f.opts
	f.grpcFlag = firstTyped(slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool { return valueOf(f).Category != grpcCategory }))
	f.streams.Quiet, f.streams.Verbose, f.streams.LogJSON = o.quiet, o.verbose, o.logJSON
	f.streams.SetColor(o.color)
}

// finish prints the rest of the plugin's output.
func (f *program) finish() {
	if f.plugin != nil {
		f.plugin.output.Close()
	}
}

// fail prints an error with its hints.
func (f *program) fail(err error) {
	signal, printed := (*signalError)(nil), (*printedError)(nil)
	if errors.Is(err, errQuiet) || errors.As(err, &printed) {
		return
	}
	if f.endless && errors.As(err, &signal) {
		f.streams.EndLine()
		return
	}
	f.finish() // what the plugin printed comes first
	f.streams.Fail(f.signals.kill, ui.Failure{Err: f.complete(err), Shown: f.plugin != nil && f.plugin.shown(), JSON: f.opts.json})
}
