package env

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
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
	"UV_PROJECT", "UV_PROJECT_ENVIRONMENT", "UV_SYSTEM_PYTHON", "UV_WORKING_DIR", "UV_WORKING_DIRECTORY", "PDM_PYTHON", "PDM_IGNORE_ACTIVE_VENV",
	"FORCE_COLOR", "CLICOLOR_FORCE",
}

// command is one step of making an environment.
type command struct {
	what string // the step, for the user
	name string // the program to name in an error; the installer if empty
	path string
	args []string
	set  []string // additional environment variables
}

// commands returns the steps that make the environment dir.
func (p Plan) commands(dir string) []command {
	r, python, where := p.request, python(dir), filepath.Dir(p.Source.Path)
	venv := command{what: "creating the environment", name: "python -m venv", path: r.Python, args: []string{"-I", "-m", "venv", "--without-pip", dir}}
	read := command{what: "installing what " + p.Source.Path + " asks for", path: p.tool}
	active := []string{"VIRTUAL_ENV=" + dir}
	switch kind := p.Source.Kind; {
	case kind == "uv.lock":
		read.args = []string{"sync", "--locked", "--no-install-project", "--no-dev", "--project", cmp.Or(p.Source.member, where), "--python", r.Python}
		read.set = []string{"UV_PROJECT_ENVIRONMENT=" + dir}
		return []command{read}
	case kind == blockLock, kind == block && p.Source.tool == "uv":
		read.args = []string{"sync", "--active", "--python", r.Python, "--script", strings.TrimSuffix(p.Source.Path, ".lock")}
		if kind == blockLock {
			read.args = append(read.args, "--locked")
		}
		read.set = active
		return []command{read}
	case p.Source.noMain:
		return []command{venv}
	case kind == "poetry.lock":
		read.args = []string{"install", "--no-root", "--only", "main", "--no-interaction", "--directory", where}
		read.set = append(active, "POETRY_VIRTUALENVS_PATH="+dir) // or else it prefers one that `poetry env use` chose
		return []command{venv, read}
	case kind == "pdm.lock":
		read.args = []string{"install", "--check", "--no-self", "--prod", "--no-editable", "--project", where} // --check refuses an old lock file
		read.set = append(active, "PDM_USE_VENV=1", "PDM_CHECK_UPDATE=0", "PDM_IGNORE_SAVED_PYTHON=1")
		return []command{venv, read}
	}
	wanted := []string{"-r", p.Source.Path}
	if list := p.Source.Requirements; list != nil && p.Source.tool == "" {
		read.what = "installing " + strings.Join(list, ", ")
		wanted = append([]string{"--"}, list...)
	}
	if p.Installer == "uv" {
		venv.name, venv.path, venv.args = "uv venv", p.tool, []string{"venv", "--no-project", "--no-config", "--allow-existing", "--python", r.Python, dir}
		read.args = []string{"pip", "install", "--python", python}
	} else {
		read.path, read.args = r.Python, []string{"-I", "-m", "pip", "--python", python}
		if !pipInstallsElsewhere(r.Packages) { // then the environment needs its own, which takes a second or two to install
			venv.args = []string{"-I", "-m", "venv", dir}
			read.path, read.args = python, []string{"-I", "-m", "pip"}
		}
		read.args = append(read.args, "install", "--disable-pip-version-check", "--no-input", "--no-warn-script-location",
			"--no-user", "--target=") // whatever a variable or a pip.conf says
	}
	read.args = append(read.args, wanted...)
	if len(wanted) == 1 { // no requirements
		return []command{venv}
	}
	return []command{venv, read}
}

// pipInstallsElsewhere reports whether the pip in one of the directories of packages has --python
// (22.3 or later).
func pipInstallsElsewhere(packages []schema.Path) bool {
	for _, dir := range packages {
		entries, _ := bounded.Dir(string(dir)) // none if it cannot be read
		for _, entry := range entries {
			var major, minor int
			if n, _ := fmt.Sscanf(entry.Name(), "pip-%d.%d", &major, &minor); n == 2 && strings.HasSuffix(entry.Name(), ".dist-info") {
				return major > 22 || major == 22 && minor >= 3
			}
		}
	}
	return false
}

// fill makes the environment in the empty directory dir. Its commands write temporary files to
// temporary, where those of a killed command stay.
func (p Plan) fill(ctx context.Context, dir, temporary string) error {
	for _, c := range p.commands(dir) {
		c.set = append(c.set, "TMPDIR="+temporary, "TEMP="+temporary, "TMP="+temporary)
		if err := p.run(ctx, c); err != nil {
			return err
		}
	}
	if _, err := os.Stat(python(dir)); err != nil {
		return &Error{Err: fmt.Errorf("%s ended without an error, but made no Python: %w", p.Installer, err)}
	}
	return nil
}

func (p Plan) run(ctx context.Context, c command) error {
	if p.request.Step != nil {
		p.request.Step(c.what)
	}
	if p.request.Offline {
		c.set = append(c.set, "UV_OFFLINE=1", "PIP_NO_INDEX=1")
	}
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
	e, said := failed(err, &out.Exit), strings.Join(out.Exit.Stderr, "\n")
	if p.Installer == "pip" && (strings.Contains(said, "ensurepip") || strings.Contains(said, ": No module named ")) {
		e.Advice = schema.Hints("install uv; or venv and pip for this Python, which on Debian are in python3-venv")
	}
	return e
}

// lastLines returns the last lines of an installer. uv and pip print errors to standard error,
// venv to standard output.
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
