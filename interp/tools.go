package interp

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// project contains what pyproject.toml says about a project.
type project struct {
	root    string
	Project struct{ Name string }
	Tool    struct {
		Poetry struct{ Name string }
	}
}

// tool is a program that keeps the environments of projects, in the project or elsewhere.
type tool struct {
	name string
	// marks are files at the root of the tool's projects. One of them is enough. If a text follows
	// after a space, the file must contain it.
	marks []string
	// envs lists the possible environments of the project. The preferred one comes first.
	envs func(f *finder, p project) []string
	// run is the start of the command line that runs a program in the environment. It is set for
	// tools whose environments pyplug does not look for.
	run string
}

var tools = []tool{
	{name: "uv", marks: []string{"uv.lock", "pyproject.toml [tool.uv"}, envs: (*finder).uvEnvs},
	{name: "poetry", marks: []string{"poetry.lock", "pyproject.toml [tool.poetry"}, envs: (*finder).poetryEnvs},
	{name: "pdm", marks: []string{".pdm-python", "pdm.lock"}, envs: (*finder).pdmEnvs, run: "pdm run"},
	{name: "pipenv", marks: []string{"Pipfile"}, run: "pipenv run"},
	{name: "hatch", marks: []string{"hatch.toml", "pyproject.toml [tool.hatch.envs"}, run: "hatch run"},
	{name: "pixi", marks: []string{"pixi.toml", "pyproject.toml [tool.pixi"}, run: "pixi run"},
	{name: "rye", marks: []string{"pyproject.toml [tool.rye"}, run: "rye run"},
	{name: "mise", marks: []string{"mise.toml python.venv", ".mise.toml python.venv"}, run: "mise exec --"},
}

// mark returns the file that marks root as a project of the tool, or "".
func (t tool) mark(root string) string {
	for _, mark := range t.marks {
		name, content, _ := strings.Cut(mark, " ")
		path := filepath.Join(root, name)
		if text, err := bounded.Head(path, maxFile); err == nil && strings.Contains(text, content) {
			return path
		}
	}
	return ""
}

// kept looks for an environment of the plugin's project that a tool keeps elsewhere.
func (f *finder) kept() (Interpreter, *Attempt) {
	for _, dir := range f.Dirs {
		p := project{root: f.Project.roots[dir]}
		readTOML(filepath.Join(p.root, "pyproject.toml"), &p)
		for _, t := range tools {
			if t.envs == nil || t.mark(p.root) == "" {
				continue
			}
			for _, env := range t.envs(f, p) {
				if bounded.Exists(filepath.Join(env, "pyvenv.cfg")) {
					return f.environment(env, Source(t.name+"'s environment of the project"))
				}
			}
		}
	}
	return Interpreter{}, nil
}

// noteTool records that a tool keeps the environment of the plugin's project in a place where
// pyplug does not look. Its hint is the tool's command that activates the environment.
func (f *finder) noteTool() {
	for _, dir := range f.Dirs {
		for _, t := range tools {
			if t.run == "" {
				continue
			}
			if mark := t.mark(f.Project.roots[dir]); mark != "" {
				f.skip(ToolRuns, mark, Source(t.name), "no environment of the project is active, and pyplug does not look where "+t.name+" keeps it").Fix =
					schema.Hintf("run `%s pyplug …` to use the environment of %s", t.run, t.name)
				return
			}
		}
	}
}

// readTOML decodes a file into a struct. It ignores errors.
func readTOML(path string, into any) {
	text, _ := bounded.Head(path, maxFile)
	_ = bounded.TOML([]byte(text), into)
}

func (f *finder) uvEnvs(p project) []string {
	if dir := f.vars["UV_PROJECT_ENVIRONMENT"]; dir != "" {
		return []string{f.under(p.root, dir)}
	}
	return nil
}

// pdmEnvs returns the environment of the Python that .pdm-python names.
func (f *finder) pdmEnvs(p project) []string {
	python, _ := bounded.Head(filepath.Join(p.root, ".pdm-python"), maxFile)
	return []string{filepath.Dir(filepath.Dir(strings.TrimSpace(python)))}
}

// poetryEnvs returns patterns: first for the environment that `poetry env use` chose, then for
// all environments of the project. It makes their names as poetry does.
func (f *finder) poetryEnvs(p project) []string {
	name := strings.ToLower(cmp.Or(p.Project.Name, p.Tool.Poetry.Name, "non-package-mode"))
	name = strings.Join(strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune("-_.", c) }), "-")
	name = strings.Map(func(c rune) rune {
		if strings.ContainsRune(" $`!*@\"\\\r\n\t", c) {
			return '_'
		}
		return c
	}, name)
	sum := sha256.Sum256([]byte(bounded.Real(p.root)))
	base := string([]rune(name)[:min(42, len([]rune(name)))]) + "-" + base64.URLEncoding.EncodeToString(sum[:])[:8]
	config := f.directory("POETRY_CONFIG_DIR", f.userDir("XDG_CONFIG_HOME", ".config", "Library/Application Support", "pypoetry"))
	cache, path := f.userDir("XDG_CACHE_HOME", ".cache", "Library/Caches", "pypoetry"), filepath.Join("{cache-dir}", "virtualenvs")
	for _, file := range [...]string{below(config, "config.toml"), filepath.Join(p.root, "poetry.toml")} {
		var settings struct {
			Cache       string `toml:"cache-dir"`
			Virtualenvs struct{ Path string }
		}
		readTOML(file, &settings)
		cache, path = cmp.Or(settings.Cache, cache), cmp.Or(settings.Virtualenvs.Path, path)
	}
	cache = f.directory("POETRY_CACHE_DIR", cache)
	path = cmp.Or(f.vars["POETRY_VIRTUALENVS_PATH"], path)
	if cache == "" && strings.Contains(path, "{cache-dir}") {
		return nil
	}
	dir := f.under(p.root, strings.ReplaceAll(path, "{cache-dir}", cache))
	var chosen map[string]struct{ Minor string }
	readTOML(filepath.Join(dir, "envs.toml"), &chosen)
	envs := []string{filepath.Join(dir, base+"-py"+chosen[base].Minor)}
	for _, name := range newestFirst(dir) {
		if strings.HasPrefix(name, base+"-py") {
			envs = append(envs, filepath.Join(dir, name))
		}
	}
	return envs
}

// userDir returns the user's directory for name. It is below the directory that the variable names,
// or by default below the usual directory of Linux or macOS.
func (f *finder) userDir(variable, linux, darwin, name string) string {
	usual := linux
	if runtime.GOOS == "darwin" {
		usual = darwin
	}
	return below(f.directory(variable, below(f.home(), filepath.FromSlash(usual))), name)
}
