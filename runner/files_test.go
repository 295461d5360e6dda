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
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/settings"
)

// opened returns a gRPC plugin in a tree, as Open would.
func opened(root string, kind manifest.Kind, entry string) *Keeper {
	entry = filepath.Join(root, filepath.FromSlash(entry))
	o := &Keeper{Plan: plan.Plan{
		Config: plan.Config{Settings: settings.Settings{Transport: "grpc"}}, Plugin: manifest.Plugin{Entry: entry, Kind: kind},
		Python: treePython(root), Script: scriptOf(entry), Dirs: pysrc.PlaceOf(entry, nil).Dirs(),
	}}
	o.transport = &server{Plan: o.Plan}
	o.files = newFiles(&o.Plan, o.transport)
	return o
}

// treePython returns the interpreter of the environment in a [runnertest.SourceTree].
func treePython(root string) interp.Interpreter {
	return interp.Interpreter{Path: filepath.Join(root, "env", "bin", "python"), Version: interp.Version{Major: 3, Minor: 12}}
}

// scriptOf returns the file that Python runs for an entry that is not a link.
func scriptOf(entry string) string {
	if info, err := os.Stat(entry); err == nil && info.IsDir() {
		return filepath.Join(entry, "__main__.py")
	}
	return entry
}

// TestFilesOfPrograms checks which files of a gRPC plugin are watched.
func TestFilesOfPrograms(t *testing.T) {
	root := runnertest.SourceTree(t, false, map[string]string{
		"plug/main.py": "", "plug/helper.py": "", "plug/notes.txt": "", "plug/.venv/x.py": "",
		"pack/pkg/__init__.py": "", "pack/pkg/__main__.py": "", "pack/pkg/part.py": "", "pack/other.py": "",
		"bin/program": "#!/usr/bin/env python3\n", "bin/more/late.py": "",
		"binary": "\x7fELF",
	})
	binary := opened(root, manifest.Executable, "binary")
	binary.Python = interp.Interpreter{}
	binary.transport = &server{Plan: binary.Plan}
	binary.files = newFiles(&binary.Plan, binary.transport)
	for _, test := range []struct {
		o    *Keeper
		want string
	}{
		{opened(root, manifest.File, "plug/main.py"), "plug/helper.py plug/main.py"},
		{opened(root, manifest.File, "plug/gone.py"), "plug/gone.py plug/helper.py plug/main.py"},
		{opened(root, manifest.Package, "pack/pkg"), "pack/pkg/__init__.py pack/pkg/__main__.py pack/pkg/part.py"},
		{opened(root, manifest.Executable, "bin/program"), "bin/more/late.py bin/program"},
		{binary, "binary"},
	} {
		var got []string
		seen, _ := test.o.files.look(ownFile, nil)
		for file := range seen {
			rel, _ := filepath.Rel(root, file)
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %v, want %s", test.o.Plugin.Entry, got, test.want)
		}
	}
}

// TestFileVersions checks which changes justify another try of a failed start, and which of them a
// snapshot reports.
func TestFileVersions(t *testing.T) {
	root := runnertest.SourceTree(t, false, map[string]string{
		"plug/main.py": "", "plug/a.py": "", "plug/notes.txt": "", "plug/pyproject.toml": "",
	})
	o := opened(root, manifest.File, "plug/main.py")
	o.Plugin.Manifest.File = filepath.Join(root, "plug", "pyproject.toml")
	touch := func(name string, at time.Duration) func() error {
		return func() error {
			when := time.Unix(1e9, 0).Add(at)
			return os.Chtimes(filepath.Join(root, name), when, when)
		}
	}
	for _, test := range []struct {
		name    string
		do      func() error
		retry   bool
		changed string
	}{
		{"nothing", func() error { return nil }, false, ""},
		{"a file of no interest", touch("plug/notes.txt", 1), false, ""},
		{"the script", touch("plug/main.py", 2), true, "main.py"},
		{"a module", touch("plug/a.py", 3), true, "a.py"},
		{"its size alone", func() error {
			return errors.Join(os.WriteFile(filepath.Join(root, "plug/a.py"), []byte("#"), 0o600), touch("plug/a.py", 3)())
		}, true, "a.py"},
		{"the manifest", touch("plug/pyproject.toml", 4), true, "pyproject.toml"},
		{"the interpreter", touch("env/bin/python", 5), true, "python"},
		{"a new module", func() error { return os.WriteFile(filepath.Join(root, "plug/b.py"), nil, 0o600) }, true, ""},
		{"a removed one", func() error { return os.Remove(filepath.Join(root, "plug/b.py")) }, true, "b.py"},
		{"a package that is installed", touch(runnertest.TreeSite, 6), true, ""},
	} {
		version := o.files.version()
		before, err := o.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := test.do(); err != nil {
			t.Fatal(err)
		}
		if got := o.files.version() != version; got != test.retry {
			t.Errorf("%s: another try: %v, want %v", test.name, got, test.retry)
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

// BenchmarkFiles measures taking a snapshot of a plugin with 20 files, and asking it for changes.
func BenchmarkFiles(b *testing.B) {
	files := map[string]string{"plug/main.py": ""}
	for i := range 19 {
		files["plug/m"+string(rune('a'+i))+".py"] = ""
	}
	root := runnertest.SourceTree(b, false, files)
	o := opened(root, manifest.File, "plug/main.py")
	b.Run("taken", func(b *testing.B) {
		for b.Loop() {
			if _, err := o.Snapshot(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("asked", func(b *testing.B) {
		s, _ := o.Snapshot(b.Context())
		for b.Loop() {
			if changed := s.Changed(); changed != nil {
				b.Fatal(changed)
			}
		}
	})
}
