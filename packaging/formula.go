package main

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
)

//go:embed pyplug.rb.tmpl
var formulaText string

// formula writes the Homebrew formula, in the layout of a tap, if its archives were built.
func (r *release) formula() {
	archives := map[string]string{}
	for _, t := range r.targets {
		if name := r.archiveFile(t); t.os != "windows" && r.sums[name] != "" {
			archives[t.os+"_"+t.arch] = fmt.Sprintf("url \"%s/releases/download/v%s/%s\"\n      sha256 %q", home, r.version.semver, name, r.sums[name])
		}
	}
	if len(archives) < 4 {
		return
	}
	archives["SENTENCE"] = strings.ToUpper(summary[:1]) + summary[1:]
	writeFile(filepath.Join(dist, "Formula", "pyplug.rb"), []byte(r.fill(formulaText, archives)))
}
