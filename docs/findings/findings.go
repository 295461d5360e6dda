package findings

import (
	"embed"
	"slices"
	"strings"
)

// pages holds every page; the pattern excludes README.md.
//
//go:embed [a-z]*.md
var pages embed.FS

// Page returns the page of a finding in Markdown, with a newline at the end.
// If there is no such finding, ok is false.
func Page(id string) (text string, ok bool) {
	b, err := pages.ReadFile(id + ".md")
	return string(b), err == nil
}

// Title returns the summary of a finding from the heading of its page, without a
// capital letter or a full stop. If there is no such finding, it returns "".
func Title(id string) string {
	text, _ := Page(id)
	heading, _, _ := strings.Cut(text, "\n")
	_, title, _ := strings.Cut(heading, ": ")
	return title
}

// IDs returns the sorted ids of the findings that have a page.
func IDs() []string {
	files, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // impossible: the files are embedded
	}
	ids := make([]string, len(files))
	for i, f := range files {
		ids[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	slices.Sort(ids) // ReadDir sorted the names with ".md"
	return ids
}
