package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Request describes the environment and its plugin.
type Request struct {
	// Entry is the absolute path of the plugin's file or directory. It is empty for a project.
	Entry string
	// Dirs are the directories that may contain the source. The nearest comes first.
	Dirs []string
	// Python is the base Python of the environment. Packages are the directories of its packages.
	Python   string
	Packages []schema.Path
	Options
	// Complete is the command line that repeats the request with IntoExisting, for a hint.
	Complete string
	// Environ is shaped like os.Environ().
	Environ []string
}

// Options are the user's choices for making an environment.
type Options struct {
	// IntoExisting allows installing into a .venv that pyplug did not make.
	IntoExisting bool
	// Offline forbids the installer to use the network.
	Offline bool
	// Step is called at the start of a step with its name, such as "installing numpy". It may be
	// nil.
	Step func(what string)
}

// Plan describes what [Plan.Make] would do.
type Plan struct {
	Source    Source
	Installer string // "uv" or "pip"
	// Dir is the directory of the environment, and Python its Python.
	Dir, Python string
	// Exists reports whether the environment exists. If so, Make completes it.
	Exists bool

	request Request
	tool    string // uv's path, or the Python whose pip installs
	foreign bool   // pyplug did not make the environment
}

// failed returns an error that says that the environment cannot be made.
func failed(err error) *hook.Error {
	return hook.NewError(hook.Interpreter, fmt.Errorf("cannot make the environment: %w", err))
}

// refused returns the error of an invalid request, before anything was tried.
func refused(hints []schema.Hint, format string, args ...any) *hook.Error {
	return &hook.Error{Kind: hook.Usage, Err: fmt.Errorf(format, args...), Hints: hints}
}

// NewPlan plans the environment of a plugin. It reads files and starts nothing. The error is a
// [*hook.Error].
func NewPlan(r Request) (Plan, error) {
	source, err := findSource(r.Entry, r.Dirs)
	switch {
	case errors.Is(err, errNone):
		return Plan{}, r.nothing()
	case err != nil:
		return Plan{}, refused(nil, "%w", err)
	case !source.Installable():
		return Plan{}, refused(schema.Hints("%s", source.ToolLine()), "only %s can read %s", source.Tool(), source.Path)
	}
	p := Plan{Source: source, Installer: "uv", request: r}
	switch p.tool = interp.LookPath(r.Environ, "uv"); {
	case p.tool == "" && source.needsUV:
		return Plan{}, refused(schema.Hints("install uv"), "%s needs uv, which is not on PATH", source.Path)
	case p.tool == "":
		p.Installer, p.tool = "pip", r.Python
	}
	p.Dir = source.Venv()
	p.Python = python(p.Dir)
	return p, p.look()
}

// nothing returns an error that says that no file has the plugin's requirements.
func (r Request) nothing() *hook.Error {
	name := filepath.Base(r.Entry)
	info, err := os.Stat(r.Entry)
	switch {
	case r.Entry == "":
		return refused(schema.Hints("list the packages in a requirements.txt in the directory of the project"), "no file lists the packages that the project needs")
	case err == nil && info.IsDir():
		return refused(schema.Hints("list the packages in a requirements.txt next to %s", name), "no file lists the packages that %s needs", r.Entry)
	}
	hints := schema.Hints("list the packages in a requirements.txt next to %[1]s, or in a PEP 723 block at the top of %[1]s", name)
	return refused(hints, "no file lists the packages that %s needs", r.Entry)
}

// look examines the existing file or directory at the place of the environment.
func (p *Plan) look() error {
	info, err := os.Stat(p.Dir)
	if err == nil && !info.IsDir() {
		return refused(schema.Hints("remove it, or install the packages into the environment that it names, and name that with %s", schema.Setting("python")),
			"%s is a file, expected a directory", p.Dir)
	}
	p.foreign = err == nil && !isOurs(p.Dir)
	was := readMark(p.Dir).State
	mayExist := p.foreign || was == installing || was == complete
	_, err = os.Stat(p.Python)
	p.Exists = mayExist && err == nil
	switch {
	case p.foreign && !p.request.IntoExisting:
		return refused(schema.Hints("run `%s` to install into it", schema.EnvLine(p.request.Complete)), "%s already exists and was not made by pyplug", p.Dir)
	case mayExist && !p.Exists:
		return Broken(p.Dir, fmt.Errorf("it has no working python: %s does not exist, or is a broken link", p.Python))
	}
	return nil
}

// Broken returns an error that says that packages cannot be installed into the environment dir.
func Broken(dir string, err error) *hook.Error {
	return &hook.Error{
		Kind: hook.Interpreter, Err: fmt.Errorf("cannot use %s: %w", dir, err),
		Hints: schema.Hints("make an environment elsewhere and name it with %s; or remove %s, which other plugins may use", schema.Setting("python"), dir),
	}
}

// python returns the Python of an environment.
func python(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}

// Fits returns an error if a start would not use the existing environment: its Python does not
// satisfy the requirements of r, or has another version than a base that was named explicitly, or
// the environment is not trusted.
func (p Plan) Fits(ctx context.Context, r interp.Request, base interp.Interpreter) error {
	is, err := interp.FindIn(ctx, r, p.Dir)
	if err != nil {
		return Broken(p.Dir, err)
	}
	if same := is.Version.Minor == base.Version.Minor && is.Variant == base.Variant; base.Source.Named() && !same {
		return Broken(p.Dir, fmt.Errorf("it has Python %s%s, expected that of %s", is.Version, is.Variant, base))
	}
	return nil
}
