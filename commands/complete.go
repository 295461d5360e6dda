package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/completions"
	"github.com/pyplug/pyplug/docs/findings"
	"github.com/pyplug/pyplug/runner/daemon"
)

// completeCommand answers the completion scripts: it prints a candidate with a
// tab and a description per line, and ":files" where a file may stand. It never
// fails: a shell that completes shows no errors.
func completeCommand(f *program) command {
	return command{names: asTyped, Command: &cli.Command{
		Name:            "__complete",
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			lines := complete(f.commands, c.Args().Slice())
			_ = f.print(strings.Join(append(lines, ""), "\n")) // a shell that does not listen needs nothing
			return nil
		},
	}}
}

const files = ":files"

// complete returns the candidates for the last of words, which may be empty.
func complete(commands []command, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return commandNames(commands, last)
	}
	for _, cmd := range commands {
		if cmd.HasName(words[0]) && !cmd.Hidden {
			return completeIn(commands, cmd, words[1:len(words)-1], last)
		}
	}
	return nil
}

func commandNames(commands []command, prefix string) []string {
	var lines []string
	for _, cmd := range commands {
		if !cmd.Hidden && strings.HasPrefix(cmd.Name, prefix) {
			lines = append(lines, cmd.Name+"\t"+cmd.Usage)
		}
	}
	return lines
}

// completeIn completes last behind a command and the words before it.
func completeIn(commands []command, cmd command, before []string, last string) []string {
	given, _ := readLine(cmd, before) // what is wrong with them does not matter here
	inData := cmd.names >= 0 && len(given) >= cmd.names || slices.Contains(before, "--")
	var awaits *flag // a value
	if n := len(before); n > 0 && !inData && strings.HasPrefix(before[n-1], "-") {
		name, _, hasValue := cutFlag(before[n-1])
		if f := flagsOf(cmd.Command)[name]; f != nil && !f.isSwitch && !hasValue {
			awaits = f
		}
	}
	switch {
	case inData, awaits != nil && awaits.files:
		return []string{files}
	case awaits != nil:
		return prefixed(awaits.candidates, last)
	case strings.HasPrefix(last, "-"):
		return flagNames(cmd.Command, last)
	case cmd.Name == "help" && len(given) == 0:
		return append(commandNames(commands, last), prefixed([]string{"finding"}, last)...)
	case cmd.Name == "help" && given[0] == "finding":
		return prefixed(findings.IDs(), last)
	case cmd.Name == "python" && len(given) == 0:
		return prefixed(pythonVerbs, last)
	case cmd.Name == "python" && len(given) == 1 && given[0] != "list":
		return []string{files}
	case cmd.Name == "completion":
		return prefixed(completions.Shells(), last)
	case cmd.Name == "call" && len(given) == 1:
		return prefixed(hookNames(given[0]), last)
	case len(cmd.ArgsUsage) == 0, len(given) > 0 && (cmd.names > 0 || !strings.Contains(cmd.ArgsUsage, "...")):
		return nil
	}
	var lines []string
	if strings.Contains(cmd.ArgsUsage, "NAME") {
		others := slices.DeleteFunc(runningNames(), func(name string) bool { return slices.Contains(given, name) })
		lines = prefixed(others, last)
	}
	if !strings.Contains(cmd.ArgsUsage, "NAME") || strings.Contains(cmd.ArgsUsage, "PLUGIN") {
		lines = append(lines, files)
	}
	return lines
}

// completeLimit is how long a key may wait for a background plugin.
const completeLimit = 500 * time.Millisecond

// runningNames lists the background plugins.
func runningNames() []string {
	ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
	defer cancel()
	entries, _ := daemon.List(ctx) // those that can be seen are offered
	return namesIn(entries)
}

// hookNames lists the hooks of a background plugin, with their documentation.
func hookNames(name string) (lines []string) {
	ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
	defer cancel()
	c, err := daemon.Open(ctx, name)
	if err != nil {
		return nil
	}
	found, _ := c.Hooks(ctx, "")
	for _, h := range found.Hooks {
		lines = append(lines, h.Name+"\t"+strings.Join(strings.Fields(h.Doc), " "))
	}
	return lines
}

func flagNames(c *cli.Command, prefix string) []string {
	var lines []string
	for _, f := range c.Flags {
		if name := "--" + valueOf(f).Name; strings.HasPrefix(name, prefix) {
			lines = append(lines, name+"\t"+strings.ReplaceAll(valueOf(f).Usage, "`", ""))
		}
	}
	return lines
}

func prefixed(values []string, prefix string) []string {
	var lines []string
	for _, v := range values {
		if strings.HasPrefix(v, prefix) {
			lines = append(lines, v)
		}
	}
	return lines
}
