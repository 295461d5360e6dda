package commands

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/schema"
)

// command is one of ours: what urfave/cli knows, and how many names stand
// before its data, or one of the two below.
type command struct {
	*cli.Command
	names int
	// wordless are the switches with which it has no data.
	wordless []string
}

const (
	allWords = -1 // it takes no data: its flags may stand anywhere
	asTyped  = -2 // its words are not arranged
)

// commandList lists the commands in the order of the help.
func commandList(f *program) []command {
	return []command{
		checkCommand(f), runCommand(f), startCommand(f), callCommand(f), statusCommand(f), logsCommand(f),
		restartCommand(f), stopCommand(f), hooksCommand(f), healthCommand(f), benchCommand(f),
		completionCommand(f), helpCommand(f), versionCommand(f), completeCommand(f), daemonCommand(f),
	}
}

const about = `pyplug calls a Python plugin from a shell, from CI and from any program.

   pyplug run greeter.py greet World
   pyplug start greeter.py && pyplug call greeter greet World

   PLUGIN is a .py file, a package directory, or a directory with a manifest. Its public functions
   are its hooks. It may also be a program for a host of hashicorp/go-plugin, in Python or not: its
   hooks are its gRPC methods. Standard output carries the result and nothing else.`

// newApp builds the command line. urfave/cli v2 is fenced in here: it never
// prints a usage error, never exits, never splits a value at a comma.
func newApp(f *program) *cli.App {
	f.help.to = f.streams.Out
	app := &cli.App{
		Name:                      "pyplug",
		Usage:                     "make a Python plugin usable from a shell",
		Description:               about,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Writer:                    &f.help,
		ErrWriter:                 f.streams.Err,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
		CustomAppHelpTemplate:     cli.AppHelpTemplate + "\n" + exitStatus(),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show this help"},
			&cli.BoolFlag{Name: "version", Usage: "print the version"},
		},
		Action: func(c *cli.Context) error {
			switch {
			case f.lineErr != nil:
				return f.lineErr
			case c.Bool("version"):
				return printVersion(f, false)
			case c.Args().Present():
				return f.unknownCommand(c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, cmd := range f.commands {
		cmd.OnUsageError = usageError
		action := cmd.Action
		cmd.Action = func(c *cli.Context) error {
			if err := f.begin(c); err != nil {
				return err
			}
			return action(c)
		}
		cmd.HideHelpCommand = true
		cmd.CustomHelpTemplate = cli.CommandHelpTemplate + "\n" + exitStatus()
		app.Commands = append(app.Commands, cmd.Command)
	}
	return app
}

// readArgs finds the command in args and reads its line. It returns the words for
// urfave/cli. The app's action reports what is wrong with them.
func (f *program) readArgs(args []string) []string {
	if len(args) < 2 {
		return args
	}
	if strings.HasPrefix(args[1], "-") && len(args[1]) > 1 {
		f.lineErr = f.earlyFlag(args[1:])
	}
	if f.lineErr != nil {
		return args[:1]
	}
	cmd, ok := f.commandNamed(args[1])
	if !ok || cmd.names == asTyped {
		return args
	}
	line := readLine(cmd, args[2:])
	f.opts.json, f.probeCodes = line.isOn("json"), line.isOn("probe-codes")
	f.typed, f.lineErr = line.typed(), line.err
	if f.lineErr != nil {
		return args[:1]
	}
	return slices.Concat(args[:2], line.flags, []string{"--"}, line.words)
}

// commandNamed finds a command.
func (f *program) commandNamed(name string) (command, bool) {
	i := slices.IndexFunc(f.commands, func(c command) bool { return c.HasName(name) })
	if i < 0 {
		return command{}, false
	}
	return f.commands[i], true
}

// earlyFlag is the error for a flag before the command that is not pyplug's own:
// one of the command's, or none.
func (f *program) earlyFlag(args []string) error {
	ours := flagsOf(&cli.Command{Flags: []cli.Flag{&cli.BoolFlag{Name: "version"}}})
	name, _, _ := cutFlag(args[0])
	if ours[name] != nil {
		return nil
	}
	for i, word := range args[1:] {
		cmd, ok := f.commandNamed(word)
		if !ok || flagsOf(cmd.Command)[name] == nil {
			continue
		}
		flags := args[:i+1]
		f.opts.json = readLine(cmd, flags).isOn("json")
		line := schema.QuoteLine(slices.Concat([]string{"pyplug", word}, flags, args[i+2:]))
		return hinted(usage("%s comes before the command", args[0]), "flags come after it: "+line)
	}
	typed, _, _ := strings.Cut(args[0], "=")
	return unknownFlag(typed, ours)
}

func (f *program) unknownCommand(name string) error {
	var names []string
	for _, c := range f.commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	quoted := schema.QuoteLine([]string{name})
	hint := "`pyplug help` lists the commands"
	if s := schema.Suggest(name, names); s != "" {
		hint = "did you mean `pyplug " + s + "`?"
	} else if strings.ContainsAny(name, "./") {
		hint = "`pyplug run " + quoted + " HOOK` calls one of its functions"
	}
	return hinted(usage("unknown command %s", quoted), hint)
}
