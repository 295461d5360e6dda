package findings

import (
	"embed"
	"slices"
	"strings"
)

// pages are all but README.md, whose name begins with a capital.
//
//go:embed [a-z]*.md
var pages embed.FS

// Page is the page of a finding, in Markdown, its last line ended. There is none of
// another name. It is safe for concurrent use, as all here.
func Page(id string) (text string, ok bool) {
	b, err := pages.ReadFile(id + ".md")
	return string(b), err == nil
}

// Title is what a finding is in one sentence, that of its page's heading: it begins
// with a small letter and has no full stop. It is empty of another name.
func Title(id string) string {
	text, _ := Page(id)
	heading, _, _ := strings.Cut(text, "\n")
	_, title, _ := strings.Cut(heading, ": ")
	return title
}

// IDs lists the findings that have a page, sorted. It belongs to the caller.
func IDs() []string {
	files, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // they are in the program
	}
	ids := make([]string, len(files))
	for i, f := range files {
		ids[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	slices.Sort(ids) // the files were, with their endings
	return ids
}
