package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func init() { cli.FlagStringer = flagLine }

// flagLine is the line of a flag in the help, its two columns with a tab between
// them. urfave's own repeats the value behind each name, and once more for a flag
// that may stand more than once.
func flagLine(f cli.Flag) string {
	flag, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	names := make([]string, len(f.Names()))
	for i, name := range f.Names() {
		names[i] = strings.Repeat("-", min(len(name), 2)) + name
	}
	before, rest, _ := strings.Cut(flag.GetUsage(), "`")
	value, after, _ := strings.Cut(rest, "`")
	left, use := strings.Join(names, ", "), before+value+after
	if flag.TakesValue() {
		left += " " + value
	}
	if slice, ok := f.(cli.DocGenerationSliceFlag); ok && slice.IsSliceFlag() {
		use += " (may be repeated)"
	}
	if text := flag.GetDefaultText(); text != "" && flag.TakesValue() {
		use += " (default: " + text + ")"
	}
	if env := flag.GetEnvVars(); len(env) > 0 {
		use += " [$" + env[0] + "]"
	}
	return fmt.Sprintf("%s\t%s", left, use)
}

func helpCommand(f *program) command {
	return command{names: allWords, Command: &cli.Command{
		Name:      "help",
		Usage:     "show the help of pyplug or of a command",
		ArgsUsage: "[COMMAND]",
		Action: func(c *cli.Context) error {
			root := c.Lineage()[1]
			name := c.Args().First()
			if name == "" {
				return cli.ShowAppHelp(root)
			}
			for _, cmd := range f.commands {
				if cmd.HasName(name) {
					return cli.ShowCommandHelp(root, name)
				}
			}
			return unknownCommand(f, name)
		},
	}}
}
