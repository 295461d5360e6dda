package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/docs/findings"
	"github.com/pyplug/pyplug/runner/schema"
)

// String is the flag's line in the help, its two columns with a tab between them.
func (f *flag) String() string {
	var names []string
	for _, name := range f.Names() {
		names = append(names, strings.Repeat("-", min(len(name), 2))+name)
	}
	before, rest, _ := strings.Cut(f.Usage, "`")
	value, after, _ := strings.Cut(rest, "`")
	left, use := strings.Join(names, ", "), before+value+after
	if !f.isSwitch {
		left += " " + value
	}
	if f.repeated {
		use += " (may be repeated)"
	}
	if f.env != "" {
		use += " [$" + f.env + "]"
	}
	return left + "\t" + use
}

func helpCommand(f *program) command {
	return command{names: allWords, Command: &cli.Command{
		Name:      "help",
		Usage:     "show the help of pyplug or of a command, or what a finding of check means",
		ArgsUsage: "[COMMAND | finding [ID]]",
		Action: func(c *cli.Context) error {
			root := c.Lineage()[1]
			name := c.Args().First()
			switch name {
			case "":
				return cli.ShowAppHelp(root)
			case "finding", "findings":
				return findingHelp(f, c.Args().Tail())
			}
			for _, cmd := range f.commands {
				if cmd.HasName(name) {
					return cli.ShowCommandHelp(root, name)
				}
			}
			return f.unknownCommand(name)
		},
	}}
}

// findingHelp shows the page of a finding; without an ID, what findings there are.
func findingHelp(f *program, ids []string) error {
	if len(ids) > 1 {
		return usage("help finding takes one ID, not %d", len(ids))
	}
	if len(ids) == 0 {
		return f.print(findingList())
	}
	page, ok := findings.Page(ids[0])
	if !ok {
		err := usage("unknown finding %s", schema.QuoteLine(ids))
		if s := schema.Suggest(ids[0], findings.IDs()); s != "" {
			err = hinted(err, "did you mean `pyplug help finding "+s+"`?")
		}
		return hinted(err, "`pyplug help finding` lists them all")
	}
	return f.print(boldHeadings(page))
}

// print writes text to standard output.
func (f *program) print(text string) error {
	if text == "" {
		return nil
	}
	return outputError(f.streams.Print(text))
}

// findingList is a line for each finding, its name and what it is.
func findingList() string {
	ids := findings.IDs()
	widest := 0
	for _, id := range ids {
		widest = max(widest, len(id))
	}
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "%-*s  %s\n", widest, id, findings.Title(id))
	}
	return b.String()
}

// boldHeadings sets off the headings of a page in Markdown. A comment in its examples is
// none.
func boldHeadings(page string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(page) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(text, "```"):
			fenced = !fenced
		case !fenced && strings.HasPrefix(text, "#"):
			line = ui.Paint(ui.Bold, text) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
