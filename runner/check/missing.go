package check

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/schema"
)

// MissingHints returns how to provide a module that a plugin lacks, by a command if
// possible. start reports that the plugin did not start because of it. Then the hints are
// also about all other modules that the plugin lacks.
func MissingHints(o *runner.Opened, module string, start bool) []schema.Hint {
	l := lookOf(o)
	l.readSource()
	m := missing{Module: module, Missing: module}
	_, fix, isPackage := l.lackOf(m)
	switch {
	case fix != "":
		return schema.Hints("%s", fix)
	case !isPackage && strings.Contains(module, "."): // Python found the package, and not this part of it
		return nil
	}
	names := m.Missing + " is"
	all := []missing{m}
	if start {
		all = append(all, l.alsoMissing(m)...)
	}
	if len(all) > 1 {
		names = joined(append([]string{m.Missing}, l.places(all[1:])...)) + " are"
	}
	var hints []schema.Hint
	for _, skipped := range l.python.Skipped {
		if skipped.Code == interp.ToolRuns {
			hints = append(hints, skipped.Fix)
		}
	}
	if remedy := l.remedy(all); isPackage && !remedy.IsZero() {
		hints = append(hints, schema.Hintf("%s not installed for this Python: %s", names, remedy))
	}
	return append(hints, schema.Hintf("if it is your own module, put it beside the plugin; or name the Python that has it with %s", schema.Setting("python")))
}

// lackOf says why a module is not found, what to do about it if that is known, and whether its
// package is to be installed.
func (l *sourceLook) lackOf(m missing) (problem, fix string, isPackage bool) {
	none := "there is no module " + m.Missing
	if in := cmp.Or(m.Dir, m.Where); in != "" {
		return none + " in " + l.shown(in), "", false
	}
	name, dir := distribution(m.Module, l.listed), l.besides(m)
	switch {
	case dir != "":
		return m.Missing + " is not where Python looks for it", "it is in " + dir + ": put that directory on PYTHONPATH, or on sys.path before the import", false
	case standard(m.Missing):
		return m.Missing + " is not in the standard library of this Python, " + l.python.Version.String(), "", false
	case l.sibling(m.Module) != "":
		return none, fmt.Sprintf("%s.py is beside the plugin; did you mean `import %[1]s`?", l.sibling(m.Module)), false
	case generated(m.Module) != "":
		return none, l.generate(generated(m.Module)), false
	case !slices.Contains(l.listed, name) && l.isOwn(m): // somebody else's of that name would be installed
		return none + " in the plugin's project", "", false
	case name == "" && strings.Contains(m.Missing, "."):
		return none, "", false
	}
	return m.Missing + " is not installed for this Python", "", true
}

// besides returns a directory that has the missing top-level module but that Python does
// not search. It is the directory of the importing file, or one of the plugin's project.
// It is "" if there is none.
func (l *sourceLook) besides(m missing) string {
	if strings.Contains(m.Missing, ".") { // Python found what is above it
		return ""
	}
	var dirs []string
	if m.File != "" {
		dirs = append(dirs, filepath.Dir(m.File))
	}
	for _, dir := range l.Dirs {
		dirs = append(dirs, dir, filepath.Join(dir, "src"))
	}
	// Of a directory without __init__.py, which may be anything, the next part counts.
	top, rest, _ := strings.Cut(m.Module, ".")
	next, _, _ := strings.Cut(rest, ".")
	imported := pysrc.Import{Module: top, Names: []string{next}}
	for _, dir := range dirs {
		if imported.Find(nil, dir) != nil {
			return dir
		}
	}
	return ""
}

// beside returns the directory in which Python finds the plugin's own modules by their
// bare names, or "".
func (l *sourceLook) beside() string { return cmp.Or(l.Place.Behind, l.Place.First) }

// sibling is the module beside the plugin whose name is nearly the missing one; empty if there is none.
func (l *sourceLook) sibling(module string) string {
	var names []string
	if l.beside() != "" {
		entries, _ := bounded.Dir(l.beside()) // none if it cannot be read
		for _, entry := range entries {
			if name, isModule := strings.CutSuffix(entry.Name(), ".py"); isModule {
				names = append(names, name)
			}
		}
	}
	return schema.Suggest(module, names)
}

// generated is the name of the .proto file, without its end, that a module is generated from; empty if
// it is none of protoc's.
func generated(module string) string {
	for part := range strings.SplitSeq(module, ".") {
		if stem, ok := strings.CutSuffix(strings.TrimSuffix(part, "_grpc"), "_pb2"); ok {
			return stem
		}
	}
	return ""
}

// generate says how protoc generates the module of a .proto file, which may be beside the plugin or in a
// directory there.
func (l *sourceLook) generate(stem string) string {
	protoc, root := []string{l.python.Path, "-m", "grpc_tools.protoc"}, l.beside()
	if root != "" {
		found, _ := fs.Glob(os.DirFS(root), "*/"+stem+".proto") // none if the pattern is malformed
		for _, file := range append([]string{stem + ".proto"}, found...) {
			if file = filepath.Join(root, filepath.FromSlash(file)); bounded.Exists(file) {
				return schema.QuoteLine(append(protoc, "-I", filepath.Dir(file), "--python_out="+root, "--grpc_python_out="+root, file))
			}
		}
	}
	return "protoc generates it from its .proto file: use `" + schema.QuoteLine(protoc) + "` of grpcio-tools"
}

// isOwn reports whether a missing module has the name of the plugin's own package or project,
// which nobody is to install.
func (l *sourceLook) isOwn(m missing) bool {
	top := topOf(m.Missing)
	return top == topOf(l.Place.Name) || slices.ContainsFunc(l.Dirs, func(dir string) bool {
		var file struct{ Project struct{ Name string } }
		text, _ := pysrc.Read(filepath.Join(dir, "pyproject.toml"), pysrc.LargestManifest) // empty without one
		return bounded.TOML([]byte(text), &file) == nil && text != "" && pysrc.Canonical(file.Project.Name) == pysrc.Canonical(top)
	})
}

// places formats modules with the file and line that imports them.
func (l *sourceLook) places(all []missing) (places []string) {
	for _, m := range all {
		name := m.Missing
		if m.Dir != "" {
			name = "." + name
		}
		places = append(places, fmt.Sprintf("%s (%s:%d)", name, l.shown(m.File), m.Line))
	}
	return places
}

// alsoLimit is the timeout of the search for other missing modules.
const alsoLimit = 5 * time.Second

// alsoMissing are the packages beside that of m without which the plugin cannot be loaded.
func (l *sourceLook) alsoMissing(m missing) (all []missing) {
	ctx, cancel := context.WithTimeout(context.Background(), alsoLimit)
	defer cancel()
	answer, err := askSource(ctx, *l)
	if err != nil || answer.Altered {
		return nil
	}
	seen := []string{topOf(m.Missing)}
	for _, other := range answer.Missing {
		_, _, isPackage := l.lackOf(other)
		if other.Hard && isPackage && !slices.Contains(seen, topOf(other.Missing)) && len(all) < mostMissing {
			seen, all = append(seen, topOf(other.Missing)), append(all, other)
		}
	}
	return all
}

// readSource reads what the plugin's files say about the packages that it needs. It is needed once
// something is missing.
func (l *sourceLook) readSource() {
	source, canSync := l.opened.SyncSource()
	switch tool := source.Tool(); {
	case canSync && (tool == "uv" || tool == ""):
		l.command = schema.Hintf("%s", schema.EnvLine(l.opened.SyncLine()))
	case tool != "" && !l.python.Source.Named() && interp.LookPath(l.Env, tool) != "":
		l.command = schema.Hintf("%s", source.ToolLine())
	default:
		return
	}
	l.source, l.listed = source.Path, source.Names()
}

// remedy says how to install the packages of missing modules, by a command if possible; zero if it
// is unknown.
func (l *sourceLook) remedy(all []missing) schema.Hint {
	var names, modules []string
	for _, m := range all {
		name, top := distribution(m.Module, l.listed), topOf(m.Missing)
		switch {
		case name != "" && !slices.Contains(names, name):
			names = append(names, name)
		case name == "" && !slices.Contains(modules, top):
			modules = append(modules, top)
		}
	}
	return l.install(names, modules)
}

// install says how to install distributions, and those of modules whose distribution is unknown:
// by the command that makes the plugin's environment, or by uv or pip unless other programs may
// use its Python.
func (l *sourceLook) install(names, modules []string) schema.Hint {
	known := len(modules) == 0
	switch {
	case !l.command.IsZero() && (l.source != "" || l.managed || !known):
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(l.listed, name) })
		return l.remake(names, modules)
	case known && l.managed:
		return schema.Hint{}
	case known && interp.LookPath(l.Env, "uv") != "":
		return schema.Hintf("%s", schema.QuoteLine(append([]string{"uv", "pip", "install", "--python", l.python.Path}, names...)))
	case known:
		return schema.Hintf("%s", schema.QuoteLine(append([]string{l.python.Path, "-m", "pip", "install"}, names...)))
	case l.python.Env != "":
		return schema.Hintf("install %s in %s", packages(names, modules), l.python.Env)
	}
	return schema.Hint{}
}

// remake says how to make the plugin's environment anew with packages that its files must list.
func (l *sourceLook) remake(names, modules []string) schema.Hint {
	line, unnamed := l.command, !l.python.Source.Named() || l.python.AnyOf // a start takes the environment
	what := packages(names, modules)
	how := schema.Hintf("run `%s`", line)
	if !unnamed {
		how = schema.Hintf("%s, then start it without %s", how, l.python.Source)
	}
	switch {
	case what == "" && unnamed:
		return line
	case what == "":
		return how
	case l.source == "":
		return schema.Hintf("list %s in requirements.txt beside the plugin and %s", what, how)
	}
	return schema.Hintf("check that %s lists %s and %s", l.shown(l.source), what, how)
}

// packages names distributions, and those of modules.
func packages(names, modules []string) string {
	if len(modules) > 0 {
		plural := ""
		if len(modules) > 1 {
			plural = "s"
		}
		names = append(slices.Clone(names), "the package"+plural+" of "+joined(modules))
	}
	return joined(names)
}
