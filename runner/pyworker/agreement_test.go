package pyworker_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestAgreement checks that the worker imports files of installed packages with the same result as
// a normal import: the same names, or the same exception. It tries 200 random files, and four
// times as many with PYPLUG_TEST_LONG=1.
func TestAgreement(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the imports are made in forked processes")
	}
	runnertest.NothingLeft(t)
	python, pip := runnertest.Packages(t, "numpy==2.4.6", "pydantic==2.10.6", "virtualenv==20.29.3"), t.TempDir()
	out, err := proc.Run(t.Context(), proc.Tool{Path: python, Env: os.Environ(), Args: []string{"-c", unpackPip, pip}})
	dirs := strings.Fields(string(out.Stdout))
	if err != nil || len(dirs) != 2 {
		t.Fatalf("%v %s", err, out.Stderr)
	}
	dirs = append(dirs, pip)
	var list []string
	for _, from := range []struct {
		dir, below string
		count      int
	}{{dirs[0], ".", 110}, {pip, "pip", 74}, {dirs[1], "numpy", 8}, {dirs[1], "pydantic", 8}} {
		files := modulesBelow(from.dir, from.below)
		if len(files) < from.count {
			t.Fatalf("%d files below %s of %s", len(files), from.below, from.dir)
		}
		count := from.count
		if os.Getenv("PYPLUG_TEST_LONG") != "" {
			count = min(4*count, len(files))
		}
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		files = files[:count]
		for _, file := range files {
			name := strings.TrimSuffix(strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", "."), ".__init__")
			place := pysrc.PlaceOf(filepath.Join(from.dir, filepath.FromSlash(file)), func() []string { return dirs })
			list = append(list, name+"\t"+strings.Join(place.Words(), "\t"))
		}
	}
	path := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(path, []byte(strings.Join(list, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = proc.Run(t.Context(), proc.Tool{Path: python, Env: append(os.Environ(), "PYTHONPATH="+pip), Args: []string{filepath.Join("testdata", "agreement.py"), "worker", path},
		Limit: 20 * time.Minute})
	lines := strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")
	var agree, count int
	if _, bad := fmt.Sscan(lines[len(lines)-1], &agree, &count); err != nil || bad != nil || count < 200 || agree*100 < count*99 {
		t.Errorf("%v, want 99 of 100 to agree: %s\n%s", err, out.Stdout, out.Stderr)
	}
	t.Logf("%d of %d files agree: %s", agree, count, out.Stdout)
}

// unpackPip unpacks the pip that virtualenv contains, and prints the paths of the standard library
// and of the installed packages.
const unpackPip = `
import glob, os, sys, sysconfig, zipfile
library, packages = os.path.dirname(os.__file__), sysconfig.get_path("purelib")
wheel = sorted(glob.glob(os.path.join(packages, "virtualenv", "seed", "wheels", "embed", "pip-*.whl")))[-1]
zipfile.ZipFile(wheel).extractall(sys.argv[1])
print(library, packages, sep="\n")
`

// modulesBelow lists the files below a directory that can be imported by name without running a
// program. Their paths are relative to dir, with slashes.
func modulesBelow(dir, below string) (files []string) {
	skipped := []string{"site-packages", "test", "tests", "idle_test", "lib2to3", "__main__.py", "antigravity.py", "this.py", "idlelib", "turtledemo", "_pyrepl"}
	_ = fs.WalkDir(os.DirFS(dir), below, func(path string, d fs.DirEntry, err error) error { // skips unreadable files
		stem := strings.TrimSuffix(d.Name(), ".py")
		switch {
		case err != nil || path == below:
		case slices.Contains(skipped, d.Name()) || !pysrc.IsIdentifier(stem):
			if d.IsDir() {
				return fs.SkipDir
			}
		case stem != d.Name():
			files = append(files, path)
		}
		return nil
	})
	return files
}
