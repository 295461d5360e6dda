package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
)

// base returns the name of a target's package without its extension.
func (r *release) base(t target) string {
	return fmt.Sprintf("pyplug_%s_%s_%s", r.version.semver, t.os, t.arch)
}

func (r *release) archiveFile(t target) string {
	if t.os == "windows" {
		return r.base(t) + ".zip"
	}
	return r.base(t) + ".tar.gz"
}

// archive returns the content of an archive. All its files are in one directory.
func (r *release) archive(t target, binary []byte) []byte {
	top := r.base(t) + "/"
	files := []file{
		{top + t.program(), 0o755, binary},
		{top + "LICENSE", 0o644, r.license},
		{top + "NOTICES", 0o644, r.notices},
		{top + "README.md", 0o644, r.readme},
	}
	for _, f := range append(r.completions, r.pages...) {
		f.name = top + f.name
		files = append(files, f)
	}
	if t.os == "windows" {
		return r.zip(files)
	}
	return r.tarGz(files)
}

func (r *release) tarGz(files []file) []byte {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range files {
		// The header has no user names, so that it is the same on every machine.
		check(t.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.content)),
			ModTime: r.time, Format: tar.FormatUSTAR})) // writing to memory does not fail
		must(t.Write(f.content))
	}
	check(t.Close())
	return compress(b.Bytes())
}

// compress returns the output of gzip -9n.
func compress(content []byte) []byte {
	var b bytes.Buffer
	z := must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	must(z.Write(content))
	check(z.Close())
	return b.Bytes()
}
