package ui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
)

// pythonName returns the implementation, its version and its variant for people.
func pythonName(p *interp.Facts) string {
	name := map[string]string{"cpython": "CPython", "pypy": "PyPy"}[p.Implementation]
	version := " of unknown version"
	if p.Version.Known() {
		version = " " + p.Version.String()
	}
	return cmp.Or(name, p.Implementation, "Python") + version + p.Variant
}

// candidate is one step of the search for a Python.
type candidate struct {
	Status string      `json:"status"` // "chosen", "rejected", "followed" (a shim), or "later" (after the chosen one)
	Source string      `json:"source"`
	Path   schema.Path `json:"path,omitempty"`
	Code   string      `json:"code,omitempty"`   // the reason as a stable word
	Reason string      `json:"reason,omitempty"` // the same in words
	Fix    string      `json:"fix,omitempty"`
}

// statuses maps codes to statuses of candidates. All other candidates were rejected.
var statuses = map[interp.Code]string{"": "chosen", interp.LowerPriority: "later", interp.Shim: "followed"}

// why says how a Python was chosen.
type why struct {
	Plugin      schema.Path          `json:"plugin,omitempty"`
	Requires    []interp.Requirement `json:"requires"`
	Python      *interp.Facts        `json:"python,omitempty"` // nil if none was chosen
	Candidates  []candidate          `json:"candidates"`       // in the order of the search
	Environment []interp.Variable    `json:"environment"`
}

// Why prints how a Python was chosen on standard output: a short tree, or {"schema", "plugin",
// "requires", "python", "candidates", "environment"}. python is the chosen Python, or nil.
func (s *Streams) Why(plugin string, d plan.Decision, python *interp.Facts, asJSON bool) error {
	w := why{
		Plugin: schema.Path(plugin), Requires: d.Requires, Python: python,
		Candidates: []candidate{}, Environment: append([]interp.Variable{}, d.Variables...),
	}
	attempts := d.Before
	switch {
	case python != nil:
		attempts = append(attempts, interp.Attempt{Path: d.Chosen.Path, Source: d.Chosen.Source})
	case d.Broken.Source != "":
		attempts = append(attempts, *d.Broken)
	}
	for _, a := range append(attempts, d.After...) {
		status := cmp.Or(statuses[a.Code], "rejected")
		shown := candidate{status, string(a.Source), schema.Path(a.Path), string(a.Code), a.Reason, hook.Word(a.Fix)}
		w.Candidates = append(w.Candidates, shown)
	}
	if asJSON {
		return s.writeJSON(w)
	}
	return s.Print(w.text(width(s.Out, s.OutTTY)))
}

// text returns the decision for people, in lines of at most width cells, or of any length if width
// is 0.
func (w why) text(width int) string {
	var b strings.Builder
	head := string(cmp.Or(w.Plugin, "no plugin"))
	if w.Python != nil {
		head += ": " + string(w.Python.Path)
	}
	fmt.Fprintln(&b, Paint(Bold, pathLine(head)))
	for i, c := range w.Candidates {
		fork, stem := "├─ ", "│  "
		if i == len(w.Candidates)-1 {
			fork, stem = "└─ ", "   "
		}
		fmt.Fprintln(&b, fork+c.title())
		for _, line := range w.about(c) {
			fmt.Fprintln(&b, stem+"  "+folded(pathLine(line), stem+"  ", 5, width))
		}
	}
	if len(w.Requires) > 0 {
		fmt.Fprintln(&b, "requires "+pathLine(interp.JoinRequirements(w.Requires)))
	}
	for _, v := range w.Environment {
		value := ""
		if v.Value != "" {
			value = "=" + string(v.Value)
		}
		fmt.Fprintln(&b, pathLine(v.Name+value+" "+v.Effect))
	}
	return b.String()
}

// statusMarks maps statuses to marks.
var statusMarks = map[string]string{"chosen": "✓ ", "rejected": "✗ ", "followed": "→ ", "later": "· "}

// title returns the first line of a candidate, with the mark of its status.
func (c candidate) title() string {
	text := statusMarks[c.Status] + pathLine(c.Source+"  "+string(c.Path))
	if c.Status == "chosen" {
		return Paint(Green, text)
	}
	return text
}

// about returns the other lines of a candidate.
func (w why) about(c candidate) []string {
	var lines []string
	if c.Status == "chosen" {
		p := w.Python
		kind := p.Kind
		if p.Kind == "managed" {
			kind = p.Manager
		}
		lines = append(lines, pythonName(p)+", "+kind)
		if !p.Version.Known() {
			lines = append(lines, "the version is unknown until it is started")
		}
		if p.Base != p.Prefix {
			lines = append(lines, "made from the Python in "+string(p.Base))
		}
		for _, dir := range p.Packages {
			lines = append(lines, "packages "+string(dir))
		}
		return append(lines, p.Notes...)
	}
	if c.Reason != "" {
		lines = append(lines, c.Reason)
	}
	if c.Fix != "" {
		lines = append(lines, "fix: "+c.Fix)
	}
	return lines
}

// Pythons lists Pythons on standard output: a table, or {"schema", "pythons"}.
func (s *Streams) Pythons(all []interp.Facts, asJSON bool) error {
	if asJSON {
		return s.writeJSON(map[string][]interp.Facts{"pythons": all})
	}
	if len(all) == 0 {
		return nil
	}
	rows := [][]string{{"VERSION", "PYTHON", "KIND", "MANAGER", "PATH"}}
	for _, p := range all {
		rows = append(rows, []string{p.Version.String() + p.Variant, cmp.Or(p.Implementation, "unknown"), p.Kind, p.Manager, pathLine(string(p.Path))})
	}
	return s.Print(strings.Join(table(rows), "\n") + "\n")
}

// Python prints the path of a Python on standard output, unchanged for scripts, or {"schema",
// "python"}.
func (s *Streams) Python(p interp.Facts, asJSON bool) error {
	if asJSON {
		return s.writeJSON(map[string]interp.Facts{"python": p})
	}
	return s.printPath(p.Path)
}

// printPath prints a path byte for byte, but harmless on a terminal.
func (s *Streams) printPath(path schema.Path) error {
	if s.OutTTY {
		return s.Print(string(path) + "\n")
	}
	return s.writeOut([]byte(path), []byte("\n"))
}

// Synced is the environment that sync made, or would make.
type Synced struct {
	Dir          schema.Path `json:"dir"`
	Python       schema.Path `json:"python"`
	Kind         string      `json:"kind"`   // the kind of the source: the file's name, or PEP 723
	Source       schema.Path `json:"source"` // the file with the requirements
	Requirements []string    `json:"requirements,omitempty"`
	Installer    string      `json:"installer"`
	Made         bool        `json:"made"` // false if the environment existed before
	DryRun       bool        `json:"dry_run,omitempty"`
}

// Synced prints the directory of an environment, or the whole description as JSON.
func (s *Streams) Synced(e Synced, asJSON bool) error {
	if asJSON {
		return s.writeJSON(map[string]Synced{"environment": e})
	}
	return s.printPath(e.Dir)
}
