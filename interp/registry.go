package interp

import "context"

// registration is a Python that the registry of Windows lists (PEP 514).
type registration struct {
	company, tag string
	path         string // of its program; empty if the entry does not say it
}

// registered are the Pythons of the registry. The launcher's own entry is none.
func (f *finder) registered() []string {
	list := f.registry
	if list == nil {
		list = readRegistry
	}
	var paths []string
	for _, r := range list() {
		if r.company != "PyLauncher" && r.path != "" {
			paths = append(paths, r.path)
		}
	}
	return paths
}

// fromRegistry is the first Python of the registry that would do.
func (f *finder) fromRegistry(ctx context.Context) Interpreter {
	for _, path := range f.registered() {
		found, err := f.consider(ctx, path, SourceRegistry)
		switch {
		case err != nil:
			_ = f.skipError(err) // ctx is asked by who looks next
		case f.secondChoice(found, "python") == "":
			return found
		}
	}
	return Interpreter{}
}
