package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]version{
		"0.1.0":                             {"0.1.0", "0.1.0", "0.1.0"},
		"v1.20.3":                           {"1.20.3", "1.20.3", "1.20.3"},
		"0.1.0-rc.1":                        {"0.1.0-rc.1", "0.1.0rc1", "0.1.0-rc1"},
		"v0.1.0-alpha.0":                    {"0.1.0-alpha.0", "0.1.0a0", "0.1.0-alpha0"},
		"0.1.0-beta.12":                     {"0.1.0-beta.12", "0.1.0b12", "0.1.0-beta12"},
		"0.0.0-dev+0523eee":                 {"0.0.0-dev+0523eee", "0.0.0.dev0+0523eee", "0.0.0-pre"},
		"0.0.0-dev+v0.1.0-3-g0523eee-dirty": {"0.0.0-dev+v0.1.0-3-g0523eee-dirty", "0.0.0.dev0+v0.1.0.3.g0523eee.dirty", "0.0.0-pre"},
		"":                                  {},
		"0.1":                               {},
		"0.1.0.0":                           {},
		"00.1.0":                            {},
		"0.1.0rc1":                          {}, // only Python can read it
		"0.1.0-rc1":                         {}, // semver orders rc10 before rc9
		"0.1.0-rc.01":                       {},
		"0.1.0-1":                           {}, // later than 0.1.0 to Python, earlier to semver
		"0.1.0-dev.1":                       {}, // later than beta to semver, earlier than alpha to Python
		"0.1.0+local":                       {},
		"0.1.0-rc.1\n":                      {},
		"0523eee":                           {},
		"latest":                            {},
	} {
		got, err := parseVersion(text)
		if got != want || (err == nil) == (want == version{}) {
			t.Errorf("parseVersion(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                            "Apache-2.0",
		"Mozilla Public License, version 2.0":                                                     "MPL-2.0",
		"Permission is hereby granted, free of\ncharge, to any person":                            "MIT",
		"Redistribution and use in source and binary forms":                                       "BSD-2-Clause",
		"Redistribution and use in source and binary\nforms ... Neither the name of Google":       "BSD-3-Clause",
		"GNU GENERAL PUBLIC LICENSE\nVersion 3":                                                   "",
		"Business Source License 1.1 ... will change to Mozilla Public License 2.0 in four years": "",
		"": "",
	} {
		if got, ok := identify(text); got != want || ok != (want != "") {
			t.Errorf("identify(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

// TestLicenses checks that every module in go.mod has a license that pyplug may contain.
func TestLicenses(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1]+"@"+m[2])
	}
	if modules := download(names); len(modules) < 20 { // download ends the test at an unknown license
		t.Errorf("of %d modules, %d have a license", len(names), len(modules))
	}
}

func TestNotices(t *testing.T) {
	text := string(writeNotices([]module{{"a.org/a", "v1.0.0", "MIT", []string{"one"}}, {"b.org/b", "v2.0.0", "MIT", []string{"one", "two"}}}))
	for _, want := range []string{"a.org/a v1.0.0 (MIT)\nb.org/b v2.0.0 (MIT)\n", "\n\none\n", "\n\ntwo\n"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("the notices are\n%s\nwant once %q", text, want)
		}
	}
}

func TestSection(t *testing.T) {
	const help = "\nDo a thing\n.x\n\nFlags:\n  -j  a \\ b\n"
	const want = ".SH DESCRIPTION\n.in 0n\n.nf\nDo a thing\n\\&.x\n\n.fi\n.SS Flags\n.in 0n\n.nf\n  \\-j  a \\e b\n.fi\n"
	if got := section("DESCRIPTION", help); got != want {
		t.Errorf("the section is\n%s\nwant\n%s", got, want)
	}
}

// TestWheel checks that a wheel contains the executable program, that it has each of its tags, and
// that RECORD has the hash of every file.
func TestWheel(t *testing.T) {
	r := &release{version: version{"1.0.0", "1.0.0", "1.0.0"}, time: time.Unix(1e9, 0), license: []byte("L"), notices: []byte("N")}
	const info = "pyplug_cli-1.0.0.dist-info/"
	wheel := r.wheel(targets[0], []byte("program"))
	z := must(zip.NewReader(bytes.NewReader(wheel), int64(len(wheel))))
	files := map[string]string{}
	for _, f := range z.File {
		files[f.Name] = string(must(io.ReadAll(must(f.Open()))))
		if want := fs.FileMode(0o755); strings.Contains(f.Name, "/scripts/") && f.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", f.Name, f.Mode().Perm(), want)
		}
	}
	if got := files["pyplug_cli-1.0.0.data/scripts/pyplug"]; got != "program" {
		t.Errorf("the program is %q", got)
	}
	if got := strings.Count(files[info+"WHEEL"], "Tag: py3-none-"); got != 3 || !strings.Contains(files[info+"METADATA"], "\nVersion: 1.0.0\n") {
		t.Errorf("%d tags, and the metadata\n%s", got, files[info+"METADATA"])
	}
	for name, content := range files {
		want := fmt.Sprintf("%s,%s,%d\n", name, digest([]byte(content)), len(content))
		if name == info+"RECORD" {
			want = name + ",,\n"
		}
		if !strings.Contains(files[info+"RECORD"], want) {
			t.Errorf("RECORD is\n%s\nwithout %s", files[info+"RECORD"], want)
		}
	}
}
