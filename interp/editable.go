package interp

import (
	"path/filepath"
	"strconv"
	"strings"
)

// finders are the places that setuptools' editable installs add. Each has a
// module in dir, __editable___NAME_VERSION_finder.py, that says which package is
// where; a .pth file imports it, which comes and goes with it.
func finders(dir string, names []string) []placeName {
	var found []placeName
	files := ending(names, "__editable__", "_finder.py")
	for _, name := range files[:min(len(files), mostPathFiles)] {
		text := readSmall(filepath.Join(dir, name))
		for _, variable := range [...]string{"MAPPING", "NAMESPACES"} {
			for _, p := range mapping(text, variable) {
				if filepath.IsAbs(p.dir) {
					found = append(found, p)
				}
			}
		}
	}
	return found
}

// mapping reads a dictionary of dotted names and paths, or lists of paths, that a
// finder assigns to a variable in one line, as Python writes it:
//
//	MAPPING: dict[str, str] = {'name': '/path/to/name', 'ns.sub': '/path/to/sub'}
//	NAMESPACES = {'ns': ['/path/to/ns']}
//
// Of a line that ends too early, what comes before counts.
func mapping(text, variable string) []placeName {
	var found []placeName
	name := ""
	_, text, _ = strings.Cut("\n"+text, "\n"+variable)
	text, _, _ = strings.Cut(text, "\n")
	_, text, _ = strings.Cut(text, "=")
	for {
		start := strings.IndexAny(text, `'"`)
		if start < 0 {
			return found
		}
		word, rest, ok := unquote(text[start:])
		if !ok {
			return found
		}
		text = strings.TrimLeft(rest, " ")
		if strings.HasPrefix(text, ":") {
			name = strings.ReplaceAll(word, ".", "/")
		} else if name != "" && word != "" {
			found = append(found, placeName{dir: filepath.Clean(word), name: name})
		}
	}
}

// unquote reads the str literal that text begins with, as Python's repr writes
// it. Go's escapes are the same, but that \xe9 is a character, and no byte.
func unquote(text string) (word, rest string, ok bool) {
	quote := text[0]
	var b strings.Builder
	for text = text[1:]; text != ""; {
		if text[0] == quote {
			return b.String(), text[1:], true
		}
		c, _, tail, err := strconv.UnquoteChar(text, quote)
		if err != nil {
			return "", text, false
		}
		b.WriteRune(c)
		text = tail
	}
	return "", "", false
}
