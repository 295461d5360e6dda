package commands

import (
	"context"
	"fmt"
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
			for _, line := range complete(f.commands, c.Args().Slice()) {
				_, _ = fmt.Fprintln(f.streams.Out, line) // a shell that does not listen needs nothing
			}
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
	known := flagsOf(cmd.Command)
	var given []string // that are no flags
	var awaits *flag   // a value
	for _, word := range before {
		if awaits != nil {
			awaits = nil
			continue
		}
		if word == "--" {
			return []string{files}
		}
		if len(word) < 2 || word[0] != '-' || cmd.names >= 0 && len(given) >= cmd.names {
			given = append(given, word)
			continue
		}
		name, _, hasValue := cutFlag(word)
		if f := known[name]; f != nil && !f.isSwitch && !hasValue {
			awaits = f
		}
	}
	switch {
	case awaits != nil:
		return flagValues(awaits, last)
	case cmd.names >= 0 && len(given) >= cmd.names:
		return []string{files}
	case strings.HasPrefix(last, "-"):
		return flagNames(cmd.Command, last)
	case cmd.Name == "help" && len(before) > 0:
		if before[0] == "finding" {
			return prefixed(findings.IDs(), last)
		}
		return nil
	case cmd.Name == "help":
		return append(commandNames(commands, last), prefixed([]string{"finding"}, last)...)
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

// completeLimit is how long a key may wait for what runs.
const completeLimit = 500 * time.Millisecond

// runningNames are the names of what runs in the background.
func runningNames() []string {
	ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
	defer cancel()
	entries, _ := daemon.List(ctx) // what can be seen is offered
	return namesIn(entries)
}

// hookNames are the hooks of a plugin that runs.
func hookNames(name string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
	defer cancel()
	c, err := daemon.Open(ctx, name)
	if err != nil {
		return nil
	}
	sch, err := c.Hooks(ctx, "")
	if err != nil {
		return nil
	}
	lines := make([]string, len(sch.Hooks))
	for i, h := range sch.Hooks {
		lines[i] = h.Name + "\t" + h.Doc
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

// flagValues completes the value of a flag.
func flagValues(f *flag, prefix string) []string {
	if f.files {
		return []string{files}
	}
	return prefixed(f.candidates, prefix)
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
