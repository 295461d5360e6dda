package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"log"
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
	work    = "bin/package" // the binaries, and input for nfpm
	dist    = "dist"        // the output
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("packaging: ")
	switch args := os.Args[1:]; len(args) {
	case 0:
		log.Fatal("usage: packaging VERSION [FORMAT... OS/ARCH...]")
	case 1:
		fmt.Println(must(parseVersion(args[0])).semver)
	default:
		newRelease(must(parseVersion(args[0])), args[1:]).build()
	}
}

// must returns a value. An error ends the program, because nothing can be released then.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// check ends the program if there is an error.
func check(err error) { must(0, err) }

var formats = []string{"wheel", "archive", "deb", "rpm", "apk"}

// release contains the data that all packages of a version share.
type release struct {
	version         version
	formats         []string
	targets         []target
	time            time.Time // the time of every file
	goVersion       string
	modules         []module
	license, readme []byte
	notices         []byte
	pages           []file // manual pages
	completions     []file
	sums            map[string]string // file name → SHA-256 of the file
}

func newRelease(v version, words []string) *release {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		log.Fatalf("SOURCE_DATE_EPOCH: %v", err)
	}
	r := &release{
		version: v, time: time.Unix(epoch, 0).UTC(), sums: map[string]string{},
		license: must(os.ReadFile("LICENSE")), readme: must(os.ReadFile("README.md")),
	}
	names := map[string]bool{} // the names of modules
	for _, word := range words {
		if slices.Contains(formats, word) {
			r.formats = append(r.formats, word)
			continue
		}
		t := must(parseTarget(word))
		info := must(buildinfo.ReadFile(t.binary()))
		for _, dep := range info.Deps {
			names[dep.Path+"@"+dep.Version] = true
		}
		r.targets, r.goVersion = append(r.targets, t), info.GoVersion
	}
	r.modules = download(slices.Sorted(maps.Keys(names)))
	r.notices = writeNotices(r.modules)
	return r
}

// build fills the output directory.
func (r *release) build() {
	check(os.RemoveAll(dist))
	if !slices.Equal(r.formats, formats[:1]) {
		r.stage()
	}
	for _, t := range r.targets {
		r.buildTarget(t)
	}
	r.write("pyplug_"+r.version.semver+".cdx.json", r.sbom())
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		fmt.Fprintf(&sums, "%s  %s\n", r.sums[name], name)
	}
	r.write("checksums.txt", []byte(sums.String()))
	r.formula()
}

func (r *release) buildTarget(t target) {
	binary := must(os.ReadFile(t.binary()))
	for _, format := range r.formats {
		switch {
		case format == "wheel":
			r.write(r.wheelFile(t), r.wheel(t, binary))
		case format == "archive":
			r.write(r.archiveFile(t), r.archive(t, binary))
		case t.os == "linux":
			r.write(r.base(t)+"."+format, r.nfpm(t, format))
		}
	}
}

// write writes a file to the output directory and records its checksum.
func (r *release) write(name string, content []byte) {
	path := filepath.Join(dist, name)
	r.sums[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	fmt.Printf("%10d  %s\n", len(content), path)
	writeFile(path, content)
}

// fill replaces the variables of a template: those of all packages, and those in more.
func (r *release) fill(template string, more map[string]string) string {
	all := map[string]string{
		"SUMMARY": summary, "HOME": home, "MAINTAINER": maintainer, "LICENSES": r.licenses(),
		"SEMVER": r.version.semver, "PEP440": r.version.pep440, "LINUX": r.version.linux,
	}
	maps.Copy(all, more)
	return os.Expand(template, func(name string) string { return all[name] })
}

// writeFile writes a file. It creates the file's directory.
func writeFile(path string, content []byte) {
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	check(os.WriteFile(path, content, 0o644))
}
