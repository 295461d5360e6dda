package commands

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/schema"
)

// command is a command of pyplug. names is the number of words before its data, or one of the
// two constants below.
type command struct {
	*cli.Command
	names  int
	config *runner.Config // what the flags say of a PLUGIN whose HOOK may follow; nil: none does
}

// newCommand declares a command of which do reads the words.
func newCommand(name, usage, args string, flags []cli.Flag, do func(ctx context.Context, words []string) error) command {
	return command{names: allWords, Command: &cli.Command{
		Name: name, Usage: usage, ArgsUsage: args, Flags: flags,
		Action: func(c *cli.Context) error { return do(c.Context, c.Args().Slice()) },
	}}
}

const (
	allWords = -1 // it takes no data: its flags may stand anywhere
	asTyped  = -2 // its words are not arranged
)

// commandList lists the commands in the order of the help.
func commandList(f *program) []command {
	list := []command{
		checkCommand(f), runCommand(f), startCommand(f), callCommand(f), statusCommand(f), logsCommand(f),
		restartCommand(f), stopCommand(f), hooksCommand(f), healthCommand(f), testCommand(f), mcpCommand(f), benchCommand(f), pythonCommand(f), syncCommand(f),
		completionCommand(f), helpCommand(f), versionCommand(f), completeCommand(f), daemonCommand(f),
	}
	for _, c := range list {
		help := alias(switchFlag(&f.showHelp, "help", "show help; after PLUGIN HOOK, the help of that hook"), "h")
		if c.names != 2 {
			help.Usage = "show help"
		}
		all := then(switchFlag(&f.helpAll, "help-all", "show help with every flag"), func() { f.showHelp = f.helpAll })
		c.Flags = append(c.Flags, help, all)
	}
	return list
}

// newApp returns the application of urfave/cli v2. It only calls the actions of the commands:
// it reads no flags, prints nothing, and never exits.
func newApp(f *program) *cli.App {
	app := &cli.App{
		Name:           "pyplug",
		HideHelp:       true,
		HideVersion:    true,
		Writer:         io.Discard,
		ErrWriter:      io.Discard,
		ExitErrHandler: func(*cli.Context, error) {},
	}
	for _, cmd := range f.commands {
		cmd.HideHelp = true // ours is among its flags
		app.Commands = append(app.Commands, cmd.Command)
	}
	return app
}

// earlyFlags are the flags before a command, with the command that each runs.
var earlyFlags = map[string]string{"help": "help", "h": "help", "version": "version"}

// readArgs finds the command in args, reads its line and sets up its output. It returns
// the words for urfave/cli.
func (f *program) readArgs(args []string) ([]string, error) {
	if len(args) < 2 {
		return []string{"pyplug", "help"}, nil
	}
	name, args := args[1], args[2:]
	if strings.HasPrefix(name, "-") && len(name) > 1 {
		typed, _, _ := cutFlag(name)
		early := earlyFlags[typed]
		if early == "" {
			return nil, f.earlyFlag(name, args)
		}
		name = early
	}
	cmd, ok := f.commandNamed(name)
	switch {
	case !ok:
		return nil, f.unknownCommand(name)
	case cmd.names == asTyped:
		return slices.Concat([]string{"pyplug", name}, args), nil
	}
	line, err := readLine(cmd, args)
	f.line = line
	switch {
	case err != nil:
		return nil, err
	case line.inData() && (f.showHelp && !f.helpAll || asksForHelp(line.words[line.names:])):
		f.showHelp = false
		return f.readArgs(f.hookHelp(cmd, line.words[:line.names]))
	case f.showHelp:
		return []string{"pyplug", "help", "--", cmd.Name}, nil
	}
	if err := setFromEnvironment(cmd.Flags); err != nil {
		return nil, err
	}
	f.begin(cmd.Flags)
	return slices.Concat([]string{"pyplug", name, "--"}, line.words), nil
}

// asksForHelp reports whether the words after HOOK ask for its help.
func asksForHelp(words []string) bool {
	return len(words) == 1 && (words[0] == "--help" || words[0] == "-h")
}

// hookHelp returns the command line that explains the hook of another command line. It keeps
// the flags that say how the plugin is started.
func (f *program) hookHelp(cmd command, words []string) []string {
	hooks, _ := f.commandNamed("hooks")
	known := flagsOf(hooks.Command)
	args := []string{"pyplug", hooks.Name}
	for _, flag := range cmd.Flags {
		if name := valueOf(flag).Name; known[name] != nil && name != "help" {
			args = append(args, flagWords([]cli.Flag{flag})...)
		}
	}
	return slices.Concat(args, []string{"--"}, words)
}

// commandNamed finds a command.
func (f *program) commandNamed(name string) (command, bool) {
	i := slices.IndexFunc(f.commands, func(c command) bool { return c.HasName(name) })
	if i < 0 {
		return command{}, false
	}
	return f.commands[i], true
}

// earlyFlag returns the error for an unknown flag before the command.
func (f *program) earlyFlag(word string, args []string) error {
	name, _, _ := cutFlag(word)
	at := slices.IndexFunc(args, func(arg string) bool {
		cmd, ok := f.commandNamed(arg)
		return ok && flagsOf(cmd.Command)[name] != nil
	})
	if at < 0 {
		return unknownFlag(word, maps.Keys(earlyFlags))
	}
	line := schema.QuoteLine(slices.Concat([]string{"pyplug", args[at], word}, args[:at], args[at+1:]))
	return hinted(usage("%s comes before the command", word), schema.Hintf("flags come after it: %s", line))
}

func (f *program) commandNames() (names []string) {
	for _, c := range f.commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

func (f *program) unknownCommand(name string) error {
	quoted := schema.QuoteLine([]string{name})
	hint := schema.Hintf("%s lists the commands", schema.Command{"help"})
	if strings.ContainsAny(name, "./") {
		hint = schema.Hintf("%s calls one of its functions", schema.Command{"run", name, "HOOK"})
	}
	return suggested(usage("unknown command %s", quoted), "`pyplug %s`", name, f.commandNames(), hint)
}
