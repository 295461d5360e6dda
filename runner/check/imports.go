package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// The most findings of one sort, and the most modules in a note.
const (
	mostMissing = 20
	mostUnsure  = 20
)

// sibling is the module in the plugin's directory whose name is nearly the missing one; empty if
// there is none.
func (l *sourceLook) sibling(m missing) string {
	if l.beside() == "" {
		return ""
	}
	entries, _ := bounded.Dir(l.beside()) // none if it cannot be read
	var names []string
	for _, entry := range entries {
		if name, isModule := strings.CutSuffix(entry.Name(), ".py"); isModule {
			names = append(names, name)
		}
	}
	return schema.Suggest(m.Module, names)
}

// beside is the directory in which a module of a bare name is the plugin's own; empty for none.
func (l *sourceLook) beside() string { return cmp.Or(l.Place.Behind, l.Place.First) }

// distribution is the name by which a missing module is installed; empty if it is unknown.
func (l *sourceLook) distribution(m missing) string {
	if m.Dir != "" || m.Where != "" {
		return ""
	}
	name := distribution(m.Module, l.declared)
	if !slices.Contains(l.declared, name) && l.isOwn(m) { // somebody else's of that name would be installed
		return ""
	}
	return name
}

// generate says how protoc generates a missing module; empty if it is none of protoc's.
func (l *sourceLook) generate(m missing) string {
	parts := strings.Split(m.Module, ".")
	at := slices.IndexFunc(parts, func(part string) bool { return generated(part) != "" })
	root := l.beside()
	if at < 0 || root == "" {
		return ""
	}
	// Generated modules import each other by the paths of their .proto files below the
	// directory that -I names.
	below, _ := filepath.Rel(root, cmp.Or(m.Dir, root)) // cannot fail: both are absolute
	path := filepath.Join(below, filepath.Join(parts[:at]...), generated(parts[at])+".proto")
	file := filepath.Join(root, path)
	if _, err := os.Stat(file); err != nil {
		found, _ := fs.Glob(os.DirFS(root), "*/"+filepath.ToSlash(path)) // none if the pattern is malformed
		if len(found) == 0 {
			how := "protoc generates it from its .proto file: use `"
			if at > 0 && m.Dir == "" && m.Where == "" { // it may be in a package that is to be installed
				how = "if protoc generates it, use `"
			}
			return how + schema.QuoteLine([]string{l.Python, "-m", "grpc_tools.protoc"}) + "` of grpcio-tools"
		}
		file = filepath.Join(root, filepath.FromSlash(found[0]))
	}
	return schema.QuoteLine([]string{l.Python, "-m", "grpc_tools.protoc", "-I", filepath.Clean(strings.TrimSuffix(file, path)),
		"--python_out=" + root, "--grpc_python_out=" + root, file})
}

// generated is the name of the .proto file, without its end, that a module is generated from;
// empty if it is none of protoc's.
func generated(module string) string {
	stem, ok := strings.CutSuffix(strings.TrimSuffix(module, "_grpc"), "_pb2")
	if !ok {
		return ""
	}
	return stem
}

// imports are the modules that are not there: a failure each if the plugin cannot be
// loaded without it, and one note about all others. The last failure has the fix of all
// that one command provides.
func (l *sourceLook) imports() []hook.Finding {
	var all []hook.Finding
	var unsure, together []missing
	for _, m := range l.Missing {
		if m.Hard && !l.Altered && l.isPackage(m) && len(together) < mostMissing && (len(together) == 0 || l.sameRemedy(together[0], m)) {
			together = append(together, m)
		}
	}
	for _, m := range l.Missing {
		switch {
		case m.Hard && !l.Altered:
			if len(all) < mostMissing {
				all = append(all, l.missingFinding(m, together))
			}
		case !m.Hard && standard(m.Missing):
			// a branch for another system, or another version of Python
		case len(unsure) < mostUnsure:
			unsure = append(unsure, m)
		}
	}
	if len(unsure) > 0 {
		all = append(all, l.unsureFinding(unsure))
	}
	return all
}

// missingFinding says that a module is not there, and what provides it. Of those that one
// command provides together, the last says so.
func (l *sourceLook) missingFinding(m missing, together []missing) hook.Finding {
	by := fmt.Sprintf("(imported by %s:%d)", l.shown(m.File), m.Line)
	f := hook.Finding{ID: importMissing, Verdict: hook.Failure, Kind: hook.Start, File: m.File, Line: m.Line}
	why, remedy := l.lackOf(m)
	if remedy == "" {
		remedy = hook.Word(l.remedy([]missing{m}))
	}
	switch {
	case m.Dir != "":
		f.Message = fmt.Sprintf("there is no module %s in %s %s", m.Missing, l.shown(m.Dir), by)
	case m.Where != "":
		f.Message = fmt.Sprintf("there is no module %s: %s has none %s", m.Missing, l.shown(m.Where), by)
	case why == lacksPath:
		f.Message = fmt.Sprintf("%s is not where Python looks for it %s", m.Missing, by)
	case why == lacksStandard:
		f.Message = fmt.Sprintf("%s is not in the standard library of this Python, %s %s", m.Missing, l.Version, by)
	case why == lacksSpelling:
		f.Message = fmt.Sprintf("there is no module %s %s", m.Missing, by)
	case why == lacksOwn:
		f.Message = fmt.Sprintf("there is no module %s in the plugin's project %s", m.Missing, by)
	default:
		f.Message = fmt.Sprintf("%s is not installed for this Python %s", m.Missing, by)
		f.Fix = []string{"if it is your own module, put it beside the plugin"}
		if at := slices.Index(together, m); at >= 0 && len(together) > 1 {
			if f.Fix = nil; at < len(together)-1 {
				return f
			}
			remedy, f.Fix = hook.Word(l.remedy(together)), []string{"if one is your own module, put it beside the plugin"}
		}
	}
	if remedy != "" {
		f.Fix = append([]string{remedy}, f.Fix...)
	}
	return f
}

// unsureFinding is one note about modules that the plugin may do without.
func (l *sourceLook) unsureFinding(all []missing) hook.Finding {
	f := hook.Finding{ID: importUnsure, Verdict: hook.Note, File: all[0].File, Line: all[0].Line,
		Message: "not found for this Python: " + strings.Join(l.places(all), ", ")}
	if l.Altered {
		f.Message += "; the plugin changes where Python looks"
	}
	installed := slices.DeleteFunc(slices.Clone(all), func(m missing) bool { return !l.isPackage(m) })
	if names := l.distributions(installed); len(names) > 0 {
		f.Fix = []string{"if it needs them: " + hook.Word(l.install(names...))}
	}
	return f
}
