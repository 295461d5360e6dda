package pysrc

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Canonical returns the name of a distribution as PEP 503 compares it.
func Canonical(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune("-_.", c) }), "-")
}

var section, option = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[([^\]]*)\]`) }),
	sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\w.-]+)\s*[=:]\s*(.*)$`) })

// InstallRequires returns the requirements in the text of a setup.cfg: option install_requires of
// section options, as setuptools reads it. It is nil without the option, and if that names a file.
func InstallRequires(text string) (all []string) {
	within, reads := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		switch named, set := section().FindStringSubmatch(line), option().FindStringSubmatch(line); {
		case bare == "", bare[0] == '#', bare[0] == ';':
		case named != nil:
			within, reads = named[1] == "options", false
		case set != nil:
			reads = within && strings.ReplaceAll(strings.ToLower(set[1]), "-", "_") == "install_requires"
			switch {
			case reads && strings.HasPrefix(set[2], "file:"):
				return nil
			case reads:
				all = []string{}
				for requirement := range strings.SplitSeq(set[2], ";") { // a marker needs a line of its own
					if requirement = strings.TrimSpace(requirement); requirement != "" {
						all = append(all, requirement)
					}
				}
			}
		case reads && bare != line:
			all = append(all, bare)
		}
	}
	return all
}

// Include is a file that a requirements file includes.
type Include struct {
	// Path is the file. Text is its text, or "" if it cannot be read.
	Path, Text string
	// Constraint reports that the file only limits versions.
	Constraint bool
}

// mostIncludes bounds how many files [Includes] reads, and mostLines how many lines that name one
// count in each.
const mostIncludes, mostLines = 100, 1000

var include = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(-r|-c|--requirement\b|--constraint\b)[ \t]*=?[ \t]*(\S+)`)
})

// Includes returns the files that a requirements file includes by -r and -c, and those that they
// include, each once. All texts together have at most 4 MiB; the rest is empty.
func Includes(path, text string) (all []Include) {
	seen, left := map[string]bool{path: true}, LargestFile
	var follow func(Include)
	follow = func(in Include) {
		for _, m := range include().FindAllStringSubmatch(in.Text, mostLines) {
			file := m[2]
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(in.Path), file)
			}
			if seen[file] || len(all) == mostIncludes {
				continue
			}
			seen[file] = true
			text, _ := Read(file, left)
			left -= len(text)
			all = append(all, Include{file, text, in.Constraint || strings.TrimLeft(m[1], "-")[0] == 'c'})
			follow(all[len(all)-1])
		}
	}
	follow(Include{Path: path, Text: text})
	return all
}
