package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

// command is a command of pyplug. names is the number of words before the hook's arguments, such as
// 2 for PLUGIN HOOK, or one of the two constants below.
type command struct {
	*cli.Command
	names  int
	config *plan.Config // set by the flags if a HOOK may follow PLUGIN, or nil
	keeps  bool         // the command keeps a plugin alive under a name
}

// newCommand declares a command. do receives its words.
func newCommand(name, usage, args string, flags cmdline.Flags, do func(ctx context.Context, words []string) error) command {
	return command{names: allWords, Command: &cli.Command{
		Name: name, Usage: usage, ArgsUsage: args, Flags: flags,
		Action: func(c *cli.Context) error { return do(c.Context, c.Args().Slice()) },
	}}
}

const (
	allWords = -1 // the command calls no hook, so its flags may be anywhere
	asTyped  = -2 // the command receives all words as typed, even flags
)

// commandList lists the commands in the order of the help.
func commandList(prog *program) []command {
	list := []command{
		checkCommand(prog), runCommand(prog), serveCommand(prog), startCommand(prog), callCommand(prog), statusCommand(prog), logsCommand(prog),
		restartCommand(prog), stopCommand(prog), hooksCommand(prog), healthCommand(prog), testCommand(prog), mcpCommand(prog), pythonCommand(prog), syncCommand(prog),
		completionCommand(prog), helpCommand(prog), versionCommand(prog), completeCommand(prog), daemonCommand(prog),
	}
	for _, c := range list {
		help := cmdline.Switch(&prog.showHelp, "help", "show help; after PLUGIN HOOK, the help of that hook").Alias("h")
		if c.names != 2 {
			help.Usage = "show help"
		}
		all := cmdline.Switch(&prog.helpAll, "help-all", "show help with every flag").Then(func() { prog.showHelp = prog.helpAll })
		c.Flags = append(c.Flags, help, all)
	}
	return list
}

// newApp returns the application of urfave/cli v2. It only calls the actions of the commands: it
// reads no flags, prints nothing, and never exits.
func newApp(prog *program) *cli.App {
	app := &cli.App{
		Name:           "pyplug",
		HideHelp:       true,
		HideVersion:    true,
		Writer:         io.Discard,
		ErrWriter:      io.Discard,
		ExitErrHandler: func(*cli.Context, error) {},
	}
	for _, cmd := range prog.commands {
		cmd.HideHelp = true // commandList added pyplug's own --help
		app.Commands = append(app.Commands, cmd.Command)
	}
	return app
}

// earlyFlags maps the flags before a command to the command that each runs.
var earlyFlags = map[string]string{"help": "help", "h": "help", "version": "version"}

// readArgs finds the command in args, reads its line and sets up its output. It returns the words
// for urfave/cli.
func (prog *program) readArgs(args []string) ([]string, error) {
	if len(args) < 2 {
		return []string{"pyplug", "help"}, nil
	}
	name, args := args[1], args[2:]
	if strings.HasPrefix(name, "-") && len(name) > 1 {
		typed, _, _ := cmdline.Cut(name)
		early := earlyFlags[typed]
		if early == "" {
			return nil, prog.earlyFlag(name, args)
		}
		name = early
	}
	cmd, ok := prog.commandNamed(name)
	switch {
	case !ok:
		return nil, cmdline.UnknownCommand(name, args, prog.commandNames())
	case cmd.names == asTyped:
		return slices.Concat([]string{"pyplug", name}, args), nil
	}
	line, err := cmdline.Read(cmd.Command, cmd.names, args)
	prog.line = line
	switch {
	case err != nil:
		return nil, err
	case line.InData() && (prog.showHelp && !prog.helpAll || asksForHelp(line.Words[line.Names:])):
		prog.showHelp = false
		return prog.readArgs(prog.hookHelp(cmd, line.Words[:line.Names]))
	case prog.showHelp:
		return []string{"pyplug", "help", "--", cmd.Name}, nil
	}
	if err := line.TwoWords(); err != nil {
		return nil, err
	}
	if err := cmdline.SetFromEnvironment(cmd.Flags); err != nil {
		return nil, err
	}
	prog.keeps = cmd.keeps
	prog.begin()
	return slices.Concat([]string{"pyplug", name, "--"}, line.Words), nil
}

// asksForHelp reports whether the words after HOOK ask for the hook's help.
func asksForHelp(words []string) bool {
	return len(words) == 1 && (words[0] == "--help" || words[0] == "-h")
}

// hookHelp returns the command line of `pyplug hooks` for the PLUGIN HOOK in words. It keeps the
// flags of cmd that say how the plugin is started.
func (prog *program) hookHelp(cmd command, words []string) []string {
	hooks, _ := prog.commandNamed("hooks")
	known := cmdline.ByName(hooks.Command)
	args := []string{"pyplug", hooks.Name}
	for _, flag := range cmd.Flags {
		if name := cmdline.FlagOf(flag).Name; known[name] != nil && name != "help" {
			args = append(args, cmdline.Words(cmdline.Flags{flag})...)
		}
	}
	return slices.Concat(args, []string{"--"}, words)
}

// commandNamed returns the command with a name.
func (prog *program) commandNamed(name string) (command, bool) {
	i := slices.IndexFunc(prog.commands, func(c command) bool { return c.HasName(name) })
	if i < 0 {
		return command{}, false
	}
	return prog.commands[i], true
}

// earlyFlag returns the error for an unknown flag before the command.
func (prog *program) earlyFlag(word string, args []string) error {
	name, _, _ := cmdline.Cut(word)
	at := slices.IndexFunc(args, func(arg string) bool {
		cmd, ok := prog.commandNamed(arg)
		return ok && cmdline.ByName(cmd.Command)[name] != nil
	})
	if at < 0 {
		return cmdline.UnknownFlag(word, "", maps.Keys(earlyFlags))
	}
	line := schema.QuoteLine(slices.Concat([]string{"pyplug", args[at], word}, args[:at], args[at+1:]))
	return cmdline.Hinted(cmdline.Usage("%s comes before the command", word), schema.Hintf("write flags after the command: %s", line))
}

// visible returns the commands in the help.
func visible(commands []command) []command {
	return slices.DeleteFunc(slices.Clone(commands), func(c command) bool { return c.Hidden })
}

func (prog *program) commandNames() (names []string) {
	for _, c := range visible(prog.commands) {
		names = append(names, c.Name)
	}
	return names
}

// program is one run of pyplug. It contains the state that all commands need. Reading the command
// line sets its fields. After that they do not change.
type program struct {
	streams  *ui.Streams
	signals  *signals
	commands []command

	opts     outputOptions // the command's output flags
	line     *cmdline.Line // the command line, or nil until it has been read
	showHelp bool          // --help was given
	helpAll  bool          // --help-all was given
	keeps    bool          // the command keeps a plugin alive under a name, see serve
}

// begin sets up the output of a command after its flags were read.
func (prog *program) begin() {
	o := prog.opts
	prog.streams.Quiet, prog.streams.Verbose, prog.streams.LogJSON = o.quiet, o.verbose, o.logJSON
	prog.streams.SetColor(o.color)
}

// fail prints an error with its hints.
func (prog *program) fail(err error) {
	if printed := (*printedError)(nil); errors.Is(err, errQuiet) || errors.As(err, &printed) {
		return
	}
	p := pluginOf(err)
	prog.streams.Fail(prog.signals.kill, ui.Failure{Err: completeError(err), Shown: p != nil && p.shown(), JSON: prog.opts.json})
}

// untilSignal returns the error of a command that runs until a signal. The signal is not a failure.
func (prog *program) untilSignal(err error) error {
	if signal := (*signalError)(nil); !errors.As(err, &signal) {
		return err
	}
	prog.streams.EndLine()
	return &printedError{code: exitCode(err)}
}

// writeGrace is how long a write may continue after its context ended. A write that succeeds must
// not be reported as interrupted.
const writeGrace = 100 * time.Millisecond

// write performs one write to standard output. If the reader has gone away, the command ends
// quietly. If the reader does not read, write gives up soon after ctx ends.
func (prog *program) write(ctx context.Context, write func() error) error {
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

// openOutput opens the file of a flag for writing, and creates it if necessary. The wait for the
// reader of a named pipe ends with ctx.
func openOutput(ctx context.Context, flag, name string) (*os.File, error) {
	return hook.Interruptible(ctx, func() (*os.File, error) {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return nil, cmdline.Usage("%s: %w", flag, err)
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
		return &hook.Error{Kind: hook.Failed, Reason: hook.OutputFailed, Err: fmt.Errorf("standard output: %w", err)}
	}
}

// asKind changes the kind of an error, unless a signal caused the error. It returns nil for nil.
func asKind(kind hook.Kind, err error) error {
	if e := (*hook.Error)(nil); err == nil || errors.As(err, &e) && e.Kind == hook.Canceled {
		return err
	}
	return hook.NewError(kind, err)
}

// connect connects to the background plugin that word names.
func (prog *program) connect(ctx context.Context, word string) (*background, error) {
	id, err := service.FindRunning(ctx, word)
	if err != nil {
		return nil, err
	}
	return prog.connectTo(ctx, id.Name, word)
}

// connectTo connects to the background plugin name. word names it in messages.
func (prog *program) connectTo(ctx context.Context, name, word string) (*background, error) {
	c, err := daemon.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return prog.background(c, word), nil
}

// connectNamed connects to the background plugin that a plain word names. It returns nil if
// the word is a path, or if no such plugin runs.
func (prog *program) connectNamed(ctx context.Context, word string) (*background, error) {
	if !service.Plain(word) {
		return nil, nil
	}
	id, err := service.Find(ctx, word)
	if err != nil || id.Name == "" {
		return nil, err
	}
	return prog.connectTo(ctx, id.Name, word)
}

// reach connects to the background plugin that word names. If no such plugin runs, it starts the
// plugin at the path word, until the command ends. For a running plugin it rejects the flags
// ofPlugin, which say how a plugin is started.
func (prog *program) reach(ctx context.Context, word string, cfg plan.Config, ofPlugin cmdline.Flags) (plugin, error) {
	err := openConfig(&cfg, word)
	if err != nil {
		return nil, err
	}
	p, err := prog.connectNamed(ctx, word)
	if p != nil {
		return p, p.rejects(ofPlugin)
	}
	if err != nil {
		return nil, err
	}
	cfg.Once = true
	started, err := prog.launch(ctx, cfg, nil)
	if err != nil {
		return nil, err
	}
	return started, nil
}

// rejects returns a usage error if one of the flags ofStart was typed. They say how a plugin is
// started, but this one is already running.
func (p *background) rejects(ofStart cmdline.Flags) error {
	if name := cmdline.FirstTyped(ofStart); name != "" {
		return failed(p, cmdline.Usage("%s does not apply to %s, which is already running", name, p.word))
	}
	return nil
}

// isNotRunning reports whether an error says that nothing runs under a name.
func isNotRunning(err error) bool { return daemon.Is(err, daemon.NotRunning) }
