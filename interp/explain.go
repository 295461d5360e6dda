package interp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// Decision says how a Python was chosen.
type Decision struct {
	// Chosen is the zero Interpreter if Err is set. A Python of unknown version can be chosen,
	// too, because only a start can ask for its version.
	Chosen Interpreter
	Err    *Error
	// Before lists the candidates before the chosen one, After those that come later in the
	// order.
	Before, After []Attempt
	// Requires lists the requirements that a Python must satisfy.
	Requires []Requirement
}

// Explain decides as [Find] does, and also looks at the sources after the decision. It only reads
// files. The error is ctx's.
func Explain(ctx context.Context, r Request) (Decision, error) {
	r.Run = nil
	f := newFinder(r)
	f.assume = true
	if err := f.readRequirements(); err != nil {
		e := err.(*Error)
		f.advise(ctx, e)
		return Decision{Err: e, Requires: f.requirements()}, nil
	}
	var d Decision
	before, sources := 0, f.sources()
	for i, look := range sources {
		if d.decided() && i == len(sources)-1 {
			break // sources after PATH do not matter once a Python is chosen
		}
		bounds, wanted := f.bounds, f.wanted
		found, err := look(ctx)
		e, broken := err.(*Error)
		switch {
		case ctx.Err() != nil:
			return Decision{}, ctx.Err()
		case err != nil && !broken:
			return Decision{}, err
		case d.decided() && broken:
			f.tried = append(f.tried, e.Attempt)
		case d.decided() && found.Path != "":
			f.tried = append(f.tried, later(found))
		case broken || found.Path != "":
			d.Chosen, d.Err, d.Requires = found, e, f.requirements()
			before = len(f.tried)
			if broken {
				f.advise(ctx, e)
			}
		}
		for i, attempt := range f.tried {
			f.tried[i].Fix = f.fix(ctx, attempt)
		}
		f.bounds, f.wanted, f.lookup = bounds, wanted, false
	}
	if !d.decided() {
		d.Err, d.Requires, before = f.notFound(), f.requirements(), len(f.tried)
		f.advise(ctx, d.Err)
	}
	d.Before, d.After = slices.Clone(f.tried[:before]), f.tried[before:]
	d.once()
	return d, nil
}

func (f *finder) requirements() (all []Requirement) {
	for _, b := range f.bounds {
		all = append(all, b.Requirement)
	}
	return all
}

func (d Decision) decided() bool { return d.Err != nil || d.Chosen.Path != "" }

// once removes duplicate candidates, such as the chosen environment found through another source.
func (d *Decision) once() {
	path, env := d.Chosen.Path, d.Chosen.Env
	if d.Err != nil {
		path, env = d.Err.Path, d.Err.env
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

// later returns the attempt for a usable Python that comes after the chosen one.
func later(i Interpreter) Attempt {
	return Attempt{Path: i.Path, Source: i.Source, Code: LowerPriority, Reason: "is " + i.Version.String() + ", but another Python takes precedence", env: i.Env}
}

// List returns the Pythons of environments, PATH and version managers, each once, in the order in
// which [Find] looks at them. It runs none. If no file says a version, it is unknown. The error
// is ctx's.
func List(ctx context.Context, r Request) ([]Interpreter, error) {
	r.Run, r.Requires = nil, nil
	f := newFinder(r)
	f.assume = true
	var all []Interpreter
	seen := map[string]bool{}
	add := func(found Interpreter, err error) {
		key := found.Env
		if key == "" {
			key = resolve(found.Path)
		}
		if _, isShim := shimAt(found.Path, key); isShim {
			key = filepath.Dir(found.Path) // all names of a manager start one Python
		}
		if err == nil && found.Path != "" && !seen[key] {
			seen[key] = true
			all = append(all, found)
		}
	}
	for _, look := range []look{f.active, f.owned} {
		add(look(ctx))
	}
	dirs := append(f.pathDirs(), f.systemDirs()...)
	for _, name := range f.names() {
		for _, dir := range dirs {
			path := filepath.Join(dir, exe(name))
			if _, err := os.Lstat(path); err == nil { // a store alias denies access to its target
				source := SourcePath
				if !slices.Contains(f.dirs, dir) {
					source = SourceSystem
				}
				add(f.consider(ctx, path, source))
			}
		}
	}
	for _, m := range managers {
		for _, name := range newestFirst(m.installs(f)) {
			if python, broken := envPython(filepath.Join(m.installs(f), name)); broken == nil {
				add(f.consider(ctx, python, Source(m.name)))
			}
		}
	}
	return all, ctx.Err()
}
