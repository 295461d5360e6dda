package commands

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
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
			if err := atMost(c.Args().Slice(), 0); err != nil {
				return err
			}
			v := ui.Version{Version: versionText(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Lacks: runner.Lacks()}
			if f.opts.verbose {
				f.describeSystem(c.Context, &v)
			}
			return outputError(f.streams.Version(v, f.opts.json))
		},
	}}
}

// describeSystem adds what a bug report needs. It reads no value that may be a secret, and reports
// what cannot be found out in its place.
func (f *program) describeSystem(ctx context.Context, v *ui.Version) {
	v.Verbose = true
	executable, err := os.Executable()
	v.Executable = orError(executable, err)
	if first := interp.LookPath(os.Environ(), "pyplug"); first != "" && !interp.SamePath(first, executable) {
		v.First = first
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	v.System = systemName()
	cache, err := runner.Cache()
	v.RunDirs, v.LogDir, v.Cache = daemon.RunDirs(), daemon.LogDir(), orError(cache, err)
	cfg := runner.Config{}
	if err := openConfig(&cfg, ""); err != nil {
		v.Python = err.Error()
	} else if found, err := runner.FindPython(ctx, cfg); err != nil {
		v.Python, _, _ = strings.Cut(err.Error(), "\n")
	} else {
		v.Python = found.String()
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "PYPLUG_") {
			v.Variables = append(v.Variables, name)
		}
	}
	plugins, err := f.statuses(ctx, nil)
	for _, b := range plugins {
		v.Plugins = append(v.Plugins, b.Name+" ("+string(b.State)+", pyplug "+b.Version+")")
	}
	if err != nil {
		v.Plugins = append(v.Plugins, err.Error())
	}
}

// orError returns text, or the error in its place.
func orError(text string, err error) string {
	if err != nil {
		return err.Error()
	}
	return text
}

// systemName names the system and its kernel as far as files say.
func systemName() string {
	var names []string
	release, _ := os.ReadFile("/etc/os-release") // only Linux has the two files
	for line := range strings.Lines(string(release)) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); found {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		names = append(names, "kernel "+strings.TrimSpace(string(kernel)))
	}
	return strings.Join(append(names, schema.Plural(runtime.NumCPU(), "CPU")), ", ")
}

// versionText returns the release's version, else that of the module, as go install records it.
func versionText() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "devel"
}
