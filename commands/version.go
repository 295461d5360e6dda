package commands

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/schema"
)

// Version is set by the linker for a release.
var Version = ""

func versionCommand(f *program) command {
	return command{names: allWords, Command: &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: f.opts.flags(),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usage("version takes no arguments, and %s is one", schema.QuoteLine(c.Args().Slice()[:1]))
			}
			return printVersion(f, f.opts.json)
		},
	}}
}

func printVersion(f *program, asJSON bool) error {
	return outputError(f.streams.Version(versionText(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, runner.Lacks(), asJSON))
}

// versionText is the release's version, else the module's.
func versionText() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
