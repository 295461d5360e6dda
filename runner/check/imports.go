package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// mostMissing is how many modules are reported, as failures and in the note.
const mostMissing = 20

// imports are the modules that are not there: a failure each if the plugin cannot be
// loaded without it, and one note about all others.
func (l *sourceLook) imports() []hook.Finding {
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

// missingFinding says that a module is not there, and what provides it.
func (l *sourceLook) missingFinding(m missing) hook.Finding {
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

// unsureFinding is one note about modules that the plugin may do without.
func (l *sourceLook) unsureFinding(all []missing) hook.Finding {
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

// besides is the directory of the importing file if it has the top-level module that is
// missing, empty otherwise.
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
