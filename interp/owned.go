package interp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// EnvMarker is a file in an environment that pyplug made. It says from what.
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

// ownedIn looks for an environment in dir: by the known names, then any sole one.
func (f *finder) ownedIn(ctx context.Context, dir string, beside bool) (Interpreter, error) {
	names, where := []string{".venv", "venv"}, " of the project"
	if beside {
		where = " beside the plugin"
	}
	for i, name := range names {
		env, source := filepath.Join(dir, name), Source(name+where)
		ours, err := f.isEnv(env, source, beside)
		switch {
		case err != nil:
			return Interpreter{}, err
		case ours:
			return f.environment(ctx, env, source)
		}
		if name == ".venv" {
			if found, err := f.named832(ctx, dir, where); found.Path != "" || err != nil {
				return found, err
			}
		}
		if i < len(names)-1 {
			continue
		}
		for _, known := range [...]struct{ name, mark string }{
			{"env", "pyvenv.cfg"}, {".conda", "conda-meta"}, {"env", "conda-meta"},
		} {
			if env := filepath.Join(dir, known.name); exists(filepath.Join(env, known.mark)) {
				return f.environment(ctx, env, Source(known.name+where))
			}
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

// named832 looks at a file .python-envs (PEP 832) or .venv, whose last line names the
// environment. In .venv, a name alone is one of pipenv's own unless it is in dir.
func (f *finder) named832(ctx context.Context, dir, where string) (Interpreter, error) {
	for _, name := range [...]string{".python-envs", ".venv"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, _ := bounded.Head(path, maxFile) // what was read before an error counts
		last := lastLine(text)
		if last == "" {
			continue
		}
		env := f.under(dir, filepath.FromSlash(last))
		source := Source(name + where)
		if _, err := os.Stat(env); err != nil && name == ".venv" && !hasSlash(last) {
			f.skip(ToolRuns, path, source, "names an environment that pipenv keeps").Fix = schema.Hintf("`pipenv run pyplug …` uses it")
			continue
		} else if err != nil {
			broken := statError(env, err)
			broken.Fix = schema.Hintf("correct %s, which names it, or name a Python with %s", path, schema.Setting("python"))
			return Interpreter{}, broken.from(source)
		}
		return f.environment(ctx, env, source)
	}
	return Interpreter{}, nil
}

func lastLine(text string) (last string) {
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
	}
	return last
}

// notEnvs lists directories whose environments belong to tools.
var notEnvs = []string{".tox", ".nox", "node_modules", "site-packages", "__pypackages__", ".git"}

// only looks for an environment of any other name. More than one is an error.
func (f *finder) only(ctx context.Context, dir, where string) (Interpreter, error) {
	names, err := namesIn(dir)
	if errors.Is(err, fs.ErrPermission) {
		f.skip(Unreadable, dir, Source("environments"+where), "cannot be listed, and an environment of another name would not be found")
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains(notEnvs, name) || !exists(filepath.Join(dir, name, "pyvenv.cfg"))
	})
	switch len(names) {
	case 0:
		return Interpreter{}, nil
	case 1:
		return f.environment(ctx, filepath.Join(dir, names[0]), Source(names[0]+where))
	}
	slices.Sort(names)
	broken := problem(AmbiguousEnvs, dir, "has %d environments, none of them .venv: %s", len(names), strings.Join(names, ", "))
	return Interpreter{}, broken.from(Source("environments" + where))
}

// namesIn lists the directories and links in dir.
func namesIn(dir string) (names []string, err error) {
	entries, err := bounded.Dir(dir)
	for _, entry := range entries {
		if entry.IsDir() || entry.Type() == os.ModeSymlink {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// enclosing looks for the environment that contains the plugin, as it does an installed module.
func (f *finder) enclosing(ctx context.Context) (Interpreter, error) {
	for _, dir := range f.Dirs {
		for _, level := range f.above(dir) {
			if _, none := envPython(level); none != nil || !exists(filepath.Join(level, "pyvenv.cfg")) {
				continue
			}
			found, err := f.environment(ctx, level, "environment around the plugin")
			if broken, ok := err.(*Error); ok {
				broken.env = "" // to make it again would remove the plugin
			}
			return found, err
		}
	}
	return Interpreter{}, nil
}
