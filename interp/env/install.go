package env

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// longest is the timeout of an installer's command.
const longest = time.Hour

// shownLines is the number of an installer's last lines in an error.
const shownLines = 15

// misleading lists variables that redirect an installer or color its output.
var misleading = []string{
	"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "PIP_PREFIX", "PIP_ROOT", "PIP_DRY_RUN",
	"UV_PROJECT", "UV_PROJECT_ENVIRONMENT", "UV_SYSTEM_PYTHON", "UV_WORKING_DIR", "UV_WORKING_DIRECTORY",
	"FORCE_COLOR", "CLICOLOR_FORCE",
}

// command is one step of a sync.
type command struct {
	what string // the step, for the user
	name string // the program to name in an error, or "" for the installer
	path string
	args []string
	set  []string // additional environment variables
	lock string   // the command line that updates the lock file, or "" if the program names the command itself
}

// venv returns the step that makes an environment without packages.
func (p Plan) venv() command {
	c := command{what: "creating the environment", name: "python -m venv", path: p.request.Python, args: []string{"-I", "-m", "venv", "--without-pip", p.Dir}}
	switch {
	case p.Installer == "uv":
		c.name, c.path = "uv venv", p.tool
		c.args = []string{"venv", "--no-project", "--no-config", "--allow-existing", "--python", p.request.Python, p.Dir}
	case !pipInstallsElsewhere(p.request.Packages): // the environment needs its own pip, which takes a second or two to install
		c.args = []string{"-I", "-m", "venv", p.Dir}
	}
	return c
}

// install installs the requirements of all sources. If there is one source and only uv can read it,
// install runs `uv sync`. Otherwise one command resolves all sources together.
func (p Plan) install(ctx context.Context, sources []Source) error {
	if s := sources[0]; len(sources) == 1 && s.exported() {
		return p.run(ctx, p.uvSync(s))
	}
	var files, list, what []string
	for i, s := range sources {
		what = append(what, s.Path)
		switch {
		case s.exported():
			file := filepath.Join(p.Dir, temporaryName, fmt.Sprintf("requirements-%d.txt", i))
			if err := p.run(ctx, p.uvExport(s, file)); err != nil {
				return err
			}
			files = append(files, "-r", file)
		case s.Requirements == nil || s.needsUV:
			files = append(files, "-r", s.Path)
		default:
			list = append(list, s.Requirements...)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(files)+len(list) == 0 {
		return nil
	}
	c := p.installer()
	c.what = "installing " + strings.Join(list, ", ")
	if len(files) > 0 {
		c.what = "installing the requirements of " + strings.Join(what, " and ")
	}
	c.args = slices.Concat(c.args, files, []string{"--"}, list)
	return p.run(ctx, c)
}

// exported reports whether uv must export the source before one command can install its
// requirements together with those of other sources.
func (s Source) exported() bool {
	return s.Kind == "uv.lock" || s.Kind == blockLock || s.Kind == block && s.needsUV
}

// ofUV returns the flags of `uv sync` and `uv export` that select the requirements of a source.
func (s Source) ofUV() []string {
	if s.Kind == "uv.lock" {
		return []string{"--locked", "--no-default-groups", "--project", s.owner()}
	}
	flags := []string{"--script", s.owner()}
	if s.Kind == blockLock {
		flags = append(flags, "--locked")
	}
	return flags
}

// relock returns the command line that updates the lock file of a script. For a project uv itself
// names the command.
func (s Source) relock() string {
	if s.Kind != blockLock {
		return ""
	}
	return schema.QuoteLine([]string{"uv", "lock", "--script", s.owner()})
}

// uvSync returns the step that installs the requirements of a source and keeps other packages.
func (p Plan) uvSync(s Source) command {
	c := command{what: "installing the requirements of " + s.Path, path: p.tool}
	c.args = append([]string{"sync", "--inexact", "--python", p.Python}, s.ofUV()...)
	if s.Kind == "uv.lock" {
		c.args, c.set = append(c.args, "--no-install-project"), []string{"UV_PROJECT_ENVIRONMENT=" + p.Dir}
	} else {
		c.args, c.set = append(c.args, "--active"), []string{"VIRTUAL_ENV=" + p.Dir}
	}
	c.lock = s.relock()
	return c
}

// uvExport returns the step that writes the requirements of a source to a file.
func (p Plan) uvExport(s Source, file string) command {
	c := command{what: "reading " + s.Path, name: "uv export", path: p.tool}
	c.args = append([]string{"export", "--quiet", "--python", p.Python, "--output-file", file}, s.ofUV()...)
	if s.Kind == "uv.lock" {
		c.args = append(c.args, "--no-emit-project")
	}
	c.lock = s.relock()
	return c
}

// installer returns the command that installs requirements. The caller appends them.
func (p Plan) installer() command {
	if p.Installer == "uv" {
		return command{path: p.tool, args: []string{"pip", "install", "--python", p.Python}}
	}
	c := command{path: p.request.Python, args: []string{"-I", "-m", "pip", "--python", p.Python}}
	if !pipInstallsElsewhere(p.request.Packages) {
		c.path, c.args = p.Python, []string{"-I", "-m", "pip"}
	}
	c.args = append(c.args, "install", "--disable-pip-version-check", "--no-input", "--no-warn-script-location",
		"--no-user", "--target=") // override variables and pip.conf
	return c
}

// pipInstallsElsewhere reports whether one of the package directories has a pip with --python (22.3
// or later).
func pipInstallsElsewhere(packages []schema.Path) bool {
	for _, dir := range packages {
		entries, _ := bounded.Dir(string(dir)) // no entries if it cannot be read
		for _, entry := range entries {
			var major, minor int
			if n, _ := fmt.Sscanf(entry.Name(), "pip-%d.%d", &major, &minor); n == 2 && strings.HasSuffix(entry.Name(), ".dist-info") {
				return major > 22 || major == 22 && minor >= 3
			}
		}
	}
	return false
}

// run runs a step. Its temporary files are in the environment. If the step is killed, they stay
// there until the next sync.
func (p Plan) run(ctx context.Context, c command) error {
	if p.request.Step != nil {
		p.request.Step(c.what)
	}
	if p.request.Offline {
		c.set = append(c.set, "UV_OFFLINE=1", "PIP_NO_INDEX=1")
	}
	temporary := filepath.Join(p.Dir, temporaryName)
	c.set = append(c.set, "TMPDIR="+temporary, "TEMP="+temporary, "TMP="+temporary)
	environ := proc.Environ(proc.Without(p.request.Environ, misleading...), false, c.set)
	out, err := proc.Run(ctx, proc.Tool{
		Path: c.path, Args: c.args, Env: environ, Dir: filepath.Dir(p.Source.Path), Limit: longest, MaxOutput: 8 << 20,
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && out.Exit.Code == 0:
		return nil
	case err == nil:
		err = fmt.Errorf("%s failed", cmp.Or(c.name, p.Installer))
	}
	out.Exit.Stderr = lastLines(out.Stdout, out.Stderr)
	e, exit, said := failed(err), hook.Exit(out.Exit), strings.Join(out.Exit.Stderr, "\n")
	e.Exit = &exit
	if c.lock != "" && strings.Contains(said, "--locked") {
		e.Hints = schema.Hints("run `%s` if the script has changed since it was locked", c.lock)
	}
	if p.Installer == "pip" && (strings.Contains(said, "ensurepip") || strings.Contains(said, ": No module named ")) {
		e.Hints = schema.Hints("install uv; or venv and pip for this Python, which on Debian are in python3-venv")
	}
	return e
}

// lastLines returns the last lines of an installer's output. uv and pip print errors to standard
// error, venv to standard output.
func lastLines(streams ...[]byte) (lines []string) {
	for _, text := range streams {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\r\n "); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines[max(0, len(lines)-shownLines):]
}
