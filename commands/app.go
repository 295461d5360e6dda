package commands

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/schema"
)

// command is a command of pyplug.
type command struct {
	Name      string
	Aliases   []string
	Usage     string // what it does, in one line
	ArgsUsage string // its words, a line for each form
	Hidden    bool
	Flags     []*flag
	// Action does the work. It gets the words that are no flags.
	Action func(ctx context.Context, words []string) error

	names    int            // how many words come before its data; 0: it takes no data, and its flags may stand anywhere
	verbatim bool           // its line is not read: all words are Action's
	config   *runner.Config // what the flags say of a PLUGIN whose HOOK may follow; nil: none does
}

// hasName reports whether name is that of the command, or another one of it.
func (c command) hasName(name string) bool { return c.Name == name || slices.Contains(c.Aliases, name) }

// commandList lists the commands in the order of the help.
func commandList(f *program) []command {
	list := []command{
		checkCommand(f), runCommand(f), startCommand(f), callCommand(f), statusCommand(f), logsCommand(f),
		restartCommand(f), stopCommand(f), hooksCommand(f), healthCommand(f), testCommand(f), mcpCommand(f), benchCommand(f), pythonCommand(f), syncCommand(f),
		completionCommand(f), helpCommand(f), versionCommand(f), completeCommand(f), daemonCommand(f),
	}
	for i := range list {
		c := &list[i]
		help := alias(switchFlag(&f.showHelp, "help", "show help; after PLUGIN HOOK, the help of that hook"), "h")
		if c.names != 2 {
			help.Usage = "show help"
		}
		all := then(switchFlag(&f.helpAll, "help-all", "show help with every flag"), func() { f.showHelp = f.helpAll })
		c.Flags = append(c.Flags, help, all)
	}
	return list
}

// earlyFlags are the flags before a command, with the command that each runs.
var earlyFlags = map[string]string{"help": "help", "h": "help", "version": "version"}

// readArgs finds the command in args, reads its line and sets up its output. It returns
// the command to run, and its words.
func (f *program) readArgs(args []string) (cmd command, words []string, err error) {
	if len(args) < 2 {
		args = []string{"pyplug", "help"}
	}
	name, args := args[1], args[2:]
	if strings.HasPrefix(name, "-") && len(name) > 1 {
		typed, _, _ := cutFlag(name)
		early := earlyFlags[typed]
		if early == "" {
			return cmd, nil, f.earlyFlag(name, args)
		}
		name = early
	}
	cmd, ok := f.commandNamed(name)
	switch {
	case !ok:
		return cmd, nil, f.unknownCommand(name)
	case cmd.verbatim:
		return cmd, args, nil
	}
	line, err := readLine(cmd, args)
	f.line = line
	switch {
	case err != nil:
		return cmd, nil, err
	case line.inData() && (f.showHelp && !f.helpAll || asksForHelp(line.words[line.names:])):
		f.showHelp = false
		return f.readArgs(f.hookHelp(cmd, line.words[:line.names]))
	case f.showHelp:
		words = []string{cmd.Name}
		cmd, _ = f.commandNamed("help")
		return cmd, words, nil
	}
	if err := setFromEnvironment(cmd.Flags); err != nil {
		return cmd, nil, err
	}
	f.begin(cmd.Flags)
	return cmd, line.words, nil
}

// asksForHelp reports whether the words after HOOK ask for its help.
func asksForHelp(words []string) bool {
	return len(words) == 1 && (words[0] == "--help" || words[0] == "-h")
}

// hookHelp returns the command line that explains the hook of another command line. It keeps
// the flags that say how the plugin is started.
func (f *program) hookHelp(cmd command, words []string) []string {
	hooks, _ := f.commandNamed("hooks")
	known := flagsOf(hooks.Flags)
	args := []string{"pyplug", hooks.Name}
	kept := slices.DeleteFunc(slices.Clone(cmd.Flags), func(f *flag) bool { return known[f.Name] == nil || f.Name == "help" })
	return slices.Concat(args, flagWords(kept), []string{"--"}, words)
}

// commandNamed finds a command.
func (f *program) commandNamed(name string) (command, bool) {
	i := slices.IndexFunc(f.commands, func(c command) bool { return c.hasName(name) })
	if i < 0 {
		return command{}, false
	}
	return f.commands[i], true
}

// earlyFlag returns the error for an unknown flag before the command.
func (f *program) earlyFlag(word string, args []string) error {
	name, _, _ := cutFlag(word)
	for i, arg := range args {
		cmd, ok := f.commandNamed(arg)
		if !ok || flagsOf(cmd.Flags)[name] == nil {
			continue
		}
		flags := append([]string{word}, args[:i]...)
		_, _ = readLine(cmd, flags) // --json among them holds for this error
		line := schema.QuoteLine(slices.Concat([]string{"pyplug", arg}, flags, args[i+1:]))
		return hinted(usage("%s comes before the command", word), schema.Hintf("flags come after it: %s", line))
	}
	typed, _, _ := strings.Cut(word, "=")
	return unknownFlag(typed, maps.Keys(earlyFlags))
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
