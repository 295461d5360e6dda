// Package docs embeds the pages of this directory that `pyplug help` prints.
//
//   - [Manual] has the pages that `help` lists.
//   - [Findings] has a page for each finding of `check`, with its cause and its fix.
//
// Only package check knows when a finding occurs. A test compares its findings with the pages. The
// package is safe for concurrent use.
package docs

import (
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed background.md cases.md compatibility.md debugging.md grpc.md http.md json.md lines.md preload.md promises.md recipes.md records.md scale.md
var manual embed.FS

//go:embed findings/[a-z]*.md
var findings embed.FS // without README.md

// The pages, by their names.
var (
	Manual   = Pages{manual, ""}
	Findings = Pages{findings, "findings/"}
)

// Pages are the pages of a directory, in Markdown.
type Pages struct {
	files embed.FS
	dir   string // ends with a slash, or is empty
}

// Page returns the page with a name. If there is none, ok is false.
func (p Pages) Page(name string) (text string, ok bool) {
	b, err := p.files.ReadFile(p.dir + name + ".md")
	return string(b), err == nil
}

// Title returns the heading of a page without its name, such as "the plugin has no Shutdown
// method", or "" if there is no such page.
func (p Pages) Title(name string) string {
	text, _ := p.Page(name)
	heading, _, _ := strings.Cut(text, "\n")
	_, title, _ := strings.Cut(heading, ": ")
	return title
}

// Names returns the sorted names of the pages.
func (p Pages) Names() []string {
	files, err := p.files.ReadDir(path.Clean(p.dir))
	if err != nil {
		panic(err) // impossible: the files are embedded
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	slices.Sort(names) // without ".md" the order may differ
	return names
}
