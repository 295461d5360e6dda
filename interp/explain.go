package interp

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/pyplug/pyplug/interp/bounded"
)

// Decision says how a Python was chosen.
type Decision struct {
	// Chosen is the zero Interpreter if Broken is set. It may be a Python of unknown version,
	// because Explain does not run it to ask.
	Chosen Interpreter
	// Broken is the attempt that ended the search: a Python that cannot be used, or the report that
	// none was found. It is nil if Chosen is set.
	Broken *Attempt
	// Before lists the candidates before the chosen one, and After the candidates after it.
	Before, After []Attempt
	// Requires lists the requirements that a Python must satisfy.
	Requires []Requirement
}

// Explain decides as [Find] does, and also looks at the sources after the decision. It only reads
// files. It returns an error only if ctx ends.
func Explain(ctx context.Context, r Request) (Decision, error) {
	f := newFinder(r)
	f.assume = true
	var d Decision
	var later []look
	d.Chosen, later, d.Broken = f.find(ctx)
	d.Requires = f.requirements()
	if d.Broken != nil {
		d.Broken.Fix = f.fix(*d.Broken)
	}
	d.Before = f.fixed()
	for _, look := range later[:max(0, len(later)-1)] { // omit the last source, installed Pythons, which rarely matters
		// Reset the state that the previous source changed.
		f.bounds, f.wanted, f.lookup, f.tried = f.bounds[:1+len(f.Requires)], request{}, false, nil
		found, broken := look()
		if broken != nil {
			f.skipBroken(broken)
		} else if found.Path != "" {
			why := "is " + found.Version.String() + ", but another Python takes precedence"
			f.skip(LowerPriority, found.Path, found.Source, why).env = found.Env
		}
		d.After = append(d.After, f.fixed()...)
	}
	d.once()
	return d, ctx.Err()
}

// Err returns why no Python was chosen, or nil. The error does not repeat the lists of the
// decision.
func (d *Decision) Err() error {
	if d.Broken == nil {
		return nil
	}
	return d.Broken.failure()
}

// fixed returns the attempts of the search, each with its fix.
func (f *finder) fixed() []Attempt {
	for i, attempt := range f.tried {
		f.tried[i].Fix = f.fix(attempt)
	}
	return f.tried
}

func (f *finder) requirements() (all []Requirement) {
	for _, b := range f.bounds {
		all = append(all, b.Requirement)
	}
	return all
}

// once removes duplicate candidates, such as the chosen environment found through another source.
func (d *Decision) once() {
	path, env := d.Chosen.Path, d.Chosen.Env
	if d.Broken != nil {
		path, env = d.Broken.Path, d.Broken.env
	}
	seen := map[string]bool{path: true}
	listed := func(a Attempt) bool {
		again := seen[a.Path] || a.env != "" && SamePath(a.env, env)
		seen[a.Path] = true
		return again
	}
	d.Before = slices.DeleteFunc(d.Before, listed)
	d.After = slices.DeleteFunc(d.After, listed)
}

// List returns the Pythons of environments, PATH and version managers, each once, in the order in
// which [Find] looks at them. It runs none. If no file says a version, it is unknown. It returns an
// error only if ctx ends.
func List(ctx context.Context, r Request) ([]Interpreter, error) {
	r.Requires = nil
	f := newFinder(r)
	f.assume = true
	var all []Interpreter
	seen := map[string]bool{}
	add := func(found Interpreter, broken *Attempt) {
		key := found.Env
		if key == "" {
			key = bounded.Real(found.Path)
		}
		if _, isShim := shimAt(found.Path, key); isShim {
			key = filepath.Dir(found.Path) // all names in a manager's directory start the same Python
		}
		if broken == nil && found.Path != "" && !seen[key] {
			seen[key] = true
			all = append(all, found)
		}
	}
	add(f.active())
	add(f.owned())
	for path := range programs(f.names(), slices.Concat(f.pathDirs(), f.systemDirs())) {
		source := SourcePath
		if !slices.Contains(f.dirs, filepath.Dir(path)) {
			source = SourceSystem
		}
		add(f.consider(path, source))
	}
	for _, m := range managers {
		for _, name := range newestFirst(m.installs(f)) {
			if python, broken := envPython(filepath.Join(m.installs(f), name)); broken == nil {
				add(f.consider(python, Source(m.name)))
			}
		}
	}
	return all, ctx.Err()
}
