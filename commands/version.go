package commands

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
)

// Version is set by the linker for a release.
var Version = ""

func versionCommand(f *program) command {
	return command{names: allWords, Command: &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: f.opts.flags(),
		Action: func(c *cli.Context) error {
			if err := atMost(c.Args().Slice(), 0); err != nil {
				return err
			}
			platform := runtime.GOOS + "/" + runtime.GOARCH
			return outputError(f.streams.Version(versionText(), runtime.Version(), platform, runner.Lacks(), f.opts.json))
		},
	}}
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
