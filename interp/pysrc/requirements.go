package pysrc

import (
	"path/filepath"
	"strings"
)

// Canonical returns the normalized name of a distribution (PEP 503).
func Canonical(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune("-_.", c) }), "-")
}

var (
	options         = Expression(`(?ms)^\[options\]\s*$(.*?)(?:^\[|\z)`)
	installRequires = Expression(`(?m)^install[_-]requires[ \t]*[=:][ \t]*(.*(?:\n(?:[ \t\r].*)?)*)`)
)

// InstallRequires returns the requirements in the text of a setup.cfg: option install_requires of
// section options, as setuptools reads it. It returns nil if the option is missing or names a file.
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
		lines = strings.Split(lines[0], ";") // in a single line, ";" cannot begin a marker
	}
	all := []string{}
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// maxIncludes is the largest number of files that [Includes] reads. maxLines is the number of lines
// of one file that it follows.
const maxIncludes, maxLines = 100, 1000

var include = Expression(`(?m)^[ \t]*(?:-r|-c|--requirement\b|--constraint\b)[ \t]*=?[ \t]*(\S+)`)

// Includes returns the texts of the files that a requirements file includes with -r and -c, and of
// the files that those include, each once. It reads at most 4 MiB in total. The text of a file
// beyond that, or of one that cannot be read, is empty.
func Includes(path, text string) (texts []string) {
	seen, left := map[string]bool{path: true}, LargestFile
	var follow func(path, text string)
	follow = func(path, text string) {
		for _, m := range include().FindAllStringSubmatch(text, maxLines) {
			file := m[1]
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(path), file)
			}
			if seen[file] || len(texts) == maxIncludes {
				continue
			}
			seen[file] = true
			included, _ := Read(file, left)
			left -= len(included)
			texts = append(texts, included)
			follow(file, included)
		}
	}
	follow(path, text)
	return texts
}
