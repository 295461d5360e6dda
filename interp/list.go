package interp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// List lists the Pythons that files tell of, each once, in the order in which [Find] would
// look at them: those of environments, PATH and version managers. It runs none: where no
// file says a version, it is unknown. The error is ctx's.
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
			if _, err := os.Lstat(path); err == nil { // the target of an alias may not be looked at
				source := SourcePath
				if !slices.Contains(f.dirs, dir) {
					source = SourceSystem
				}
				add(f.consider(ctx, path, source))
			}
		}
	}
	for _, m := range managers {
		for _, name := range newestFirst(f.installsOf(m)) {
			if python, broken := envPython(filepath.Join(f.installsOf(m), name)); broken == nil {
				add(f.consider(ctx, python, Source(m.name)))
			}
		}
	}
	for _, path := range f.registered() {
		add(f.consider(ctx, path, SourceRegistry))
	}
	return all, ctx.Err()
}
