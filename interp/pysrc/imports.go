package pysrc

import (
	"path"
	"strings"
)

// Import is one imported module. "import a, b" has two.
type Import struct {
	// Module is the dotted name in the source. It is empty in "from . import x".
	Module string
	// Level is the number of dots before it. 0 means an absolute import.
	Level int
	// Names are the names that a from-import imports, which may be modules. "*" means all. It is
	// nil for a plain import.
	Names []string
}

// statement matches an import statement in a line of rendered code, also after "else:" or ";".
var statement = Expression(`(?:^|[;:])\s*(?:lazy\s+)?(?:import\s+([^;:=]+)|from\s*(\.*)\s*([^\s;.][^\s;]*)?\s+import\b\s*([^;:=]+))`)

// importsOf returns the imports of rendered code, in order.
func importsOf(code string) []Import {
	var all []Import
	for line := range strings.Lines(code) {
		if !strings.Contains(line, "import") {
			continue
		}
		for _, m := range statement().FindAllStringSubmatch(line, -1) {
			for _, module := range imported(m[1]) {
				all = append(all, Import{Module: module})
			}
			if names := imported(m[4]); names != nil && m[2]+m[3] != "" {
				all = append(all, Import{Module: m[3], Level: len(m[2]), Names: names})
			}
		}
	}
	return all
}

// imported parses "a.b as c, d" or "(a, b)".
func imported(list string) []string {
	var names []string
	for part := range strings.SplitSeq(strings.Trim(list, "() \t\n"), ",") {
		if words := strings.Fields(part); len(words) == 1 || len(words) == 3 && words[1] == "as" {
			names = append(names, words[0])
		}
	}
	return names
}

// paths returns the source files that an import may load, with slashes: those of the packages above
// the module, of the module, and of its imported names. They are relative to a directory of the
// search path for an absolute import, and to the directory of the importing file for a relative
// one.
func (i Import) paths() []string {
	var all []string
	at := ""
	if i.Level > 0 {
		at = strings.Repeat("../", i.Level-1)
		all = append(all, path.Join(at, "__init__.py"))
	}
	if i.Module != "" {
		for part := range strings.SplitSeq(i.Module, ".") {
			at = path.Join(at, part)
			all = append(all, path.Join(at, "__init__.py"))
		}
		all = append(all, at+".py")
	}
	for _, name := range i.Names {
		if name != "*" {
			all = append(all, path.Join(at, name, "__init__.py"), path.Join(at, name)+".py")
		}
	}
	return all
}
