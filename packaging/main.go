package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	home    = "https://github.com/pyplug/pyplug"
	summary = "call Python plugins from a shell, from CI and from any program"
	work    = "bin/package" // binaries, and what nfpm puts into packages
	dist    = "dist"        // the output
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: packaging VERSION [FORMAT... OS/ARCH...]")
	}
	v, err := parseVersion(args[0])
	if err != nil {
		return err
	}
	if len(args) == 1 {
		fmt.Println(v.semver)
		return nil
	}
	r, err := newRelease(v, args[1:])
	if err != nil {
		return err
	}
	return r.build()
}

var formats = []string{"wheel", "archive", "deb", "rpm", "apk"}

// release is what all packages of a version share.
type release struct {
	version         version
	formats         []string
	targets         []target
	time            time.Time // of every file
	goVersion       string
	modules         []module
	license, readme []byte
	notices         []byte
	pages           []file // manual pages
	completions     []file
	sums            map[string]string // SHA-256 of what was written, by file name
}

func newRelease(v version, words []string) (*release, error) {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	r := &release{version: v, time: time.Unix(epoch, 0).UTC(), sums: map[string]string{}}
	names := map[string]bool{} // of modules
	for _, word := range words {
		if slices.Contains(formats, word) {
			r.formats = append(r.formats, word)
			continue
		}
		t, err := parseTarget(word)
		if err != nil {
			return nil, err
		}
		info, err := buildinfo.ReadFile(t.binary())
		if err != nil {
			return nil, err
		}
		for _, dep := range info.Deps {
			names[dep.Path+"@"+dep.Version] = true
		}
		r.targets, r.goVersion = append(r.targets, t), info.GoVersion
	}
	if r.license, err = os.ReadFile("LICENSE"); err != nil {
		return nil, err
	}
	if r.readme, err = os.ReadFile("README.md"); err != nil {
		return nil, err
	}
	if r.modules, err = download(slices.Sorted(maps.Keys(names))); err != nil {
		return nil, err
	}
	r.notices = writeNotices(r.modules)
	return r, nil
}

// build fills the output directory.
func (r *release) build() error {
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if !slices.Equal(r.formats, formats[:1]) {
		if err := r.stage(); err != nil {
			return err
		}
	}
	for _, t := range r.targets {
		if err := r.buildTarget(t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := r.write("pyplug_"+r.version.semver+".cdx.json", r.sbom()); err != nil {
		return err
	}
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		fmt.Fprintf(&sums, "%s  %s\n", r.sums[name], name)
	}
	if err := r.write("checksums.txt", []byte(sums.String())); err != nil {
		return err
	}
	return r.formula()
}

func (r *release) buildTarget(t target) error {
	binary, err := os.ReadFile(t.binary())
	if err != nil {
		return err
	}
	for _, format := range r.formats {
		name, content := "", []byte(nil)
		switch {
		case format == "wheel":
			name, content = r.wheelFile(t), r.wheel(t, binary)
		case format == "archive":
			name, content = r.archiveFile(t), r.archive(t, binary)
		case t.os != "linux":
			continue
		default:
			name = r.base(t) + "." + format
			content, err = r.nfpm(t, format)
		}
		if err != nil {
			return err
		}
		if err := r.write(name, content); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the output and notes its checksum.
func (r *release) write(name string, content []byte) error {
	path := filepath.Join(dist, name)
	r.sums[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	fmt.Printf("%10d  %s\n", len(content), path)
	return writeFile(path, content)
}

// fill fills in the variables of a template: those of all packages, and more.
func (r *release) fill(template string, more map[string]string) string {
	all := map[string]string{
		"SUMMARY": summary, "HOME": home, "MAINTAINER": maintainer, "LICENSES": r.licenses(),
		"SEMVER": r.version.semver, "PEP440": r.version.pep440, "LINUX": r.version.linux,
	}
	maps.Copy(all, more)
	return os.Expand(template, func(name string) string { return all[name] })
}

// writeFile writes a file, and makes its directory.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
