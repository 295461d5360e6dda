package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
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
		path := filepath.Join(share, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
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
	config := os.Expand(string(text), func(name string) string {
		return map[string]string{"ARCH": t.arch, "VERSION": r.version.linux, "SUMMARY": summary, "HOMEPAGE": home, "MAINTAINER": maintainer}[name]
	})
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

// recompress returns a deb whose last member, data.tar, is compressed by xz: a fifth smaller than
// what nfpm's own xz makes of it.
func recompress(deb []byte) ([]byte, error) {
	const header, nameField, sizeField = 60, 16, 48 // of the format of ar
	at := bytes.Index(deb, fmt.Appendf(nil, "%-*s", nameField, "data.tar"))
	if at < 0 || len(deb) < at+header {
		return nil, errors.New("nfpm: the deb has no data.tar")
	}
	size, err := strconv.Atoi(strings.TrimSpace(string(deb[at+sizeField : at+header-2])))
	if err != nil || len(deb) < at+header+size {
		return nil, fmt.Errorf("nfpm: the deb has a cut data.tar: %w", err)
	}
	cmd := exec.Command("xz", "--threads=1", "--stdout")
	cmd.Stdin = bytes.NewReader(deb[at+header : at+header+size])
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("xz: %w", err)
	}
	small := bytes.NewBuffer(slices.Clip(deb[:at]))
	fmt.Fprintf(small, "%-*s%s%-10d`\n%s", nameField, "data.tar.xz", deb[at+nameField:at+sizeField], len(data), data)
	if len(data)%2 == 1 {
		small.WriteByte('\n')
	}
	return small.Bytes(), nil
}
