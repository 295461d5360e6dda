package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const nfpmModule = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0" // newer ones may not build

const maintainer = "pyplug maintainers <pyplug@users.noreply.github.com>"

// stage makes the manual pages and writes what all packages contain beside the binary.
func (r *release) stage() error {
	host, err := parseTarget(runtime.GOOS + "/" + runtime.GOARCH)
	if err != nil {
		return err
	}
	if r.pages, err = r.manual(must(filepath.Abs(host.binary()))); err != nil {
		return err
	}
	for _, shell := range []string{"bash", "zsh", "fish", "ps1"} {
		script, err := os.ReadFile("completions/pyplug." + shell)
		if err != nil {
			return err
		}
		r.completions = append(r.completions, file{"completions/pyplug." + shell, 0o644, script})
	}
	changelog := fmt.Sprintf("pyplug (%s) unstable; urgency=medium\n\n  * See %s/blob/main/CHANGELOG.md\n\n -- %s  %s\n",
		strings.Replace(r.version.linux, "-", "~", 1), home, maintainer, r.time.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	files := []file{{"changelog.gz", 0o644, compress([]byte(changelog))}, {"NOTICES.gz", 0o644, compress(r.notices)},
		{"NOTICES", 0o644, r.notices}}
	for _, page := range r.pages {
		files = append(files, file{page.name + ".gz", 0o644, compress(page.content)})
	}
	share := filepath.Join(work, "share")
	if err := os.RemoveAll(share); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(share, f.name), f.content); err != nil {
			return err
		}
	}
	return nil
}

// nfpm returns the package of a target: deb, rpm or apk.
func (r *release) nfpm(t target, format string) ([]byte, error) {
	text, err := os.ReadFile("packaging/nfpm.yaml")
	if err != nil {
		return nil, err
	}
	config := r.fill(string(text), map[string]string{"ARCH": t.arch})
	if format != "deb" { // Debian has no such field
		config += "license: " + r.licenses() + "\n"
	}
	from, to := filepath.Join(work, "nfpm.yaml"), filepath.Join(work, "pyplug."+format)
	if err := os.WriteFile(from, []byte(config), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "run", nfpmModule, "package", "--config", from, "--packager", format, "--target", to)
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("nfpm: %s: %w\n%s", format, err, output)
	}
	return os.ReadFile(to)
}
