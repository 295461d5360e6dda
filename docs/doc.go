// Package docs embeds the pages of this directory that `pyplug help` prints.
//
//   - [Page] returns a page, [Names] lists them.
//
// All functions are safe for concurrent use.
package docs

import (
	"embed"
	"strings"
)

//go:embed background.md compatibility.md grpc.md json.md lines.md promises.md recipes.md
var pages embed.FS

// Page returns a page in Markdown; if there is none of this name, ok is false.
func Page(name string) (text string, ok bool) {
	b, err := pages.ReadFile(name + ".md")
	return string(b), err == nil
}

// Names returns the sorted names of the pages.
func Names() []string {
	files, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // impossible: the files are embedded
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	return names
}
