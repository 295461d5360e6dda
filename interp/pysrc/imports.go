package pysrc

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// Import is what one import statement asks for; "import a, b" is two.
type Import struct {
	// Module is the dotted name as written, empty in "from . import x".
	Module string
	// Level is the number of dots before it: 0 is an absolute import.
	Level int
	// Names are what a from-import takes out of the module, which may be modules
	// too; "*" is everything. Nil for a plain import.
	Names []string
}

// statement matches an import statement in a line of rendered code, also behind "else:"
// and its like.
var statement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;:])\s*(?:lazy\s+)?(?:import\s+([^;:=]+)|from\s*(\.*)\s*([^\s;.][^\s;]*)?\s+import\b\s*([^;:=]+))`)
})

// importsOf finds the import statements in rendered code, in their order.
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

// imported reads "a.b as c, d" or "(a, b)".
func imported(list string) []string {
	var names []string
	for part := range strings.SplitSeq(strings.Trim(list, "() \t\n"), ",") {
		if words := strings.Fields(part); len(words) == 1 || len(words) == 3 && words[1] == "as" {
			names = append(names, words[0])
		}
	}
	return names
}

// paths are the source files that an import may load, with slashes: those of the
// packages above the module, of the module, and of the names taken out of it. Those
// of an absolute import are relative to a directory of the search path, those of a
// relative one to the directory of the file it stands in.
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
