package main

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
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
		"0.1.0rc1":                          {}, // only Python reads it
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

// TestLicences holds that every module in go.mod has a licence that pyplug may carry.
func TestLicences(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1]+"@"+m[2])
	}
	modules, err := download(names)
	if err != nil || len(modules) < 20 {
		t.Errorf("of %d modules, %d have a licence: %v", len(names), len(modules), err)
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

func TestRoff(t *testing.T) {
	const help = "Do a thing\nto PLUGIN.\n\n  .x   one\n       more\n  lone\n\nFlags:\n  -j, --jobs N  at once\n      --long-name X\n                a \\ b\n" +
		"      --no      none\n\nExamples:\n  a  -x \\\n    'b'\n"
	const want = `Do a thing to PLUGIN.
.TP
\fB\&.x\fR
one more
.PP
.nf
lone
.fi
.SH FLAGS
.TP
\fB\-j, \-\-jobs N\fR
at once
.TP
\fB\-\-long\-name X\fR
a \e b
.TP
\fB\-\-no\fR
none
.SH EXAMPLES
.nf
a  \-x \e
  'b'
.fi
`
	if got := roff(help, ".SH"); got != want {
		t.Errorf("roff is\n%s\nwant\n%s", got, want)
	}
}

// TestCheckWheel damages a good wheel in every way that would install something broken.
func TestCheckWheel(t *testing.T) {
	r := &release{version: version{"1.0.0", "1.0.0", "1.0.0"}, time: time.Unix(1e9, 0), license: []byte("L"), notices: []byte("N")}
	linux, windows := targets[0], targets[4]
	good := r.wheel(linux, program(t, "linux", "amd64"))
	other := r.wheel(linux, program(t, "windows", "amd64"))
	const scripts, info = "pyplug_cli-1.0.0.data/scripts/pyplug", "pyplug_cli-1.0.0.dist-info/"
	edit := func(name, old, new string) func(map[string]*file) {
		return func(files map[string]*file) {
			files[info+name].content = bytes.Replace(files[info+name].content, []byte(old), []byte(new), 1)
		}
	}
	for _, c := range []struct {
		name    string
		file    string // "" is the right name
		content []byte
		damage  func(map[string]*file)
		want    string // in the error, "" for none
	}{
		{"good", "", good, nil, ""},
		{"tag of another system", r.wheelFile(windows), good, nil, "WHEEL is"},
		{"unknown tag", "pyplug_cli-1.0.0-py3-none-linux_x86_64.whl", good, nil, "unknown platform linux_x86_64"},
		{"tag of another Python", "pyplug_cli-1.0.0-cp312-cp312-" + linux.platform + ".whl", good, nil, "expected the name"},
		{"another project", "pyplug-1.0.0-py3-none-" + linux.platform + ".whl", good, nil, "expected the name"},
		{"another version", "pyplug_cli-1.0.1-py3-none-" + linux.platform + ".whl", good, nil, "WHEEL is"},
		{"cut", "", good[:len(good)-100], nil, "not a valid zip file"},
		{"another system's program", "", other, nil, "built for windows/amd64, expected linux/amd64"},
		{"no executable bit", "", good, func(f map[string]*file) { f[scripts].mode = 0o644 }, "mode 644, expected 755"},
		{"no program", "", good, func(f map[string]*file) { delete(f, scripts) }, "RECORD names"},
		{"a changed file", "", good, edit("licenses/LICENSE", "L", "M"), "RECORD says"},
		{"an unlisted file", "", good, func(f map[string]*file) { f["x.py"] = &file{"x.py", 0o644, nil} }, `RECORD says "" of x.py`},
		{"a pure wheel", "", good, edit("WHEEL", "false", "true"), "WHEEL is"},
		{"a tag less", "", good, edit("WHEEL", "Tag: py3-none-musllinux_1_2_x86_64\n", ""), "WHEEL is"},
		{"other metadata", "", good, edit("METADATA", "Version: 1.0.0\n", "Version: 1.0.1\n"), "METADATA has no line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.file == "" {
				c.file = r.wheelFile(linux)
			}
			if c.damage != nil {
				c.content = damaged(t, c.content, c.damage)
			}
			err := checkWheel(c.file, c.content)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("checkWheel: %v, want %q", err, c.want)
			}
		})
	}
}

// damaged returns a wheel with its files changed. It compresses only what changed.
func damaged(t *testing.T, wheel []byte, damage func(map[string]*file)) []byte {
	t.Helper()
	z := must(zip.NewReader(bytes.NewReader(wheel), int64(len(wheel))))
	files, old := map[string]*file{}, map[string]*zip.File{}
	for _, f := range z.File {
		files[f.Name], old[f.Name] = &file{f.Name, f.Mode().Perm(), nil}, f
		if f.UncompressedSize64 < 1e5 { // nothing changes the program
			files[f.Name].content = must(readAll(f))
		}
	}
	damage(files)
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, from := files[name], old[name]
		if from == nil || f.content != nil && !bytes.Equal(f.content, must(readAll(from))) {
			must(must(out.Create(name)).Write(f.content))
			continue
		}
		header := from.FileHeader
		header.SetMode(f.mode)
		must(io.Copy(must(out.CreateRaw(&header)), must(from.OpenRaw())))
	}
	must(0, out.Close())
	return b.Bytes()
}

// program returns a small program for a target.
func program(t *testing.T, system, arch string) []byte {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	source := filepath.Join(dir, "x.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestDynamic holds that a program which needs a C library gets into no wheel.
func TestDynamic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a Linux program")
	}
	content, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkStatic(bytes.NewReader(content)); err == nil || !strings.Contains(err.Error(), "linked dynamically") {
		t.Errorf("checkStatic(/bin/sh) = %v", err)
	}
}
