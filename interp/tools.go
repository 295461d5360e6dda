package interp

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/pyplug/pyplug/interp/bounded"
)

// project is what pyproject.toml says of a project.
type project struct {
	root    string
	text    string
	Project struct{ Name string }
	Tool    struct {
		Poetry struct{ Name string }
		Hatch  hatchTable
	}
}

// hatchTable is what hatch.toml, or its table in pyproject.toml, says of environments.
type hatchTable struct {
	Envs struct{ Default struct{ Path string } }
}

// tool is a program that keeps environments outside of projects, under names that it makes
// from the project's path.
type tool struct {
	name string
	// A project is the tool's if it has one of the files, or if its pyproject.toml has the
	// table.
	files []string
	table string
	// patterns are those of the environment's path, which [filepath.Glob] reads, the first
	// that there is counts.
	patterns func(f *finder, p project) []string
}

var tools = []tool{
	{"uv", []string{"uv.lock"}, "[tool.uv", (*finder).uvEnvs},
	{"poetry", []string{"poetry.lock"}, "[tool.poetry", (*finder).poetryEnvs},
	{"pipenv", []string{"Pipfile"}, "", (*finder).pipenvEnvs},
	{"pdm", []string{"pdm.lock", ".pdm-python"}, "[tool.pdm", (*finder).pdmEnvs},
	{"hatch", []string{"hatch.toml"}, "[tool.hatch", (*finder).hatchEnvs},
}

// kept looks for the environment that a tool keeps elsewhere for the plugin's project.
func (f *finder) kept(ctx context.Context) (Interpreter, error) {
	for name, envs := range f.keptEnvs {
		return f.environment(ctx, envs[0], Source(name+"'s environment of the project"))
	}
	return Interpreter{}, nil
}

// keptEnvs yields the environments that a tool keeps elsewhere for the plugin's project, that of
// the newest version first.
func (f *finder) keptEnvs(yield func(tool string, envs []string) bool) {
	for _, dir := range f.Dirs {
		p := project{root: f.root(dir)}
		p.text, _ = bounded.Head(filepath.Join(p.root, "pyproject.toml"), maxFile) // may be none
		_ = bounded.TOML([]byte(p.text), &p)                                       // what is wrong names no project
		for _, t := range tools {
			has := func(name string) bool { return exists(filepath.Join(p.root, name)) }
			if !slices.ContainsFunc(t.files, has) && (t.table == "" || !strings.Contains(p.text, t.table)) {
				continue
			}
			if envs := firstMatches(t.patterns(f, p)); len(envs) > 0 && !yield(t.name, envs) {
				return
			}
		}
	}
}

// firstMatches are the environments that the first of the patterns matches that matches any,
// that of the newest version first.
func firstMatches(patterns []string) []string {
	for _, pattern := range patterns {
		if found := matches(pattern); len(found) > 0 {
			slices.SortFunc(found, func(a, b string) int { return slices.Compare(numbers(filepath.Base(b)), numbers(filepath.Base(a))) })
			return found
		}
	}
	return nil
}

// matches are the environments that a pattern matches, none if it depends on where one stands.
func matches(pattern string) []string {
	if !filepath.IsAbs(pattern) {
		return nil
	}
	found, _ := filepath.Glob(pattern) // none if it is malformed
	return slices.DeleteFunc(found, func(env string) bool { return !exists(filepath.Join(env, "pyvenv.cfg")) })
}

// literal escapes a path for [filepath.Glob].
func literal(path string) string {
	if runtime.GOOS == "windows" {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// hashed is the start of a digest as the tools write it.
func hashed(digest []byte) string { return base64.URLEncoding.EncodeToString(digest)[:8] }

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hashed(sum[:])
}

// normalized is a project's name as PEP 503 has it.
func normalized(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune("-_.", c) }), "-")
}

// readTOML reads into what it can of a file, which may be none.
func readTOML(path string, into any) {
	text, _ := bounded.Head(path, maxFile)
	_ = bounded.TOML([]byte(text), into)
}

// sanitized is a name in which the characters are replaced that a tool avoids.
func sanitized(name, avoided string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(avoided, r) {
			return '_'
		}
		return r
	}, name)
	return string([]rune(name)[:min(42, len([]rune(name)))])
}

func (f *finder) uvEnvs(p project) []string {
	if dir := f.vars["UV_PROJECT_ENVIRONMENT"]; dir != "" {
		return []string{literal(f.under(p.root, dir))}
	}
	return nil
}

func (f *finder) poetryEnvs(p project) []string {
	name := normalized(cmp.Or(p.Project.Name, p.Tool.Poetry.Name, "non-package-mode"))
	base := sanitized(name, " $`!*@\"\\\r\n\t") + "-" + sha(resolve(p.root))
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
	var patterns []string
	var chosen map[string]struct{ Minor string }
	readTOML(filepath.Join(dir, "envs.toml"), &chosen)
	if chosen[base].Minor != "" {
		patterns = append(patterns, literal(filepath.Join(dir, base+"-py"+chosen[base].Minor)))
	}
	return append(patterns, literal(filepath.Join(dir, base))+"-py*")
}

func (f *finder) pipenvEnvs(p project) []string {
	if name := f.vars["PIPENV_CUSTOM_VENV_NAME"]; name != "" {
		return []string{literal(below(f.workonHome(), name))}
	}
	name := sanitized(filepath.Base(p.root), " &$`!*@\"()[]\\\r\n\t") + "-" + sha(filepath.Join(p.root, "Pipfile"))
	if python := f.vars["PIPENV_PYTHON"]; python != "" {
		name += "-" + filepath.Base(python)
	}
	return []string{literal(below(f.workonHome(), name))}
}

func (f *finder) pdmEnvs(p project) []string {
	var patterns []string
	if text, err := bounded.Head(filepath.Join(p.root, ".pdm-python"), maxFile); err == nil {
		python := strings.TrimSpace(text)
		patterns = append(patterns, literal(filepath.Dir(filepath.Dir(python))))
	}
	sum := md5.Sum([]byte(p.root))
	venvs := f.userDir("XDG_DATA_HOME", ".local/share", "Library/Application Support", "pdm/venvs")
	return append(patterns, literal(below(venvs, filepath.Base(p.root)+"-"+hashed(sum[:])))+"-*")
}

func (f *finder) hatchEnvs(p project) []string {
	id := sha(p.root)
	if runtime.GOOS != "linux" {
		id = sha(strings.ToLower(p.root)) // on macOS and Windows
	}
	name := normalized(cmp.Or(p.Project.Name, filepath.Base(p.root)))
	var own hatchTable
	readTOML(filepath.Join(p.root, "hatch.toml"), &own)
	if path := cmp.Or(f.vars["HATCH_ENV_TYPE_VIRTUAL_PATH"], own.Envs.Default.Path, p.Tool.Hatch.Envs.Default.Path); path != "" {
		return []string{literal(f.under(p.root, path))}
	}
	var settings struct {
		Dirs struct {
			Data string
			Env  struct{ Virtual string }
		}
	}
	config := f.userDir("XDG_CONFIG_HOME", ".config", "Library/Application Support", "hatch")
	readTOML(f.directory("HATCH_CONFIG", below(config, "config.toml")), &settings)
	if dir := settings.Dirs.Env.Virtual; dir != "" {
		dir = f.under(p.root, dir)
		if dir != p.root && within(p.root, dir) || dir == below(f.home(), ".virtualenvs") {
			return []string{literal(filepath.Join(dir, name))}
		}
		return []string{literal(filepath.Join(dir, name, id, name))}
	}
	data := f.userDir("XDG_DATA_HOME", ".local/share", "Library/Application Support", "hatch")
	data = f.directory("HATCH_DATA_DIR", cmp.Or(settings.Dirs.Data, data))
	return []string{literal(below(data, "env", "virtual", name, id, name))}
}

// userDir is a user's directory for name: below what the variable names, or else below one of
// the usual ones of Linux and of macOS.
func (f *finder) userDir(variable, linux, darwin, name string) string {
	usual := linux
	if runtime.GOOS == "darwin" {
		usual = darwin
	}
	return below(f.directory(variable, below(f.home(), filepath.FromSlash(usual))), filepath.FromSlash(name))
}

// uvScript looks for the environment that uv keeps for the plugin, a script with a PEP 723
// block. Its name is the script's, then a digest of its path that only uv knows how to make: a
// sole one is the script's, if it does not say otherwise. One that will not do is skipped,
// because uv makes it anew at its next start.
func (f *finder) uvScript(ctx context.Context) (Interpreter, error) {
	if text, _ := bounded.Head(f.Entry, maxFile); !strings.Contains("\n"+text, "\n# /// script") {
		return Interpreter{}, nil
	}
	script := filepath.Base(f.Entry)
	isSeparator := func(c rune) bool { return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	stem := strings.Join(strings.FieldsFunc(strings.ToLower(strings.TrimSuffix(script, filepath.Ext(script))), isSeparator), "-")
	usual := below(f.directory("XDG_CACHE_HOME", below(f.home(), ".cache")), "uv")
	if runtime.GOOS == "windows" {
		usual = below(f.vars["LOCALAPPDATA"], "uv", "cache")
	}
	found := matches(literal(below(f.directory("UV_CACHE_DIR", usual), "environments-v2", stem)) + "-????????????????") // of 16 digits
	found = slices.DeleteFunc(found, func(env string) bool {
		cfg, _, _ := findConfig(filepath.Join(env, "python"))
		return cfg.prompt != "" && cfg.prompt != script
	})
	if stem == "" || len(found) != 1 {
		return Interpreter{}, nil
	}
	python, err := f.environment(ctx, found[0], SourceUvScript)
	if err != nil {
		err = f.skipError(found[0], SourceUvScript, err)
	}
	return python, err
}

// wrapped looks for the environment that virtualenvwrapper made for the project.
func (f *finder) wrapped(ctx context.Context) (Interpreter, error) {
	home := f.vars["WORKON_HOME"]
	if home == "" {
		return Interpreter{}, nil
	}
	names, _ := namesIn(home) // those that can be read
	for _, name := range names {
		env := filepath.Join(home, name)
		text, err := bounded.Head(filepath.Join(env, ".project"), maxFile)
		for _, dir := range f.Dirs {
			if err == nil && SamePath(strings.TrimSpace(text), f.root(dir)) {
				return f.environment(ctx, env, "virtualenvwrapper's environment of the project")
			}
		}
	}
	return Interpreter{}, nil
}
