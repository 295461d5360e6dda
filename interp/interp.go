package interp

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Source is where a Python was found, in the words of messages.
type Source string

// The sources, in the order of the search.
const (
	SourceFlag     Source = "--python"
	SourceVariable Source = "PYPLUG_PYTHON"
	SourceManifest Source = "manifest"
	SourceDotVenv  Source = ".venv next to the plugin"
	SourceVenv     Source = "venv next to the plugin"
	SourceActive   Source = "VIRTUAL_ENV"
	SourceConda    Source = "CONDA_PREFIX"
	SourcePin      Source = pinFile
	SourceShebang  Source = "the plugin's #! line"
	SourcePath     Source = "PATH"
	SourceSystem   Source = "system"
)

// Named reports whether a user or a manifest named the Python. No environment takes precedence
// over such a Python.
func (s Source) Named() bool {
	return s == SourceFlag || s == SourceVariable || s == SourceManifest
}

// Obvious reports whether users expect the Python of a source: one that was named, one of an
// environment in the plugin's directory, an activated one, or python3 on PATH.
func (s Source) Obvious() bool {
	switch s {
	case SourceDotVenv, SourceVenv, SourceActive, SourceConda, SourcePath:
		return true
	}
	return s.Named()
}

// ofProject reports whether files of the plugin's project choose the Python of a source. They do
// for all sources except those of the user, the system and the version managers.
func (s Source) ofProject() bool {
	switch s {
	case SourceFlag, SourceVariable, SourceActive, SourceConda, SourcePath, SourceSystem:
		return false
	}
	return !slices.ContainsFunc(managers, func(m manager) bool { return s == Source(m.name) })
}

// by returns i with the source that asked for it.
func (i Interpreter) by(source Source) Interpreter {
	i.Source, i.OfProject = source, i.OfProject || source.ofProject()
	return i
}

// RunFunc runs the program at path, without a shell and without variables such as PYTHONHOME. It
// returns standard output and standard error. The error says that the program did not start, timed
// out, or failed, such as "exit code 3".
type RunFunc func(ctx context.Context, path string, args []string) (stdout []byte, stderr string, err error)

// Request says which Python is wanted. The zero value accepts any Python that pyplug can use. Its
// environment is empty, so Find looks only in the directories of the system.
type Request struct {
	// Flag is the value of --python, or "".
	Flag string
	// Manifest is the manifest's python key, or "".
	Manifest string
	// ManifestDir is the absolute directory from which a relative Manifest starts.
	ManifestDir string
	// Entry is the absolute path of the plugin's file or directory, or "" if it is unknown.
	Entry string
	// Dirs are the absolute directories of the plugin, which may contain an environment. For a
	// plugin behind a link, the directory of the link comes first.
	Dirs []string
	// Project is the result of [FindProject] for Dirs. If it is the zero value, Find calls it.
	Project Project
	// Active prefers an activated environment to the plugin's own. NoActive ignores activated
	// environments. The default prefers only one that belongs to the plugin's project.
	Active, NoActive bool
	// ForOthers reports whether pyplug made the environment env for other plugins. If it is nil,
	// every environment is for the plugin.
	ForOthers func(env string) bool
	// Sync is the command line that makes the plugin's environment, for messages. It is empty if no
	// file says what the plugin needs.
	Sync string
	// Making is the absolute path of an environment that is about to be made, or "". If it is set,
	// Find ignores environments that nobody named, and every reference to this environment.
	Making string
	// Requires are the requirements of all files. The Python must satisfy all of them.
	Requires []Requirement
	// Environ is shaped like os.Environ(). The last entry of a name counts. The package never reads
	// the environment of its own process.
	Environ []string
	// Cwd is the absolute directory for relative paths in the flag and the environment.
	Cwd string
	// Run asks a Python for its version if no file says it. If Run is nil, only explicit sources
	// may name a Python of unknown version.
	Run RunFunc
	// Untrusted says that the project is not trusted. Find then never runs a Python that has
	// OfProject, and accepts a Python of unknown version from every source.
	Untrusted bool

	// Tests replace the system with these.
	ownerOf    func(path string) (owner, bool)
	systemRoot string
}

// Interpreter is the chosen Python. It belongs to the caller. The JSON of [Facts] contains its
// fields.
type Interpreter struct {
	// Path is absolute and not resolved. It must also be argv[0].
	Path string `json:"-"`
	// Source is where the Python was found.
	Source Source `json:"source,omitempty"`
	// Version is unknown if an explicit source named the Python, no file says the version, and
	// the Python was not asked. Patch may be unknown even if the rest is known.
	Version Version `json:"version,omitzero"`
	// Implementation is "cpython", "pypy" and so on, or "" if no file says it.
	Implementation string `json:"implementation,omitempty"`
	// Variant contains "t" for a free-threaded Python and "d" for a debug build.
	Variant string `json:"variant,omitempty"`
	// Env is the directory of its virtual environment, or "".
	Env string `json:"-"`
	// AnyOf reports whether the source named a version rather than this Python.
	AnyOf bool `json:"-"`
	// OfProject reports whether files of the plugin's project chose it, rather than the user or the
	// system. Running it means trusting those files.
	OfProject bool `json:"-"`
	// Tried lists the candidates that were not chosen, in order.
	Tried []Attempt `json:"-"`
	// Skipped lists the entries of Tried that surprise users: an unusable environment of
	// VIRTUAL_ENV, an environment that only another tool can find, and pins that were not followed.
	Skipped []Attempt `json:"-"`
}

// Find returns the Python for r. It is safe for concurrent use. The error is a [*hook.Error] or the
// error of ctx.
func Find(ctx context.Context, r Request) (Interpreter, error) {
	f := newAsking(ctx, r)
	found, _, broken := f.find(ctx)
	switch {
	case ctx.Err() != nil:
		return Interpreter{}, ctx.Err()
	case broken != nil:
		return Interpreter{}, f.failure(broken)
	}
	found.Tried = f.tried
	for _, attempt := range f.tried {
		activated := attempt.Source == SourceActive || attempt.Source == SourceConda
		if (activated || attempt.surprise) && found.Source != attempt.Source || attempt.Code == ToolRuns {
			found.Skipped = append(found.Skipped, attempt)
		}
	}
	return found, nil
}

// FindIn returns the Python of an environment that nobody named. Like [Find], it returns an error
// if the Python does not satisfy the requirements, or if untrusted users may change the
// environment.
func FindIn(ctx context.Context, r Request, env string) (Interpreter, error) {
	f := newAsking(ctx, r)
	broken := f.readRequirements()
	var found Interpreter
	if broken == nil {
		found, broken = f.environment(env, SourceDotVenv)
	}
	if broken != nil {
		return Interpreter{}, f.failure(broken)
	}
	return found, ctx.Err()
}

// finder is one search. A method that looks at a source returns the zero Interpreter if the source
// has none. It returns an attempt only if the source decides and its Python cannot be used.
type finder struct {
	Request
	// ask runs a Python for its version. It is nil if no Python may be run. It fails at once after
	// the search has ended.
	ask       func(path string) (v Version, implementation string, broken *Attempt)
	vars      map[string]string
	uid       int      // the user of this process
	judged    []Source // sources of the activated environments that were examined
	dirs      []string // directories of PATH to search; pathDirs sets it
	bounds    []bound
	lookup    bool    // the search is for a version that an explicit source names
	wanted    request // the version that an explicit source or a pin names
	assume    bool    // a Python of unknown version is accepted
	shimmed   bool    // a pin file in or above the working directory selects what the current shim starts
	tried     []Attempt
	pyenvRoot string // the root of pyenv according to one of its shims, or ""
}

func newFinder(r Request) *finder {
	if r.ownerOf == nil {
		r.ownerOf = ownerOf
	}
	f := &finder{Request: r, vars: Variables(r.Environ), uid: os.Getuid(), assume: r.Untrusted}
	if r.Project.roots == nil {
		f.Project = f.project()
	}
	return f
}

// newAsking returns a search that may run a Python.
func newAsking(ctx context.Context, r Request) *finder {
	f := newFinder(r)
	if r.Run != nil {
		f.ask = func(path string) (Version, string, *Attempt) { return ask(ctx, r.Run, path) }
	}
	return f
}

// look examines one source.
type look func() (Interpreter, *Attempt)

// sources returns the sources in the order of the search.
func (f *finder) sources() []look {
	explicit := []look{
		f.explicit(f.Flag, f.Cwd, SourceFlag),
		f.explicit(f.vars["PYPLUG_PYTHON"], f.Cwd, SourceVariable),
		f.explicit(f.Manifest, f.ManifestDir, SourceManifest),
	}
	installed := []look{f.pinned, f.hinted, f.path, f.installed}
	if f.Making != "" {
		return append(explicit, installed...)
	}
	return slices.Concat(explicit, []look{f.activeFirst, f.owned, f.active}, installed)
}

// find examines the sources in order until one decides. later are the sources after it.
func (f *finder) find(ctx context.Context) (found Interpreter, later []look, broken *Attempt) {
	if broken := f.readRequirements(); broken != nil {
		return Interpreter{}, nil, broken
	}
	sources := f.sources()
	for i, look := range sources {
		found, broken := look()
		if broken != nil || found.Path != "" || ctx.Err() != nil {
			return found, sources[i+1:], broken
		}
	}
	return Interpreter{}, nil, f.notFound()
}

func (f *finder) readRequirements() *Attempt {
	f.Requires = slices.DeleteFunc(slices.Clone(f.Requires), func(r Requirement) bool {
		return strings.TrimSpace(r.Spec) == ""
	})
	f.bounds = append(f.bounds, minimumBound)
	for _, r := range f.Requires {
		b, broken := readRequirement(r)
		if broken != nil {
			return broken
		}
		f.bounds = append(f.bounds, b)
	}
	return f.conflict()
}

// skip records a Python that was not chosen. The caller may complete the returned record before
// the next skip.
func (f *finder) skip(code Code, path string, source Source, reason string) *Attempt {
	f.tried = append(f.tried, Attempt{Path: path, Source: source, Code: code, Reason: reason})
	return &f.tried[len(f.tried)-1]
}

// skipBroken records a Python that cannot be used, but does not end the search.
func (f *finder) skipBroken(broken *Attempt) { f.tried = append(f.tried, *broken) }

// Variables converts an environment, shaped like os.Environ(), to a map. The last entry of a name
// counts. On Windows it ignores the case of names.
func Variables(environ []string) map[string]string {
	vars := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			if runtime.GOOS == "windows" {
				name = strings.ToUpper(name)
			}
			vars[name] = value
		}
	}
	return vars
}

// home returns the user's home directory, or "" if the environment does not name it.
func (f *finder) home() string {
	if runtime.GOOS == "windows" {
		return f.vars["USERPROFILE"]
	}
	return f.vars["HOME"]
}

// under makes path absolute. A relative path starts at dir, and ~ is the home directory.
func (f *finder) under(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && f.home() != "" && (rest == "" || isSlash(rest[0])) {
		path = f.home() + rest
	}
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case runtime.GOOS == "windows" && path != "" && isSlash(path[0]): // the path is on the drive of dir
		return filepath.Join(filepath.VolumeName(dir)+`\`, path)
	}
	return filepath.Join(dir, path)
}

func isSlash(c byte) bool { return c == '/' || runtime.GOOS == "windows" && c == '\\' }
