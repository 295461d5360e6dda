package commands

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/docs"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

//go:embed help/*.txt
var helpFiles embed.FS

// topics lists the topics of `pyplug help` in addition to the commands.
var topics = [][2]string{
	{"arguments", "how the words after HOOK become arguments"},
	{"environment", "the environment variables that pyplug reads"},
	{"exit-codes", "what each exit code means"},
	{"finding", "what a finding of check means, and how to fix it"},
	{"manifest", "the keys of pyplug.toml"},
	{"socket", "the HTTP requests that a background plugin answers"},
}

const seeExit = "Exit codes: `pyplug help exit-codes`\n"

func helpCommand(prog *program) command {
	return newCommand("help", "explain a command, a topic or a finding of check", "[COMMAND | TOPIC | finding [ID]]", nil, func(ctx context.Context, words []string) error {
		switch name := append(words, "")[0]; name {
		case "":
			return prog.print(prog.help())
		case "finding", "findings":
			return findingHelp(prog, words[1:])
		default:
			if cmd, ok := prog.commandNamed(name); ok {
				return prog.print(prog.commandHelp(cmd))
			}
			if page, ok := docs.Manual.Page(name); ok {
				return prog.print(ui.Page(page))
			}
			if !slices.Contains(topicNames(), name) {
				return prog.unknownTopic(name)
			}
			return prog.print(helpText(name))
		}
	})
}

func topicNames() (names []string) {
	for _, topic := range topics {
		names = append(names, topic[0])
	}
	return append(names, docs.Manual.Names()...)
}

func (prog *program) unknownTopic(name string) error {
	return cmdline.Suggested(cmdline.Usage("unknown command or topic %s", schema.QuoteLine([]string{name})), "`pyplug help %s`",
		name, append(prog.commandNames(), topicNames()...), schema.Hintf("run %s to list the commands and topics", schema.Command{"help"}))
}

// helpText returns the text about a command or a topic.
func helpText(name string) string {
	if name == "exit-codes" {
		return exitCodes()
	}
	text, _ := helpFiles.ReadFile("help/" + name + ".txt") // cannot fail: a test reads every file
	forms := ""
	if strings.Contains(string(text), "{arguments}") {
		forms, _, _ = strings.Cut(helpText("arguments"), "\n\n")
	}
	var stages strings.Builder
	ui.WriteEntry(&stages, "", strings.Join(check.Stages(), " "), 2)
	return strings.NewReplacer("{arguments}", forms, "{stages}\n", stages.String(), "{variables}\n", variables(), "{keys}\n", keys()).Replace(string(text))
}

// variables lists the variables of flags.
func variables() string {
	var b strings.Builder
	write := func(variable, flag string) {
		if variable != "" {
			ui.WriteEntry(&b, "  "+variable, "--"+flag, 25)
		}
	}
	for _, row := range settings.Table {
		write(row.Variable, row.Flag)
	}
	for _, f := range (&outputOptions{}).flags() {
		write(cmdline.FlagOf(f).Env, cmdline.FlagOf(f).Name)
	}
	return b.String()
}

// keys lists the keys of a manifest. Those that apply only to gRPC plugins are last.
func keys() string {
	var b, servers strings.Builder
	for i := range settings.Table {
		row, to := &settings.Table[i], &b
		if plan.TransportOf(row.Only).Serves {
			to = &servers
		}
		if row.Key != "" {
			ui.WriteEntry(to, "  "+row.Key, strings.ReplaceAll(row.Usage(&settings.Settings{}), "`", ""), 25)
		}
	}
	ui.WriteTitle(&b, grpcCategory)
	return b.String() + servers.String()
}

// exitCodes returns the topic exit-codes.
func exitCodes() string {
	var b strings.Builder
	for _, row := range exits {
		ui.WriteEntry(&b, fmt.Sprintf("%-3d  %-11s", row.code, row.kind), row.meaning, 18)
	}
	b.WriteString("\nWhere several apply, the earliest decides: interpreter, start, handshake,\nhealth, request. An unknown code means failure.\n")
	return b.String()
}

// help returns the help of pyplug itself.
func (prog *program) help() string {
	var b strings.Builder
	b.WriteString(helpText("pyplug"))
	ui.WriteTitle(&b, "Commands")
	for _, c := range visible(prog.commands) {
		ui.WriteEntry(&b, "  "+c.Name, c.Usage, 15)
	}
	ui.WriteTitle(&b, "Topics, for `pyplug help TOPIC`")
	for _, topic := range topics {
		ui.WriteEntry(&b, "  "+topic[0], topic[1], 15)
	}
	ui.WriteEntry(&b, "  PAGE", "a page of the documentation: "+strings.Join(docs.Manual.Names(), ", "), 15)
	b.WriteString("\n`pyplug COMMAND --help` explains a command and its flags.\n" + seeExit)
	return b.String()
}

// commandHelp returns the help of a command: with all flags after --help-all, otherwise with the
// common flags.
func (prog *program) commandHelp(cmd command) string {
	var b strings.Builder
	for i, line := range strings.Split(cmd.ArgsUsage, "\n") {
		start := "Usage: "
		if i > 0 {
			start = "       "
		}
		b.WriteString(strings.TrimRight(start+"pyplug "+cmd.Name+" [FLAGS] "+line, " ") + "\n")
	}
	b.WriteString("\n" + helpText(cmd.Name))
	left := 0
	for _, category := range []string{"", linesCategory, mcpCategory, tcpCategory, backgroundCategory, keepCategory, grpcCategory} {
		var flags []*cmdline.Flag
		for _, f := range cmd.Flags {
			switch f := cmdline.FlagOf(f); {
			case f.Category != category:
			case f.Rare && !prog.helpAll:
				left++
			default:
				flags = append(flags, f)
			}
		}
		if len(flags) > 0 {
			cmdline.WriteHelp(&b, category, flags)
		}
	}
	b.WriteString("\n")
	if left > 0 {
		fmt.Fprintf(&b, "`pyplug %s --help-all` shows %d more flags.\n", cmd.Name, left)
	}
	b.WriteString(seeExit)
	return b.String()
}

// findingHelp prints the page of a finding, or without an ID the list of findings.
func findingHelp(prog *program, ids []string) error {
	if len(ids) == 0 {
		var b strings.Builder
		for _, id := range docs.Findings.Names() {
			ui.WriteEntry(&b, id, docs.Findings.Title(id), 24)
		}
		return prog.print(b.String())
	}
	if err := cmdline.WantWords(ids, "ID"); err != nil {
		return err
	}
	page, ok := docs.Findings.Page(ids[0])
	if !ok {
		err := cmdline.Suggested(cmdline.Usage("unknown finding %s", schema.QuoteLine(ids)), "`pyplug help finding %s`", ids[0], docs.Findings.Names())
		return cmdline.Hinted(err, schema.Hintf("run %s to list them all", schema.Command{"help", "finding"}))
	}
	return prog.print(ui.Page(page))
}

// print writes text to standard output.
func (prog *program) print(text string) error {
	return outputError(prog.streams.Print(text))
}
