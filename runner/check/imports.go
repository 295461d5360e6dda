package check

import (
	"fmt"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// The most findings of one sort, and the most modules in a note.
const (
	mostMissing = 20
	mostUnsure  = 20
)

// imports are the modules that are not there: a failure each if the plugin cannot be
// loaded without it, and one note about all others. The last package that is missing has the fix
// of all of them.
func (l *sourceLook) imports() []hook.Finding {
	var all []hook.Finding
	var installed, unsure []missing
	last := 0
	for _, m := range l.Missing {
		problem, fix, isPackage := l.lackOf(m)
		switch hard := m.Hard && !l.Altered; {
		case hard && len(all) < mostMissing:
			f := hook.Finding{ID: importMissing, Verdict: hook.Failure, Kind: hook.Start, File: m.File, Line: m.Line,
				Message: fmt.Sprintf("%s (imported by %s:%d)", problem, l.shown(m.File), m.Line)}
			if fix != "" {
				f.Fix = []string{fix}
			}
			if isPackage {
				installed, last = append(installed, m), len(all)
			}
			all = append(all, f)
		case hard, !m.Hard && standard(m.Missing):
			// enough, or a branch for another system, or another version of Python
		case len(unsure) < mostUnsure:
			unsure = append(unsure, m)
		}
	}
	if len(installed) > 0 {
		all[last].Fix = []string{"if it is your own module, put it beside the plugin"}
		if remedy := l.remedy(installed); !remedy.IsZero() {
			all[last].Fix = append([]string{hook.Word(remedy)}, all[last].Fix...)
		}
	}
	if len(unsure) > 0 {
		f := hook.Finding{ID: importUnsure, Verdict: hook.Note, File: unsure[0].File, Line: unsure[0].Line,
			Message: "not found for this Python: " + strings.Join(l.places(unsure), ", ")}
		if l.Altered {
			f.Message += "; the plugin changes where Python looks"
		}
		all = append(all, f)
	}
	return all
}
