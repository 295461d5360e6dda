package commands

import (
	"github.com/urfave/cli/v2"
)

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
