package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/schema"
)

// MissingHints say how to provide a module that a plugin lacks, by a command if possible.
// If that kept the plugin from starting, the same hint is about all others that it lacks.
func MissingHints(o *runner.Opened, module string, start bool) []schema.Hint {
	l := lookOf(o)
	_, python, _ := o.Source()
	l.readWays()
	l.Pip = !python.Version.Known() || slices.ContainsFunc(python.SearchPath(l.Env), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "pip"))
		return err == nil
	})
	m := missing{Module: module, Missing: module}
	switch why, fix := l.lackOf(m); {
	case fix != "":
		return schema.Hints("%s", fix)
	case why == lacksOwn && !strings.Contains(module, "."):
		return schema.Hints("%s is the name of the plugin's own package or project, which has no such module where Python looks", module)
	}
	var hints []schema.Hint
	var others []missing
	if start {
		others = l.alsoMissing(module)
	}
	var outdated bool
	for _, skipped := range python.Skipped {
		if skipped.Source == interp.SourceSync {
			hints, outdated = append(hints, schema.Hintf("the environment that pyplug made %s: %s", skipped.Reason, l.sync("", true))), true
		}
		if skipped.Code == interp.ToolRuns {
			hints = append(hints, skipped.Fix)
		}
	}
	if remedy := l.remedy(append([]missing{m}, others...)); !remedy.IsZero() {
		if !outdated || l.generate(m) != "" {
			hints = append(hints, schema.Hintf("%s: %s", l.notInstalled(m, others), remedy))
		}
		last := "or name the Python that has it with %s"
		if l.distribution(m) == "" && l.generate(m) == "" {
			last = "if it is your own module, put it beside the plugin; " + last
		}
		return append(hints, schema.Hintf(last, schema.Setting("python")))
	}
	if !strings.Contains(module, ".") { // else Python found the package, and not this part of it
		return append(hints, schema.Hintf("name the Python that has %s with %s", l.named(m, others), schema.Setting("python")))
	}
	if len(others) > 0 {
		hints = append(hints, schema.Hintf("also missing: %s", joined(l.places(others))))
	}
	return hints
}

// named lists the module of an error, whose place the error has, and others with their places.
func (l *sourceLook) named(m missing, others []missing) string {
	return joined(append([]string{m.Missing}, l.places(others)...))
}

// notInstalled says which modules are missing, and which of them the remedy provides if that is
// not all of them.
func (l *sourceLook) notInstalled(m missing, others []missing) string {
	if len(others) == 0 {
		return m.Missing + " is not installed for this Python"
	}
	text := l.named(m, others) + " are not installed for this Python"
	provided := []string{m.Missing}
	for _, other := range others {
		if l.sameRemedy(m, other) {
			provided = append(provided, other.Missing)
		}
	}
	if len(provided) <= len(others) {
		text += "; for " + joined(provided)
	}
	return text
}

// sameRemedy reports whether what provides a module provides another one, too.
func (l *sourceLook) sameRemedy(m, other missing) bool {
	known := l.distribution(m) != ""
	return known && l.distribution(other) != "" || l.generate(m) == "" && (!known || l.source != "")
}

// places are modules with the places that import them.
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

// distributions are those that provide modules, as far as they are known.
func (l *sourceLook) distributions(all []missing) (names []string) {
	for _, m := range all {
		if name := l.distribution(m); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// foreign are the modules that the plugin imports, apart from its own and the standard
// library's.
func (l *sourceLook) foreign() (all []pysrc.Import) {
	for _, script := range l.Scripts {
		_, others := pysrc.Own(script, l.Place.Dirs(), pysrc.Short)
		all = append(all, slices.DeleteFunc(others, func(i pysrc.Import) bool { return standard(i.Module) })...)
	}
	return all
}

// alsoLimit bounds how long it may take to look for what else is missing.
const alsoLimit = 5 * time.Second

// alsoMissing are the other modules without which the plugin cannot be loaded. Its Python is
// asked only if the plugin imports anything else that is not in the standard library.
func (l *sourceLook) alsoMissing(module string) (all []missing) {
	top, _, _ := strings.Cut(module, ".")
	isOther := func(i pysrc.Import) bool {
		other, _, _ := strings.Cut(i.Module, ".")
		return other != top
	}
	if !slices.ContainsFunc(l.foreign(), isOther) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), alsoLimit)
	defer cancel()
	answer, err := askSource(ctx, *l)
	if err != nil || answer.Altered {
		return nil
	}
	seen := []string{top}
	for _, m := range answer.Missing {
		other, _, _ := strings.Cut(m.Missing, ".")
		if m.Hard && !slices.Contains(seen, other) && l.isPackage(m) && len(all) < mostMissing {
			seen, all = append(seen, other), append(all, m)
		}
	}
	return all
}
