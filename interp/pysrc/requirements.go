package pysrc

import (
	"path/filepath"
	"strings"
)

// Canonical returns the name of a distribution as PEP 503 compares it.
func Canonical(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune("-_.", c) }), "-")
}

var (
	options         = Expression(`(?ms)^\[options\]\s*$(.*?)(?:^\[|\z)`)
	installRequires = Expression(`(?m)^install[_-]requires[ \t]*[=:][ \t]*(.*(?:\n(?:[ \t\r].*)?)*)`)
)

// InstallRequires returns the requirements in the text of a setup.cfg: option install_requires of
// section options, as setuptools reads it. The result is nil if the option is missing or names a
// file.
func InstallRequires(text string) []string {
	section := options().FindStringSubmatch(text)
	if section == nil {
		return nil
	}
	value := installRequires().FindStringSubmatch(section[1])
	if value == nil || strings.HasPrefix(value[1], "file:") {
		return nil
	}
	lines := strings.Split(strings.TrimRight(value[1], " \t\r\n"), "\n")
	if len(lines) == 1 {
		lines = strings.Split(lines[0], ";") // a marker needs a line of its own
	}
	all := []string{}
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
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

// mostIncludes is the most files that [Includes] reads. mostLines is the most lines of one file
// that it follows.
const mostIncludes, mostLines = 100, 1000

var include = Expression(`(?m)^[ \t]*(-r|-c|--requirement\b|--constraint\b)[ \t]*=?[ \t]*(\S+)`)

// Includes returns the files that a requirements file includes by -r and -c, and those that they
// include, each once. It reads at most 4 MiB in total. Files beyond that have an empty text.
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
