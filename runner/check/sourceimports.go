package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// The most findings of one sort, and the most modules in a note.
const (
	mostMissing = 20
	mostUnsure  = 20
)

// missing is a module that is not there, and the import that asks for it.
type missing struct {
	*want
	answer
	hard bool
}

// module is the name by which what is missing is known: of a package that many
// distributions share the part that was asked for.
func (m missing) module() string {
	if slices.Contains(shared, m.Missing) {
		return m.want.module
	}
	return m.Missing
}

// imports are the modules that are not there: a failure each where loading the
// plugin cannot succeed without, and one note about all others.
func (l *sourceLook) imports() []hook.Finding {
	var found []hook.Finding
	var unsure []missing
	for _, m := range l.missing() {
		switch {
		case m.hard && !l.altered && !l.doubted:
			if len(found) < mostMissing {
				found = append(found, l.missingFinding(m))
			}
		case !m.hard && standard(m.Missing):
			// a branch for another system, or another version of Python
		case len(unsure) < mostUnsure:
			unsure = append(unsure, m)
		}
	}
	if len(unsure) > 0 {
		found = append(found, l.unsureFinding(unsure))
	}
	return found
}

// missing are the modules that are not there, each once.
func (l *sourceLook) missing() []missing {
	var all []missing
	at := map[string]int{}
	for _, w := range l.wants {
		a, wrong := l.asked[w.question()]
		if !wrong || !l.certain(w, a) {
			continue
		}
		key := w.dir + ":" + a.Missing
		if i, known := at[key]; known {
			if w.hard && !all[i].hard {
				all[i] = missing{w, a, true}
			}
			continue
		}
		at[key] = len(all)
		all = append(all, missing{w, a, w.hard})
	}
	return all
}

// certain tells whether a module that is in none of the places where Python looks
// cannot be imported either. What a package does at its import is known only of
// the plugin's own: others make modules, or find them, where there are no files.
func (l *sourceLook) certain(w *want, a answer) bool {
	switch {
	case w.dir != "":
		return true
	case a.Parent == "" || a.Parent == "namespace":
		return true
	}
	return strings.HasSuffix(a.Where, ".py") && l.modules.Owns(a.Where)
}

// missingFinding says that a module is not there, and what provides it.
func (l *sourceLook) missingFinding(m missing) hook.Finding {
	by := fmt.Sprintf("(imported by %s:%d)", l.shown(m.file), m.line)
	f := hook.Finding{ID: importMissing, Verdict: hook.Failure, Kind: hook.Start, File: m.file, Line: m.line}
	beside := besides(m)
	switch {
	case m.dir != "":
		f.Message = fmt.Sprintf("there is no module %s in %s %s", m.Missing, l.shown(m.dir), by)
	case m.Parent == "package" || m.Parent == "module":
		f.Message = fmt.Sprintf("there is no module %s: %s has none %s", m.Missing, l.shown(m.Where), by)
	case standard(m.Missing):
		f.Message = fmt.Sprintf("%s is not in the standard library of this Python, %s %s", m.Missing, l.Version, by)
		if name := successors[m.Missing]; name != "" {
			f.Fix = []string{l.install(name)}
		}
	case beside != "":
		f.Message = fmt.Sprintf("%s is not where Python looks for it %s", m.Missing, by)
		f.Fix = []string{"it is in " + beside + ": put that directory on PYTHONPATH, or on sys.path before the import"}
	default:
		f.Message = fmt.Sprintf("%s is not installed for this Python %s", m.module(), by)
		if name := Distribution(m.module()); name != "" {
			f.Fix = []string{l.install(name)}
		}
		f.Fix = append(f.Fix, "or, if it is one of your own, put it beside the plugin")
	}
	return f
}

// unsureFinding is one note about modules that the plugin may do without.
func (l *sourceLook) unsureFinding(all []missing) hook.Finding {
	var places, names []string
	for _, m := range all {
		name := m.Missing
		if m.dir != "" {
			name = "." + name
		}
		places = append(places, fmt.Sprintf("%s (%s:%d)", name, l.shown(m.file), m.line))
		if provider := Distribution(m.module()); m.dir == "" && m.Parent != "package" && m.Parent != "module" && provider != "" &&
			!standard(m.Missing) && besides(m) == "" && !slices.Contains(names, provider) {
			names = append(names, provider)
		}
	}
	f := hook.Finding{ID: importUnsure, Verdict: hook.Note, File: all[0].file, Line: all[0].line,
		Message: "not found for this Python: " + strings.Join(places, ", ")}
	if l.altered {
		f.Message += "; the plugin changes where Python looks"
	}
	if len(names) > 0 {
		f.Fix = []string{"if it needs them: " + l.install(names...)}
	}
	return f
}

// besides is the directory of the importing file when it has the top-level module
// that is missing, empty otherwise.
func besides(m missing) string {
	top, _, _ := strings.Cut(m.Missing, ".")
	dir := filepath.Dir(m.file)
	for _, name := range []string{top + ".py", filepath.Join(top, "__init__.py")} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && m.dir == "" {
			return dir
		}
	}
	return ""
}
