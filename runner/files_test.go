package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/manifest"
)

// prepared is a session of a plugin in a tree, as Prepare leaves it.
func prepared(root string, kind manifest.Kind, entry, transport string) *Opened {
	s := &Opened{settings: Settings{Transport: transport}}
	s.plugin = manifest.Plugin{Kind: kind, Entry: filepath.Join(root, filepath.FromSlash(entry))}
	if kind == manifest.Executable {
		s.scripted = fakePython(root)
	} else {
		s.python = fakePython(root)
	}
	return s
}

func TestFiles(t *testing.T) {
	root, _ := staticTree(t, false, map[string]string{
		"plug/main.py":         "import six, os, helper, missing\n",
		"plug/helper.py":       "def f():\n    import late\n",
		"plug/late.py":         "",
		"plug/other.py":        "",
		"plug/pkg/__init__.py": "from . import part\n",
		"plug/pkg/__main__.py": "from pkg import end\n",
		"plug/pkg/part.py":     "",
		"plug/pkg/end.py":      "",
		"plug/bin/program":     "#!/usr/bin/env python3\nimport helper\n",
		"plug/bin/helper.py":   "", "plug/bin/more/late.py": "",
		"plug/binary": "\x7fELF",
	})
	if err := os.Symlink("main.py", filepath.Join(root, "plug", "link.py")); err != nil {
		t.Fatal(err)
	}
	binary := prepared(root, manifest.Executable, "plug/binary", "grpc")
	binary.scripted = interp.Interpreter{}
	tests := []struct {
		s    *Opened
		want string
	}{
		{prepared(root, manifest.File, "plug/main.py", "pipe"), "helper.py late.py main.py"},
		{prepared(root, manifest.File, "plug/link.py", "pipe"), "helper.py late.py link.py main.py"},
		{prepared(root, manifest.File, "plug/gone.py", "pipe"), "gone.py"},
		{prepared(root, manifest.Package, "plug/pkg", "pipe"), "pkg/__init__.py pkg/part.py"},
		{prepared(root, manifest.Package, "plug/pkg", "grpc"), "pkg/__init__.py pkg/__main__.py pkg/end.py pkg/part.py"},
		{prepared(root, manifest.Executable, "plug/bin/program", "grpc"), "bin/helper.py bin/more/late.py bin/program"},
		{binary, "binary"},
	}
	for _, test := range tests {
		var got []string
		for _, file := range test.s.Files(t.Context()) {
			rel, _ := filepath.Rel(filepath.Join(root, "plug"), file)
			got = append(got, filepath.ToSlash(rel))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %v, want %s", test.s.plugin.Entry, got, test.want)
		}
	}
}

// TestSnapshot holds after which changes a start may come out otherwise, and what a
// snapshot sees of them without reading the files again.
func TestSnapshot(t *testing.T) {
	root, _ := staticTree(t, false, map[string]string{
		"plug/main.py": "import a, b\n", "plug/a.py": "", "plug/notes.txt": "", "plug/pyproject.toml": "",
	})
	s := prepared(root, manifest.File, "plug/main.py", "pipe")
	s.plugin.Manifest.File = filepath.Join(root, "plug", "pyproject.toml")
	known := &files{list: s.startedFrom}
	touch := func(name string, at time.Duration) func() error {
		return func() error {
			when := time.Unix(1e9, 0).Add(at)
			return os.Chtimes(filepath.Join(root, name), when, when)
		}
	}
	tests := []struct {
		name    string
		do      func() error
		may     bool   // a start that failed may come out otherwise
		changed string // what a snapshot from before sees
	}{
		{"nothing", func() error { return nil }, false, ""},
		{"a file of no interest", touch("plug/notes.txt", 1), false, ""},
		{"the script", touch("plug/main.py", 2), true, "main.py"},
		{"an import", touch("plug/a.py", 3), true, "a.py"},
		{"its size alone", func() error {
			return errors.Join(os.WriteFile(filepath.Join(root, "plug/a.py"), []byte("#"), 0o600), touch("plug/a.py", 3)())
		}, true, "a.py"},
		{"the manifest", touch("plug/pyproject.toml", 4), true, "pyproject.toml"},
		{"the interpreter", touch("env/bin/python", 5), true, "python"},
		{"a new file that is imported", func() error { return os.WriteFile(filepath.Join(root, "plug/b.py"), nil, 0o600) }, true, ""},
		{"a removed one", func() error { return os.Remove(filepath.Join(root, "plug/b.py")) }, true, "b.py"},
		{"a package that is installed", touch(fakeSite, 6), true, ""},
	}
	for _, test := range tests {
		before, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stamp := known.stamp()
		if err := test.do(); err != nil {
			t.Fatal(err)
		}
		if (known.stamp() != stamp) != test.may {
			t.Errorf("%s: whether it may start now is told wrongly", test.name)
		}
		var want []string
		if test.changed != "" {
			want = []string{test.changed}
		}
		got := before.Changed()
		for i, file := range got {
			got[i] = filepath.Base(file)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: changed are %v, want %v", test.name, got, want)
		}
	}
}

// BenchmarkFiles is what a snapshot costs, and what it costs to ask one, for a plugin
// of 20 files.
func BenchmarkFiles(b *testing.B) {
	files := map[string]string{}
	var main strings.Builder
	for i := range 19 {
		name := "m" + string(rune('a'+i))
		files["plug/"+name+".py"] = "import os, json, six\n" + strings.Repeat("def f(x):\n    return x + 1\n", 100)
		main.WriteString("import " + name + "\n")
	}
	files["plug/main.py"] = main.String()
	root, _ := staticTree(b, false, files)
	s := prepared(root, manifest.File, "plug/main.py", "pipe")
	b.Run("taken", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Snapshot(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("asked", func(b *testing.B) {
		p, _ := s.Snapshot(b.Context())
		for b.Loop() {
			if changed := p.Changed(); changed != nil {
				b.Fatal(changed)
			}
		}
	})
}
