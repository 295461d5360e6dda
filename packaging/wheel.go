package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// A wheel contains the binary as a script and no Python code, so that it starts without Python. Its
// name differs because another project on PyPI has the name pyplug.
const wheelName = "pyplug_cli"

func (r *release) wheelFile(t target) string {
	return fmt.Sprintf("%s-%s-py3-none-%s.whl", wheelName, r.version.pep440, t.platform)
}

// wheel returns the content of a wheel.
func (r *release) wheel(t target, binary []byte) []byte {
	base := wheelName + "-" + r.version.pep440
	info := base + ".dist-info/"
	files := []file{
		{base + ".data/scripts/" + t.program(), 0o755, binary},
		{info + "licenses/LICENSE", 0o644, r.license},
		{info + "licenses/NOTICES", 0o644, r.notices},
		{info + "METADATA", 0o644, r.metadata()},
		{info + "WHEEL", 0o644, wheelMetadata(t)},
	}
	var record strings.Builder
	for _, f := range files {
		fmt.Fprintf(&record, "%s,%s,%d\n", f.name, digest(f.content), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return r.zip(append(files, file{info + "RECORD", 0o644, []byte(record.String())}))
}

// digest returns a hash in the notation of RECORD.
func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
}

func wheelMetadata(t target) []byte {
	var b strings.Builder
	b.WriteString("Wheel-Version: 1.0\nGenerator: pyplug packaging\nRoot-Is-Purelib: false\n")
	for _, platform := range strings.Split(t.platform, ".") {
		fmt.Fprintf(&b, "Tag: py3-none-%s\n", platform)
	}
	return []byte(b.String())
}

//go:embed METADATA.tmpl
var metadataText string

func (r *release) metadata() []byte {
	// On PyPI, links to files of the repository need full URLs.
	readme := strings.ReplaceAll(string(r.readme), "](docs/", "]("+home+"/blob/v"+r.version.semver+"/docs/")
	return []byte(r.fill(metadataText, nil) + readme)
}

// file is a file of an archive.
type file struct {
	name    string
	mode    fs.FileMode // permissions
	content []byte
}

// zip returns a zip archive of files.
func (r *release) zip(files []file) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(f.mode)
		w := must(z.CreateHeader(h)) // writing to memory does not fail
		must(w.Write(f.content))
	}
	check(z.Close())
	return b.Bytes()
}
