package commands

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/completions"
)

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
