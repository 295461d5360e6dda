package commands

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/plan"
)

// Version is set by the linker for a release.
var Version = ""

func versionCommand(prog *program) command {
	return newCommand("version", "print the version", "",
		prog.opts.flags(), func(ctx context.Context, words []string) error {
			if err := cmdline.WantWords(words, ""); err != nil {
				return err
			}
			known := []ui.Fact{{Key: "version", Value: versionText()}, {Key: "go", Value: runtime.Version()}, {Key: "platform", Value: runtime.GOOS + "/" + runtime.GOARCH}}
			more := []ui.Fact{{Key: "lacks", Value: runner.Lacks()}}
			if prog.opts.verbose {
				more = append(more, prog.describeSystem(ctx)...)
			}
			head := fmt.Sprintf("pyplug %s (%s, %s)", known[0].Value, known[1].Value, known[2].Value)
			return outputError(prog.streams.Facts(head, known, more, prog.opts.json))
		})
}

// describeSystem returns the facts for a bug report. It reads no value that may be a secret. For a
// fact that cannot be found, it reports the reason.
func (prog *program) describeSystem(ctx context.Context) []ui.Fact {
	executable, noExecutable := os.Executable()
	cache, noCache := plan.Cache()
	python, noPython := plan.FindPython(ctx, plan.Config{Cwd: ".", Environ: os.Environ()})
	var variables, plugins []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "PYPLUG_") {
			variables = append(variables, name)
		}
	}
	running, _ := prog.statuses(ctx, nil, false)
	for _, b := range running {
		plugins = append(plugins, b.Name+" ("+string(b.State)+", pyplug "+b.Version+")")
	}
	system, _ := os.ReadFile("/proc/version") // only Linux has it
	return []ui.Fact{
		{Key: "executable", Value: orError(executable, noExecutable)}, {Key: "system", Value: strings.TrimSpace(string(system))},
		{Key: "run_directories", Value: strings.Join(daemon.RunDirs(), ", ")}, {Key: "log_directory", Value: daemon.LogDir()}, {Key: "cache", Value: orError(cache, noCache)},
		{Key: "python", Value: orError(python.String(), noPython)}, {Key: "variables", Value: strings.Join(variables, ", ")}, {Key: "plugins", Value: strings.Join(plugins, ", ")},
	}
}

// orError returns a fact, or the first line of the reason why it is unknown.
func orError(fact string, err error) string {
	if err != nil {
		fact, _, _ = strings.Cut(err.Error(), "\n")
	}
	return fact
}

// versionText returns the release's version, or else the version of the module that go install has
// recorded.
func versionText() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "devel"
}
