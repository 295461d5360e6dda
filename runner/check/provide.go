package check

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/schema"
)

// ways are what the plugin's files say about the packages that it needs.
type ways struct {
	// declared are the distributions that they name, and synced those that sync installs.
	declared, synced []string
	// kind and source are the file that sync reads, empty if there is none; canSync: a start
	// takes the environment that sync makes. Else the file is a lock file, whose tool makes it.
	kind, source string
	canSync      bool
}

// readWays reads them. It is needed once something is missing.
func (l *sourceLook) readWays() {
	if l.opened != nil {
		kind, source, ok := l.opened.SyncSource()
		if l.canSync = ok; ok || l.keeps(kind, source) {
			l.kind, l.source = kind, source
		}
	}
	if l.source != "" {
		l.synced = declaredBy(l.source)
	}
	l.declared = append(slices.Clone(l.synced), declared(l.Dirs, l.Scripts)...)
}

// toolSync makes the environment that a tool keeps for a project from the tool's lock file.
var toolSync = map[string]string{"uv.lock": "uv sync --project ", "poetry.lock": "poetry install --directory ", "pdm.lock": "pdm install --project "}

// keeps reports whether the tool of a lock file keeps the environment of this Python.
func (l *sourceLook) keeps(kind, lock string) bool {
	tool, _, _ := strings.Cut(kind, ".")
	its := l.python.Source == interp.Source(tool+"'s environment of the project") || interp.SamePath(l.python.Env, filepath.Join(filepath.Dir(lock), ".venv"))
	return toolSync[kind] != "" && its && !l.python.Source.Named() && interp.LookPath(l.Env, tool) != ""
}

// remedy says how to provide missing modules, by a command if possible; zero if it is unknown
// for the first of them.
func (l *sourceLook) remedy(all []missing) schema.Hint {
	m, generate := all[0], l.generate(all[0])
	known := l.distribution(m) != ""
	switch unknown := !strings.Contains(m.Missing, ".") && l.isPackage(m); {
	case known && l.source == "":
		return l.install(l.distributions(all)...)
	case !known && generate != "":
		return schema.Hintf(generate)
	case known || unknown && (l.canSync || l.source != ""):
		return l.sync(l.wanted(all), known || l.source == "" || l.isSynced())
	case unknown && l.python.Env != "":
		return schema.Hintf("install %s in %s", l.wanted(all), l.python.Env)
	}
	return schema.Hint{}
}

// isSynced reports whether the Python has what the source asks for, and nothing else.
func (l *sourceLook) isSynced() bool { return l.python.Source == interp.SourceSync }

// wanted are the packages that sync may not install yet, in words; empty if there are none. If
// sync is to run for the first module anyway, it may provide others by a package of another name.
func (l *sourceLook) wanted(all []missing) string {
	names, certain := l.unlisted(l.distributions(all)), l.isSynced() || l.distribution(all[0]) == ""
	var modules []string
	for _, m := range all {
		top, _, _ := strings.Cut(m.Missing, ".")
		if certain && l.distribution(m) == "" && !slices.Contains(modules, top) {
			modules = append(modules, top)
		}
	}
	switch {
	case len(modules) == 1 && len(all) == 1:
		names = append(names, "its package")
	case len(modules) == 1:
		names = append(names, "the package of "+modules[0])
	case len(modules) > 1:
		names = append(names, "the packages of "+joined(modules))
	}
	return joined(names)
}

// unlisted are the distributions among names that sync does not install yet.
func (l *sourceLook) unlisted(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(l.synced, name) })
}

// sync says how to make the plugin's environment with packages that its files must list. Unless
// it is certain that they do not, the user is to check that.
func (l *sourceLook) sync(packages string, certain bool) schema.Hint {
	line := schema.Hintf("%s", schema.EnvLine(l.opened.SyncLine()))
	if !l.canSync && l.source != "" {
		line = schema.Hintf(toolSync[l.kind] + schema.QuoteLine([]string{filepath.Dir(l.source)}))
	}
	if packages == "" && l.isSynced() && l.opened.EnvChanged() == "" { // sync would find that one, which lacks something
		line = schema.Hintf("%s && %s", schema.QuoteLine([]string{"rm", "-r", l.python.Env}), line)
	}
	unnamed := !l.python.Source.Named() || l.python.AnyOf // a start takes the environment
	if packages == "" && unnamed {
		return line
	}
	how := schema.Hintf("run `%s`", line)
	if !unnamed {
		how = schema.Hintf("%s, then start it without %s", how, l.python.Source)
	}
	where, add := l.shown(l.source), ""
	if tool, isLock := strings.CutSuffix(l.kind, ".lock"); isLock {
		add = tool + " add"
	}
	switch l.kind {
	case "":
		where = "requirements.txt beside the plugin"
		if unnamed {
			how = schema.Hintf("%s, or use pip in a .venv there", how)
		}
	case "PEP 723":
		where = "the PEP 723 block of " + where
	case "PEP 723 lock":
		where, add = strings.TrimSuffix(where, ".lock"), "uv add --script"
	}
	switch {
	case packages == "":
		return how
	case !certain:
		return schema.Hintf("check that %s lists %s and %s", where, packages, how)
	case add != "":
		return schema.Hintf("add %s to %s with `%s` and %s", packages, where, add, how)
	}
	return schema.Hintf("list %s in %s and %s", packages, where, how)
}

// install says how to install distributions for the plugin: by sync if its files say what it
// needs, in a .venv beside it if pip may not change what the system or others own, else by the
// Python's own pip, by uv, or by the pip that Python brings.
func (l *sourceLook) install(names ...string) schema.Hint {
	words := []string{l.Python, "-m", "pip", "install"}
	switch {
	case l.source != "":
		return l.sync(joined(l.unlisted(names)), true)
	case l.managed && len(l.Dirs) > 0:
		for _, i := range l.foreign() { // a new environment lacks what this Python has
			if name := l.distribution(missing{Module: i.Module}); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		env := filepath.Join(l.Dirs[0], ".venv")
		words[0] = filepath.Join(env, "bin", "python")
		return schema.Hintf("%s && %s", schema.EnvLine(schema.QuoteLine([]string{l.Python, "-m", "venv", env})), schema.QuoteLine(append(words, names...)))
	case !l.Pip && interp.LookPath(l.Env, "uv") != "":
		words = []string{"uv", "pip", "install", "--python", l.Python}
	case !l.Pip:
		return schema.Hintf("%s && %s", schema.QuoteLine([]string{l.Python, "-m", "ensurepip"}), schema.QuoteLine(append(words, names...)))
	}
	return schema.Hintf(schema.QuoteLine(append(words, names...)))
}
