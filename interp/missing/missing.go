package missing

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/env"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/schema"
)

// maxMissing is the largest number of modules in one hint.
const maxMissing = 20

// Plugin describes a plugin that lacks a module. The zero value is a plugin of an unknown Python.
type Plugin struct {
	Python  interp.Interpreter
	Environ []string
	Place   pysrc.Place
	Project interp.Project
	// Source is the file that lists the plugin's requirements, or the zero value. CanSync reports
	// whether a start would use the environment that the command line Sync makes.
	Source  env.Source
	CanSync bool
	Sync    string
	// Dirs are the directories to which paths in messages are relative.
	Dirs []string
}

// lack is a plugin that lacks modules, with facts about the packages that it needs.
type lack struct {
	Plugin
	source  string      // the file that lists the packages, or ""
	listed  []string    // the distributions that this file lists
	command schema.Hint // the command that makes the plugin's environment, or zero
	managed bool        // pip must not change its Python, because of PEP 668 or because other programs may use it
}

// missing is a module that was not found. name is the part of the dotted name that does not exist.
// full is the longest dotted name in the import. file is the path of the file with the import, or
// "".
type missing struct {
	name, full, file string
	line             int
}

// Hints returns hints that say how to provide a module that the plugin lacks, with a command if
// possible. If the plugin did not start because of it, they also cover all other missing modules.
func (p Plugin) Hints(e *schema.MissingModuleError) []schema.Hint {
	l := p.lack()
	all := []missing{{name: e.Module, full: e.Module, file: string(e.File)}}
	for _, other := range e.Unfound {
		top := topOf(other.Module)
		switch at := slices.IndexFunc(all, func(m missing) bool { return topOf(m.name) == top }); {
		case at < 0 && len(all) < maxMissing:
			m := missing{top, other.Module, string(other.File), other.Line}
			if _, isPackage := l.why(m); isPackage {
				all = append(all, m)
			}
		case at == 0 && all[0].full == top:
			all[0].full = other.Module
		}
	}
	fix, isPackage := l.why(all[0])
	switch {
	case len(fix) > 0:
		return fix
	case !isPackage && strings.Contains(e.Module, "."): // Python found the package, but not this part of it
		return nil
	}
	var hints []schema.Hint
	names := l.names(all)
	for _, skipped := range l.Python.Skipped {
		if skipped.Code == interp.ToolRuns {
			hints = append(hints, skipped.Fix)
		}
	}
	if remedy := l.remedy(all); isPackage && !remedy.IsZero() {
		hints = append(hints, schema.Hintf("%s not installed for this Python: %s", names, remedy))
	}
	return append(hints, schema.Hintf("put your own module next to the plugin, or name the Python that has it with %s", schema.Setting("python")))
}

// names returns the subject of a sentence about missing modules. Each name except the first is
// followed by its place.
func (l *lack) names(all []missing) string {
	names := []string{all[0].name}
	for _, m := range all[1:] {
		names = append(names, fmt.Sprintf("%s (%s:%d)", m.name, schema.Relative(m.file, l.Dirs...), m.line))
	}
	if len(names) == 1 {
		return names[0] + " is"
	}
	return schema.Joined(names) + " are"
}

// why returns the fix for a missing module if it knows why the module is missing. Otherwise
// isPackage reports whether a package that has the module must be installed.
func (l *lack) why(m missing) (fix []schema.Hint, isPackage bool) {
	name, dir, sibling := distribution(m.full, l.listed), l.elsewhere(m), l.sibling(m.full)
	switch stem := generated(m.full); {
	case dir != "":
		return schema.Hints("put %s on PYTHONPATH, or on sys.path before the import: the module is there", dir), false
	case standard(m.name):
		return schema.Hints("name a Python whose standard library has %s with %s; Python %s has none",
			m.name, schema.Setting("python"), l.Python.Version.String()), false
	case sibling != "":
		return schema.Hints("%s.py is next to the plugin; did you mean `import %[1]s`?", sibling), false
	case stem != "":
		return schema.Hints("%s", l.generate(stem)), false
	case name == "" && meant(m.name, l.listed) != "": // somebody may own the misspelled name, too
		return schema.Hints("did you mean `import %s`?", meant(m.name, l.listed)), false
	case !slices.Contains(l.listed, name) && l.isOwn(m): // an index may have somebody else's package with that name
		return nil, false
	}
	return nil, name != "" || !strings.Contains(m.name, ".")
}

// elsewhere returns a directory that contains the missing top-level module but that Python does not
// search. It is the directory of the importing file, or one of the plugin's project. It is "" if no
// such directory exists.
func (l *lack) elsewhere(m missing) string {
	if strings.Contains(m.name, ".") { // Python found the package that contains it
		return ""
	}
	var dirs []string
	if filepath.IsAbs(m.file) {
		dirs = append(dirs, filepath.Dir(m.file))
	}
	for _, dir := range l.Project.Dirs {
		dirs = append(dirs, dir, filepath.Join(dir, "src"))
	}
	// A directory without __init__.py may be anything, so it must also contain the next part.
	top, rest, _ := strings.Cut(m.full, ".")
	next, _, _ := strings.Cut(rest, ".")
	imported := pysrc.Import{Module: top, Names: []string{next}}
	for _, dir := range dirs {
		if imported.Find(nil, dir) != nil {
			return dir
		}
	}
	return ""
}

// own returns the directory in which Python finds the plugin's own modules by their bare names,
// or "".
func (l *lack) own() string {
	place := l.Place
	if place.Behind != "" {
		return place.Behind
	}
	return place.First
}

// sibling returns the module in the plugin's directory whose name is similar to the missing one, or
// "".
func (l *lack) sibling(module string) string {
	var names []string
	if dir := l.own(); dir != "" {
		entries, _ := bounded.Dir(dir) // no entries if it cannot be read
		for _, entry := range entries {
			if name, isModule := strings.CutSuffix(entry.Name(), ".py"); isModule {
				names = append(names, name)
			}
		}
	}
	return schema.Suggest(module, names)
}

// generated returns the stem of the .proto file that a module is generated from. It returns "" if
// protoc does not generate the module.
func generated(module string) string {
	for part := range strings.SplitSeq(module, ".") {
		if stem, ok := strings.CutSuffix(strings.TrimSuffix(part, "_grpc"), "_pb2"); ok {
			return stem
		}
	}
	return ""
}

// generate returns the command with which protoc generates the module of a .proto file. The file
// may be in the plugin's directory or in a subdirectory of it.
func (l *lack) generate(stem string) string {
	protoc, root := []string{l.Python.Path, "-m", "grpc_tools.protoc"}, l.own()
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

// isOwn reports whether a missing module has the name of the plugin's own package or project, which
// must not be installed from an index.
func (l *lack) isOwn(m missing) bool {
	top := topOf(m.name)
	return top == topOf(l.Place.Name) || slices.ContainsFunc(l.Project.Dirs, func(dir string) bool {
		var file struct{ Project struct{ Name string } }
		text, _ := pysrc.Read(filepath.Join(dir, "pyproject.toml"), pysrc.LargestManifest) // empty if there is none
		return bounded.TOML([]byte(text), &file) == nil && text != "" && pysrc.Canonical(file.Project.Name) == pysrc.Canonical(top)
	})
}

// lack collects what the plugin's files say about the packages that it needs.
func (p Plugin) lack() *lack {
	l := &lack{Plugin: p, listed: p.Source.Names()}
	l.managed = interp.FactsOf(p.Python, p.Environ).ExternallyManaged || p.Python.Env == "" && !p.Python.Source.Named()
	switch tool := p.Source.Tool(); {
	case p.CanSync && (p.Source.Path == "" || p.Source.Installable()):
		l.command = schema.Hintf("%s", schema.EnvLine(p.Sync))
	case tool != "" && !p.Python.Source.Named() && interp.LookPath(p.Environ, tool) != "":
		l.command = schema.Hintf("%s", p.Source.ToolLine())
	default:
		return l
	}
	l.source = p.Source.Path
	return l
}

// remedy returns how to install the packages of missing modules, with a command if possible. It
// returns the zero Hint if that is unknown.
func (l *lack) remedy(all []missing) schema.Hint {
	var names, modules []string
	for _, m := range all {
		name, top := distribution(m.full, l.listed), topOf(m.name)
		switch {
		case name != "" && !slices.Contains(names, name):
			names = append(names, name)
		case name == "" && !slices.Contains(modules, top):
			modules = append(modules, top)
		}
	}
	return l.install(names, modules)
}

// install returns how to install distributions. It has the names of those that are known, and the
// modules whose distribution is unknown. It suggests the command that makes the plugin's
// environment. Otherwise it suggests uv or pip, unless other programs may use the plugin's Python.
func (l *lack) install(names, modules []string) schema.Hint {
	known := len(modules) == 0
	switch {
	case !l.command.IsZero() && (l.source != "" || l.managed || !known):
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(l.listed, name) })
		return l.remake(names, modules)
	case known && l.managed:
		return schema.Hint{}
	case known && interp.LookPath(l.Environ, "uv") != "":
		return schema.Hintf("%s", schema.QuoteLine(append([]string{"uv", "pip", "install", "--python", l.Python.Path}, names...)))
	case known:
		return schema.Hintf("%s", schema.QuoteLine(append([]string{l.Python.Path, "-m", "pip", "install"}, names...)))
	case l.Python.Env != "":
		return schema.Hintf("install %s in %s", packages(names, modules), l.Python.Env)
	}
	return schema.Hint{}
}

// remake returns how to complete the plugin's environment with packages that its files must list.
func (l *lack) remake(names, modules []string) schema.Hint {
	line, unnamed := l.command, !l.Python.Source.Named() || l.Python.AnyOf // if unnamed, a start uses the environment
	what := packages(names, modules)
	how := schema.Hintf("run `%s`", line)
	if !unnamed {
		how = schema.Hintf("%s, then start it without %s", how, l.Python.Source)
	}
	switch {
	case what == "" && unnamed:
		return line
	case what == "":
		return how
	case l.source == "":
		return schema.Hintf("list %s in requirements.txt next to the plugin and %s", what, how)
	}
	return schema.Hintf("check that %s lists %s and %s", schema.Relative(l.source, l.Dirs...), what, how)
}

// packages formats the names of distributions and modules.
func packages(names, modules []string) string {
	if len(modules) > 0 {
		plural := ""
		if len(modules) > 1 {
			plural = "s"
		}
		names = append(slices.Clone(names), "the package"+plural+" of "+schema.Joined(modules))
	}
	return schema.Joined(names)
}
