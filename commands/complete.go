package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/completions"
	"github.com/pyplug/pyplug/docs"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

// completeCommand answers the completion scripts. It prints each candidate on a line, followed by a
// tab and a description. If a file name is possible, it prints ":files", and after a tab the suffix
// that the file must have, if any. It never fails, because a shell shows no errors during
// completion.
func completeCommand(prog *program) command {
	cmd := newCommand("__complete", "", "", nil, func(ctx context.Context, words []string) error {
		lines := slices.DeleteFunc(complete(prog.commands, words), func(line string) bool { return line == "" })
		_ = prog.print(strings.Join(append(lines, ""), "\n")) // ignore the error: the shell may have stopped reading
		return nil
	})
	cmd.names = asTyped
	cmd.Hidden = true
	cmd.SkipFlagParsing = true
	return cmd
}

// pythonFiles is the line that offers Python files.
const pythonFiles = schema.AnyFile + "\t.py"

// complete returns the candidates for the last of words, which may be empty.
func complete(commands []command, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return commandLines(commands, last)
	}
	for _, cmd := range visible(commands) {
		if cmd.HasName(words[0]) {
			return completeIn(commands, cmd, words[1:len(words)-1], last)
		}
	}
	return nil
}

func commandLines(commands []command, prefix string) []string {
	var lines []string
	for _, cmd := range visible(commands) {
		lines = append(lines, cmd.Name+"\t"+cmd.Usage)
	}
	return cmdline.WithPrefix(lines, prefix)
}

// completeIn returns the candidates for last, after a command and the words before.
func completeIn(commands []command, cmd command, before []string, last string) []string {
	line, lines, isFlag := cmdline.Complete(cmd.Command, cmd.names, before, last)
	switch {
	case line.InData() && line.Names == 2:
		return hookOf(cmd, line.Words[0], line.Words[1]).Complete(line.Words[2:], last)
	case line.InData():
		return []string{schema.AnyFile}
	case isFlag:
		return lines
	}
	return completeWord(commands, cmd, line.Words, last)
}

// completeWord returns the candidates for last, which is not a flag. given contains the words
// before it.
func completeWord(commands []command, cmd command, given []string, last string) (lines []string) {
	n := len(given)
	if cmd.Name == "python" && n > 0 {
		n--
	}
	switch {
	case cmd.Name == "help" && n == 0:
		return append(commandLines(commands, last), cmdline.WithPrefix(topicNames(), last)...)
	case cmd.Name == "help" && given[0] == "finding":
		return cmdline.WithPrefix(docs.Findings.Names(), last)
	case cmd.Name == "completion":
		return cmdline.WithPrefix(completions.Shells(), last)
	case cmd.Name == "python" && len(given) == 0:
		return cmdline.WithPrefix(pythonVerbs, last)
	case cmd.config != nil && n == 1:
		for _, h := range hooksOf(cmd, given[0], "") {
			lines = append(lines, schema.Candidate(h.Name, h.Doc))
		}
		return cmdline.WithPrefix(lines, last)
	case n > 0 && strings.HasSuffix(cmd.ArgsUsage, "FILE..."):
		return []string{schema.AnyFile}
	case n > 0 && (cmd.names > 0 || !strings.Contains(cmd.ArgsUsage, "...")):
		return nil
	}
	if strings.Contains(cmd.ArgsUsage, "NAME") {
		others := slices.DeleteFunc(runningNames(), func(name string) bool { return slices.Contains(given, name) })
		lines = cmdline.WithPrefix(others, last)
	}
	if strings.Contains(cmd.ArgsUsage, "PLUGIN") {
		lines = append(lines, pythonFiles)
	}
	return lines
}

// How long completion may wait for background plugins, and for a Python that reads a plugin's
// source.
const (
	completeLimit = 500 * time.Millisecond
	sourceLimit   = 2 * time.Second
)

// runningNames lists the names of background plugins.
func runningNames() []string {
	ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
	defer cancel()
	entries, _ := daemon.List(ctx) // after an error, offer the plugins that were found
	return service.Names(entries)
}

// hooksOf describes the hooks of a plugin: the hooks of a background plugin if one has the name, or
// else the hooks in the source. If hookName is not empty, only that hook is needed.
func hooksOf(cmd command, plugin, hookName string) []schema.Hook {
	ctx, cancel := context.WithTimeout(context.Background(), sourceLimit)
	defer cancel()
	id := daemon.Identity{}
	if service.Plain(plugin) && strings.Contains(cmd.ArgsUsage, "NAME") {
		id, _ = service.Find(ctx, plugin) // after an error, the word counts as a path
	}
	if c, err := daemon.Open(ctx, id.Name); err == nil {
		found, _ := c.Hooks(ctx, schema.Query{Hook: hookName})
		return found.Hooks
	}
	cfg := *cmd.config
	_ = openConfig(&cfg, plugin) // errors in the flags do not matter here
	return runner.SourceHooks(ctx, cfg)
}

// hookOf describes one hook of a plugin. The description has no parameters if the hook is unknown.
func hookOf(cmd command, plugin, hookName string) schema.Hook {
	for _, h := range hooksOf(cmd, plugin, hookName) {
		if h.Name == hookName || strings.HasSuffix(h.Name, "/"+hookName) {
			return h
		}
	}
	return schema.Hook{}
}

func completionCommand(prog *program) command {
	return newCommand("completion", "print the completion script of a shell", "SHELL", nil, func(ctx context.Context, words []string) error {
		shells := strings.Join(completions.Shells(), ", ")
		if len(words) != 1 {
			return cmdline.Usage("completion needs one SHELL: %s", shells)
		}
		name := words[0]
		script, ok := completions.Script(name)
		if !ok {
			return cmdline.Suggested(cmdline.Usage("no completion for %q, expected %s", name, shells), "%s", name, completions.Shells())
		}
		return prog.print(script)
	})
}
