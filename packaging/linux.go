package main

import (
	_ "embed"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const nfpmModule = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0" // newer versions may not build

//go:embed nfpm.yaml
var nfpmText string

const maintainer = "pyplug maintainers <pyplug@users.noreply.github.com>"

// stage makes the manual pages and writes the files that all packages contain in addition to the
// binary.
func (r *release) stage() {
	host := must(parseTarget(runtime.GOOS + "/" + runtime.GOARCH))
	r.pages = r.manual(must(filepath.Abs(host.binary())))
	for _, shell := range []string{"bash", "zsh", "fish", "ps1"} {
		name := "completions/pyplug." + shell
		r.completions = append(r.completions, file{name, 0o644, must(os.ReadFile(name))})
	}
	changelog := fmt.Sprintf("pyplug (%s) unstable; urgency=medium\n\n  * See %s/blob/main/CHANGELOG.md\n\n -- %s  %s\n",
		strings.Replace(r.version.linux, "-", "~", 1), home, maintainer, r.time.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	files := []file{{"changelog.gz", 0o644, compress([]byte(changelog))}, {"NOTICES.gz", 0o644, compress(r.notices)},
		{"NOTICES", 0o644, r.notices}}
	for _, page := range r.pages {
		files = append(files, file{page.name + ".gz", 0o644, compress(page.content)})
	}
	share := filepath.Join(work, "share")
	check(os.RemoveAll(share))
	for _, f := range files {
		writeFile(filepath.Join(share, f.name), f.content)
	}
}

// nfpm returns a target's package in one format: deb, rpm or apk.
func (r *release) nfpm(t target, format string) []byte {
	config := r.fill(nfpmText, map[string]string{"ARCH": t.arch})
	if format != "deb" { // Debian has no license field
		config += "license: " + r.licenses() + "\n"
	}
	from, to := filepath.Join(work, "nfpm.yaml"), filepath.Join(work, "pyplug."+format)
	writeFile(from, []byte(config))
	cmd := exec.Command("go", "run", nfpmModule, "package", "--config", from, "--packager", format, "--target", to)
	if output, err := cmd.CombinedOutput(); err != nil {
		log.Fatalf("nfpm: %s: %v\n%s", r.base(t)+"."+format, err, output)
	}
	return must(os.ReadFile(to))
}
