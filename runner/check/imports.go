package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// mostMissing is how many modules are reported, as failures and in the note.
const mostMissing = 20

// imports returns the findings for missing modules: a failure for each module that the
// plugin needs, and one note for all others.
func (l *lookup) imports() []hook.Finding {
	var all []hook.Finding
	var unsure []missing
	for _, m := range l.Missing {
		switch {
		case m.Hard && !l.Altered:
			if len(all) < mostMissing {
				all = append(all, l.missingFinding(m))
			}
		case !m.Hard && standard(m.Missing):
			// a branch for another system, or another version of Python
		case len(unsure) < mostMissing:
			unsure = append(unsure, m)
		}
	}
	if len(unsure) > 0 {
		all = append(all, l.unsureFinding(unsure))
	}
	return all
}

// missingFinding returns the failure for a missing module, with what provides it.
func (l *lookup) missingFinding(m missing) hook.Finding {
	by := fmt.Sprintf("(imported by %s:%d)", l.shown(m.File), m.Line)
	f := hook.Finding{ID: importMissing, Verdict: hook.Failure, Kind: hook.Start, File: m.File, Line: m.Line}
	remedy, beside, sibling := l.remedy(m), besides(m), l.sibling(m)
	switch {
	case m.Dir != "":
		f.Message = fmt.Sprintf("there is no module %s in %s %s", m.Missing, l.shown(m.Dir), by)
	case m.Where != "":
		f.Message = fmt.Sprintf("there is no module %s: %s has none %s", m.Missing, l.shown(m.Where), by)
	case standard(m.Missing):
		f.Message = fmt.Sprintf("%s is not in the standard library of this Python, %s %s", m.Missing, l.Version, by)
	case beside != "":
		f.Message = fmt.Sprintf("%s is not where Python looks for it %s", m.Missing, by)
		remedy = "it is in " + beside + ": put that directory on PYTHONPATH, or on sys.path before the import"
	case sibling != "":
		f.Message = fmt.Sprintf("there is no module %s %s", m.Missing, by)
		remedy = sibling
	default:
		f.Message = fmt.Sprintf("%s is not installed for this Python %s", m.Missing, by)
		f.Fix = []string{"if it is your own module, put it beside the plugin"}
	}
	if remedy != "" {
		f.Fix = append([]string{remedy}, f.Fix...)
	}
	return f
}

// unsureFinding returns the note for modules that the plugin may not need.
func (l *lookup) unsureFinding(all []missing) hook.Finding {
	var places, names []string
	for _, m := range all {
		name := m.Missing
		if m.Dir != "" {
			name = "." + name
		}
		places = append(places, fmt.Sprintf("%s (%s:%d)", name, l.shown(m.File), m.Line))
		if name := l.distribution(m); name != "" && !standard(m.Missing) && besides(m) == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	f := hook.Finding{ID: importUnsure, Verdict: hook.Note, File: all[0].File, Line: all[0].Line,
		Message: "not found for this Python: " + strings.Join(places, ", ")}
	if l.Altered {
		f.Message += "; the plugin changes where Python looks"
	}
	if how := l.install(names...); len(names) > 0 && how != "" {
		f.Fix = []string{"if it needs them: " + how}
	}
	return f
}

// besides returns the directory of the importing file if it contains the missing top-level
// module, else "".
func besides(m missing) string {
	top, _, _ := strings.Cut(m.Missing, ".")
	dir := filepath.Dir(m.File)
	for _, name := range []string{top + ".py", filepath.Join(top, "__init__.py")} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && m.Dir == "" {
			return dir
		}
	}
	return ""
}

// MissingHints returns hints at how to provide a module that a plugin lacks.
func MissingHints(o *runner.Opened, module string) []string {
	l := newLookup(o)
	l.listed = declaredBy(l.source)
	m := missing{Module: module, Missing: module}
	if meant := l.sibling(m); meant != "" {
		return []string{meant}
	}
	const named = "name the Python that has it with --python"
	var hints []string
	for _, skipped := range l.python.Skipped {
		switch {
		case skipped.Source == interp.SourceSync && l.generate(m) == "":
			return []string{"the environment that pyplug made " + skipped.Reason + ": " + l.line, "or " + named}
		case skipped.Code == interp.ToolRuns:
			hints = append(hints, skipped.Fix)
		}
	}
	remedy := l.remedy(m)
	if remedy != "" {
		hints = append(hints, module+" is not installed for this Python: "+remedy)
	}
	switch {
	case remedy != "" && l.distribution(m) == "" && l.generate(m) == "":
		return append(hints, "if it is your own module, put it beside the plugin; or "+named)
	case remedy != "":
		return append(hints, "or "+named)
	case strings.Contains(module, "."): // Python found the package, but not this part of it
		return hints
	}
	return append(hints, "name the Python that has "+module+" with --python")
}

// remedy returns how to provide a missing module, as a command if possible, or "".
func (l *lookup) remedy(m missing) string {
	name, generate := l.distribution(m), l.generate(m)
	switch {
	case name != "":
		return l.install(name)
	case generate != "":
		return generate
	case m.Dir != "" || m.Where != "" || standard(m.Module) || strings.Contains(m.Missing, "."):
		return ""
	case l.line != "":
		return l.list("its package")
	case l.python.Env != "":
		return "install its package in " + l.python.Env
	}
	return ""
}

// toolSync makes the environment that a tool keeps for a project from the tool's lock file.
var toolSync = map[string]string{"uv.lock": "uv sync --project ", "poetry.lock": "poetry install --directory ", "pdm.lock": "pdm install --project "}

// keeps reports whether the tool of a lock file keeps the environment of the plugin's Python.
func (l *lookup) keeps(kind, lock string) bool {
	tool, _, _ := strings.Cut(kind, ".")
	its := l.python.Source == interp.Source(tool+"'s environment of the project") || interp.SamePath(l.python.Env, filepath.Join(filepath.Dir(lock), ".venv"))
	return toolSync[kind] != "" && its && !l.python.Source.Named() && interp.LookPath(l.Env, tool) != ""
}

// readWays finds the file that lists what the plugin needs, and the command that installs it.
func (l *lookup) readWays(o *runner.Opened) {
	var ok bool
	l.kind, l.source, ok = o.SyncSource()
	switch {
	case ok:
		l.line = o.SyncLine()
	case l.keeps(l.kind, l.source):
		l.line = toolSync[l.kind] + schema.QuoteLine([]string{filepath.Dir(l.source)})
	}
}

// install returns how to install packages: by the command that installs what the plugin's
// files list, else by pip or uv in the environment of its Python. It returns "" if neither
// helps. A Python outside of environments belongs to other programs, too.
func (l *lookup) install(names ...string) string {
	unlisted := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(l.listed, name) })
	hasPip := slices.ContainsFunc(l.python.SearchPath(l.Env), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "pip"))
		return err == nil
	})
	words := []string{l.Python, "-m", "pip", "install"}
	switch {
	case l.line != "" && len(unlisted) == 0 && l.python.Source == interp.SourceSync: // there is nothing to sync
		return ""
	case l.line != "":
		return l.list(unlisted...)
	case l.python.Env == "":
		return ""
	case !hasPip:
		words = []string{"uv", "pip", "install", "--python", l.Python}
	}
	return schema.QuoteLine(append(words, names...))
}

// list returns where to list packages, and which command then installs them.
func (l *lookup) list(packages ...string) string {
	unnamed := !l.python.Source.Named() || l.python.AnyOf // a start takes the environment that the command makes
	if len(packages) == 0 && unnamed {
		return l.line
	}
	how := "run `" + l.line + "`"
	if !unnamed {
		how += ", then start it without " + string(l.python.Source)
	}
	if len(packages) == 0 {
		return how
	}
	what, where := joined(packages), l.shown(l.source)
	tool, isLock := strings.CutSuffix(l.kind, ".lock")
	switch {
	case l.kind == "":
		return "list " + what + " in requirements.txt beside the plugin and " + how
	case l.kind == "PEP 723":
		return "list " + what + " in the PEP 723 block of " + where + " and " + how
	case l.kind == "PEP 723 lock":
		return "add " + what + " to " + strings.TrimSuffix(where, ".lock") + " with `uv add --script` and " + how
	case isLock:
		return "add " + what + " to " + where + " with `" + tool + " add` and " + how
	}
	return "list " + what + " in " + where + " and " + how
}

// distribution returns the name of the package that has a missing module, or "".
func (l *lookup) distribution(m missing) string {
	if m.Dir != "" || m.Where != "" {
		return ""
	}
	return distribution(m.Module, l.listed)
}

// sibling returns a hint at a module in the plugin's directory with a similar name, or "".
func (l *lookup) sibling(m missing) string {
	if l.Root == "" || m.Dir != "" || m.Where != "" {
		return ""
	}
	entries, _ := bounded.Dir(l.Root) // none if it cannot be read
	var names []string
	for _, entry := range entries {
		if name, isModule := strings.CutSuffix(entry.Name(), ".py"); isModule {
			names = append(names, name)
		}
	}
	meant := schema.Suggest(m.Module, names)
	if meant == "" {
		return ""
	}
	return meant + ".py is beside the plugin; did you mean `import " + meant + "`?"
}

// generate returns how protoc generates a missing module. It returns "" for other modules.
func (l *lookup) generate(m missing) string {
	parts := strings.Split(m.Module, ".")
	at := slices.IndexFunc(parts, func(part string) bool { return generated(part) != "" })
	if at < 0 || l.Root == "" {
		return ""
	}
	// Generated modules import each other by the paths of their .proto files below the
	// directory that -I names.
	below, _ := filepath.Rel(l.Root, cmp.Or(m.Dir, l.Root)) // cannot fail: both are absolute
	path := filepath.Join(below, filepath.Join(parts[:at]...), generated(parts[at])+".proto")
	file := filepath.Join(l.Root, path)
	if _, err := os.Stat(file); err != nil {
		found, _ := fs.Glob(os.DirFS(l.Root), "*/"+filepath.ToSlash(path)) // none if the pattern is malformed
		if len(found) == 0 {
			return "if protoc generates it, use `" + schema.QuoteLine([]string{l.Python, "-m", "grpc_tools.protoc"}) + "` of grpcio-tools"
		}
		file = filepath.Join(l.Root, filepath.FromSlash(found[0]))
	}
	return schema.QuoteLine([]string{l.Python, "-m", "grpc_tools.protoc", "-I", filepath.Clean(strings.TrimSuffix(file, path)),
		"--python_out=" + l.Root, "--grpc_python_out=" + l.Root, file})
}

// generated returns the name of the .proto file that a module is generated from, without its
// extension. It returns "" if protoc does not generate the module.
func generated(module string) string {
	stem, ok := strings.CutSuffix(strings.TrimSuffix(module, "_grpc"), "_pb2")
	if !ok {
		return ""
	}
	return stem
}
