package interp

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
)

// EnvMarker is the name of a file in each environment that pyplug made. The file records the
// environment's source, installer and base Python.
const EnvMarker = "pyplug-env.json"

// synced looks at the environment that pyplug made for the plugin.
func (f *finder) synced(ctx context.Context) (Interpreter, error) {
	switch {
	case f.Synced == "":
		return Interpreter{}, nil
	case f.Outdated != "":
		f.skip(OutdatedEnv, f.Synced, SourceSync, f.Outdated)
		return Interpreter{}, nil
	}
	return f.environment(ctx, f.Synced, SourceSync)
}

// owned looks for the plugin's own environment, which decides.
func (f *finder) owned(ctx context.Context) (found Interpreter, err error) {
	for dir, beside := range f.levels {
		if found, err = f.ownedIn(ctx, dir, beside); found.Path != "" || err != nil {
			break
		}
	}
	for _, look := range []look{f.kept, f.enclosing} {
		if found.Path == "" && err == nil {
			found, err = look(ctx)
		}
	}
	if err == nil && found.Path != "" {
		f.noteActive(found)
	} else if err == nil && len(f.activated()) == 0 {
		f.noteTool()
	}
	return found, err
}

// ownedIn looks in dir for an environment with one of the known names, then for a single
// environment with any other name.
func (f *finder) ownedIn(ctx context.Context, dir string, beside bool) (Interpreter, error) {
	where := " of the project"
	if beside {
		where = " beside the plugin"
	}
	for _, name := range [...]string{".venv", "venv", "env", ".conda"} {
		source := Source(name + where)
		env, err := f.envAt(filepath.Join(dir, name), source)
		if err != nil {
			return Interpreter{}, err
		}
		if env != "" {
			return f.environment(ctx, env, source)
		}
	}
	return f.only(ctx, dir, where)
}

// environment examines the Python of an environment that nobody named.
func (f *finder) environment(ctx context.Context, env string, source Source) (Interpreter, error) {
	if broken := f.distrust(env); broken != nil {
		return Interpreter{}, broken.from(source)
	}
	return f.inEnv(ctx, env, source)
}

// notEnvs lists directories whose environments belong to tools.
var notEnvs = []string{".tox", ".nox", "node_modules", "site-packages", "__pypackages__", ".git"}

// only looks for an environment of any other name. More than one is an error.
func (f *finder) only(ctx context.Context, dir, where string) (Interpreter, error) {
	entries, err := bounded.Dir(dir)
	if errors.Is(err, fs.ErrPermission) {
		f.skip(Unreadable, dir, Source("environments"+where), "cannot be listed, and an environment of another name would not be found")
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); !slices.Contains(notEnvs, name) && exists(filepath.Join(dir, name, "pyvenv.cfg")) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return Interpreter{}, nil
	case 1:
		return f.environment(ctx, filepath.Join(dir, names[0]), Source(names[0]+where))
	}
	broken := problem(AmbiguousEnvs, dir, "has %d environments, none of them .venv: %s", len(names), strings.Join(names, ", "))
	return Interpreter{}, broken.from(Source("environments" + where))
}

// enclosing looks for the environment that contains the plugin. An installed module is in such an
// environment.
func (f *finder) enclosing(ctx context.Context) (Interpreter, error) {
	for _, dir := range f.Dirs {
		for _, level := range f.above(dir) {
			if _, none := envPython(level); none != nil || !exists(filepath.Join(level, "pyvenv.cfg")) {
				continue
			}
			found, err := f.environment(ctx, level, "environment around the plugin")
			if broken, ok := err.(*Error); ok {
				broken.env = "" // making it again would remove the plugin
			}
			return found, err
		}
	}
	return Interpreter{}, nil
}
