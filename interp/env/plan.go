package env

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// Request describes the environment and its plugin.
type Request struct {
	// Entry is the plugin's file or directory, absolute.
	Entry string
	// Dirs are the directories that may contain the source, the nearest first.
	Dirs []string
	// Python is the base Python. Real is its file behind all links. Version contains its
	// implementation and variant, too. Packages are the directories of its packages.
	Python, Real, Version string
	Packages              []schema.Path
	Options
	// Cache is pyplug's cache directory, absolute. See [Cache]. It may be empty with InPlace.
	Cache string
	// Environ is shaped like os.Environ().
	Environ []string
}

// Options say how the environment is made.
type Options struct {
	// InPlace makes .venv beside the source, instead of an environment in the cache.
	InPlace bool
	// Offline forbids the installer the network.
	Offline bool
	// Step is called when a step begins, such as "installing numpy". It may be nil.
	Step func(what string)
}

// Plan says what [Plan.Make] would do.
type Plan struct {
	Source    Source
	Installer string // "uv", "pip", "poetry" or "pdm"
	// Dir is the environment's directory, and Python its Python.
	Dir, Python string
	// Exists reports that the environment exists. Make then only records it.
	Exists bool

	request Request
	tool    string // the installer's program; for pip the base Python
	key     string
}

// Error says why there is no plan, or why a plan failed.
type Error struct {
	Err error
	// Exit describes how the installer ended, with its last lines of output. It is nil if none
	// ran.
	Exit *proc.Exit
	schema.Advice
	// Refused reports that the request is impossible and nothing was tried.
	Refused bool
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// failed returns the error that the environment cannot be made.
func failed(err error, exit *proc.Exit) *Error {
	return &Error{Err: fmt.Errorf("cannot make the environment: %w", err), Exit: exit}
}

const marker = interp.EnvMarker

type mark struct {
	Key       string `json:"key"`
	Source    string `json:"source"`
	Digest    string `json:"digest"`
	Installer string `json:"installer"`
	Python    string `json:"python"`
}

// NewPlan plans the environment of a plugin. It reads files and starts nothing. The error is an
// [*Error].
func NewPlan(r Request) (Plan, error) {
	source, err := findSource(r.Entry, r.Dirs)
	switch {
	case errors.Is(err, errNone):
		e := &Error{Refused: true, Err: errors.New("no file says what the project needs"), Advice: schema.Hints("list the packages in a requirements.txt in the directory of the project")}
		if r.Entry != "" {
			e.Err = fmt.Errorf("no file says what %s needs", r.Entry)
			e.Advice = schema.Hints("list the packages in a requirements.txt beside %[1]s, or in a PEP 723 block at the top of %[1]s", filepath.Base(r.Entry))
		}
		return Plan{}, e
	case err != nil:
		return Plan{}, &Error{Refused: true, Err: err}
	}
	p := Plan{Source: source, request: r}
	p.Installer, p.tool = source.tool, interp.LookPath(r.Environ, source.tool)
	switch {
	case source.tool != "" && p.tool == "":
		return Plan{}, &Error{Refused: true, Err: fmt.Errorf("%s needs %s, which is not on PATH", source.Path, source.tool),
			Advice: schema.Hints("install %s", source.tool)}
	case r.Offline && (source.tool == "poetry" || source.tool == "pdm"):
		return Plan{}, &Error{Refused: true, Err: fmt.Errorf("%s needs %s, which cannot install offline", source.Path, source.tool)}
	case source.tool == "":
		p.Installer, p.tool = "uv", interp.LookPath(r.Environ, "uv")
		if p.tool == "" {
			p.Installer, p.tool = "pip", r.Python
		}
	}
	p.key = digest("2", runtime.GOOS, runtime.GOARCH, source.digest, source.place, r.Real, r.Version, p.Installer)
	p.Dir = filepath.Join(environments(r.Cache), p.key)
	if r.InPlace {
		p.Dir = filepath.Join(filepath.Dir(source.Path), ".venv")
	}
	p.Python = python(p.Dir)
	found, ours := readJSON[mark](filepath.Join(p.Dir, marker))
	if _, err := os.Lstat(p.Dir); err == nil && !ours && r.InPlace {
		return Plan{}, &Error{Refused: true, Err: fmt.Errorf("%s already exists and was not created by pyplug", p.Dir),
			Advice: schema.Hints("without %s the environment is made in the cache; or remove %s", schema.Setting("in-place"), p.Dir)}
	}
	_, err = os.Stat(p.Python)
	p.Exists = ours && found.Key == p.key && err == nil
	return p, nil
}

// python returns the Python of an environment.
func python(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}

// environments returns the directory of the environments in a cache.
func environments(cache string) string { return filepath.Join(cache, "envs", "v1") }

// Cache returns pyplug's directory in the user's cache.
func Cache() (string, error) { return bounded.UserCache() }

// CacheHint says what to do without a writable cache directory.
var CacheHint = schema.Hints("set %s to the absolute path of a directory that you may write to, or make .venv with %s",
	cmp.Or(map[string]string{"darwin": "HOME", "windows": "LocalAppData"}[runtime.GOOS], "XDG_CACHE_HOME"), schema.Setting("in-place"))
