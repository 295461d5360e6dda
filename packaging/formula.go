package main

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed pyplug.rb.tmpl
var formulaText string

// formula writes the Homebrew formula, in the layout of a tap, if its archives were built.
func (r *release) formula() error {
	var b strings.Builder
	archives := map[string]string{}
	for _, t := range r.targets {
		if name := r.archiveFile(t); r.sums[name] != "" {
			archives[t.os+"_"+t.arch] = name
		}
	}
	for _, system := range []string{"darwin_arm64", "darwin_amd64", "linux_arm64", "linux_amd64"} {
		if archives[system] == "" {
			return nil
		}
	}
	t := template.Must(template.New("").Funcs(template.FuncMap{
		"archive": func(system string) string {
			name := archives[system]
			return "url \"" + home + "/releases/download/v" + r.version.semver + "/" + name + "\"\n      sha256 \"" + r.sums[name] + `"`
		},
	}).Parse(formulaText))
	if err := t.Execute(&b, map[string]string{"Summary": strings.ToUpper(summary[:1]) + summary[1:], "Home": home, "Version": r.version.semver, "Licenses": r.licenses()}); err != nil {
		return err
	}
	path := filepath.Join(dist, "Formula", "pyplug.rb")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
