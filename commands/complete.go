package commands

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/completions"
	"github.com/pyplug/pyplug/docs"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/service"
)

// completeCommand answers the completion scripts: it prints a candidate with a
// tab and a description per line, and ":files" where a file may stand, with the end of its
// name behind a tab. It never fails: a shell that completes shows no errors.
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

// What files to offer: any, those of Python, or only directories.
const (
	anyFile     = ":files"
	pythonFiles = ":files\t.py"
	directories = ":files\t/"
)

// complete returns the candidates for the last of words, which may be empty.
func complete(commands []command, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return commandLines(commands, last)
	}
	for _, cmd := range commands {
		if cmd.HasName(words[0]) && !cmd.Hidden {
			return completeIn(commands, cmd, words[1:len(words)-1], last)
		}
	}
	return nil
}

func commandLines(commands []command, prefix string) []string {
	var lines []string
	for _, cmd := range commands {
		if !cmd.Hidden {
			lines = append(lines, cmd.Name+"\t"+cmd.Usage)
		}
	}
	return prefixed(lines, prefix, "")
}

// completeIn completes last behind a command and the words before it.
func completeIn(commands []command, cmd command, before []string, last string) []string {
	line, _ := readLine(cmd, before) // what is wrong with them does not matter here
	given := line.words
	previous := append([]string{""}, before...)[len(before)]
	name, _, hasValue := cutFlag(previous)
	awaits := flagsOf(cmd.Command)[name]
	name, value, inValue := cutFlag(last)
	own := flagsOf(cmd.Command)[name]
	switch {
	case line.inData() && line.names == 2:
		return completeArgument(hookOf(cmd, given[0], given[1]), given[2:], last)
	case line.inData():
		return []string{anyFile}
	case slices.Contains(before, "--"): // then flags are none
	case strings.HasPrefix(previous, "-") && awaits != nil && !awaits.isSwitch && !hasValue:
		return awaits.values("", last)
	case strings.HasPrefix(last, "-") && inValue && own != nil:
		return own.values(strings.TrimSuffix(last, value), value)
	case strings.HasPrefix(last, "-"):
		return flagNames(cmd.Command, last)
	case previous == "-m":
		return nil
	}
	return completeWord(commands, cmd, given, last)
}

// values completes the value of a flag, after a head.
func (f *flag) values(head, typed string) []string {
	if f.files != "" {
		return []string{f.files}
	}
	return prefixed(f.candidates, typed, head)
}

// completeWord completes a word that is no flag, behind those given.
func completeWord(commands []command, cmd command, given []string, last string) []string {
	switch {
	case cmd.Name == "help" && len(given) == 0:
		return append(commandLines(commands, last), prefixed(topicNames(), last, "")...)
	case cmd.Name == "help" && given[0] == "finding":
		return prefixed(docs.Findings.Names(), last, "")
	case cmd.Name == "completion":
		return prefixed(completions.Shells(), last, "")
	case cmd.Name == "python" && len(given) == 0:
		return prefixed(pythonVerbs, last, "")
	case cmd.Name == "python" && given[0] == "list":
		return nil
	case cmd.Name == "python":
		given = given[1:]
	case isTyped(cmd, "address"):
		return nil
	case cmd.config != nil && len(given) == 1:
		return prefixed(hookNames(cmd, given[0]), last, "")
	}
	if len(given) > 0 && strings.HasSuffix(cmd.ArgsUsage, "FILE...") {
		return []string{anyFile}
	}
	if len(given) > 0 && (cmd.names > 0 || !strings.Contains(cmd.ArgsUsage, "...")) {
		return nil
	}
	var lines []string
	if strings.Contains(cmd.ArgsUsage, "NAME") {
		others := slices.DeleteFunc(runningNames(), func(name string) bool { return slices.Contains(given, name) })
		lines = prefixed(others, last, "")
	}
	if strings.Contains(cmd.ArgsUsage, "PLUGIN") {
		lines = append(lines, pythonFiles)
	}
	return lines
}

// How long a key may wait for background plugins, and for a Python that reads a plugin's
// source.
const (
	completeLimit = 500 * time.Millisecond
	sourceLimit   = 2 * time.Second
)

// runningNames lists the background plugins.
func runningNames() []string {
	ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
	defer cancel()
	entries, _ := daemon.List(ctx) // those that can be seen are offered
	return service.Names(entries)
}

func flagNames(c *cli.Command, prefix string) []string {
	var lines []string
	for _, f := range c.Flags {
		lines = append(lines, "--"+valueOf(f).Name+"\t"+strings.ReplaceAll(valueOf(f).Usage, "`", ""))
	}
	return prefixed(lines, prefix, "")
}

// prefixed returns the values that begin with what is typed, each behind a head.
func prefixed(values []string, typed, head string) (lines []string) {
	for _, v := range values {
		if strings.HasPrefix(v, typed) {
			lines = append(lines, head+v)
		}
	}
	return lines
}

func completionCommand(f *program) command {
	return command{names: allWords, Command: &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: "SHELL",
		Action: func(c *cli.Context) error {
			shells := strings.Join(completions.Shells(), ", ")
			if c.Args().Len() != 1 {
				return usage("completion takes one SHELL: %s", shells)
			}
			name := c.Args().First()
			script, ok := completions.Script(name)
			if !ok {
				return suggested(usage("no completion for %q, want %s", name, shells), "%s", name, completions.Shells())
			}
			_, err := io.WriteString(f.streams.Out, script)
			return outputError(err)
		},
	}}
}
