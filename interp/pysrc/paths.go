package pysrc

import (
	"path"
	"strings"
)

// Paths are the source files that an import may load, with slashes, in the order
// in which Python looks at them: those of the packages above the module, of the
// module, and of the names taken out of it, which may be modules too. Those of an
// absolute import are relative to a directory of the search path; the first
// directory that has the first one or two of them decides. Those of a relative
// import are relative to the directory of the file it stands in.
func (i Import) Paths() []string {
	var all []string
	at := ""
	if i.Level > 0 {
		at = strings.Repeat("../", i.Level-1)
		all = append(all, path.Join(at, "__init__.py"))
	}
	add := func(module string, last bool) {
		all = append(all, path.Join(module, "__init__.py"))
		if last {
			all = append(all, module+".py")
		}
	}
	if i.Module != "" {
		parts := strings.Split(i.Module, ".")
		for n, part := range parts {
			at = path.Join(at, part)
			add(at, n == len(parts)-1)
		}
	}
	for _, name := range i.Names {
		if name != "*" {
			add(path.Join(at, name), true)
		}
	}
	return all
}
