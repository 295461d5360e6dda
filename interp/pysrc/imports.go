package pysrc

import (
	"path"
	"strings"
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

// importsOf finds the import statements in rendered code, in their order.
func importsOf(code string) []Import {
	var all []Import
	for line := range strings.Lines(code) {
		if !strings.Contains(line, "import") {
			continue
		}
		for statement := range strings.SplitSeq(line, ";") {
			statement = statement[strings.LastIndexByte(statement, ':')+1:] // behind "else:" and its like
			word, rest := cutWord(statement)
			if word == "lazy" {
				word, rest = cutWord(rest)
			}
			switch word {
			case "import":
				for _, module := range imported(rest) {
					all = append(all, Import{Module: module})
				}
			case "from":
				if module, names, ok := strings.Cut(rest, " import"); ok {
					i := Import{Module: strings.TrimLeft(module, "."), Names: imported(names)}
					i.Level = len(module) - len(i.Module)
					if i.Module = strings.TrimSpace(i.Module); len(i.Names) > 0 && module != "" && !strings.ContainsAny(i.Module, " \t") {
						all = append(all, i)
					}
				}
			}
		}
	}
	return all
}

// cutWord returns the first word of text, and what follows without spaces around it.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}

// imported reads "a.b as c, d" or "(a, b)". Nil means that something else stands there.
func imported(list string) []string {
	var names []string
	list = strings.Trim(list, "() \t\n")
	for part := range strings.SplitSeq(list, ",") {
		name, as := cutWord(part)
		word, alias := cutWord(as)
		switch {
		case name == "" && len(names) > 0: // a trailing comma
		case name == "" || as != "" && (word != "as" || alias == "" || strings.ContainsAny(alias, " \t")):
			return nil
		default:
			names = append(names, name)
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
