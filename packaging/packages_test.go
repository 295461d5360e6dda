package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pyplug/pyplug/runner/runnertest"
)

var distDir = flag.String("dist", "", "test the packages in this `directory`, which make packages filled")

// TestPackages installs, uses and removes the packages as users do, with one script for each way.
// It needs the packages and the binary for this machine. It takes minutes and, as root, changes the
// system's packages for a moment, so it runs only with -dist.
func TestPackages(t *testing.T) {
	if *distDir == "" {
		t.Skip("needs -dist; make package-test runs it")
	}
	python := runnertest.Python(t)
	env, old := packageEnv(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "packaging/testdata",
		WorkdirRoot:         t.TempDir(), // testscript keeps its own directory if -run excludes a script
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			run, err := os.MkdirTemp("", "pp") // a socket's path must be short
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(run) })
			e.Values["test"] = e.T()
			e.Vars = append(e.Vars, env...)
			e.Setenv("PYTHON", python)
			e.Setenv("PATH", filepath.Dir(python)+":"+os.Getenv("PATH"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("PYPLUG_RUN_DIR", filepath.Join(run, "run"))
			e.Setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
			return os.WriteFile(filepath.Join(e.WorkDir, "greeter.py"), []byte("def greet(name):\n    return f'Hello, {name}'\n"), 0o644)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"tools": tools,
			"apt":   apt,
			"olddeb": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs("old.deb"), old.nfpm(old.targets[0], "deb"), 0o644))
			},
		},
		Condition: func(condition string) (bool, error) {
			if condition == "root" {
				return os.Getuid() == 0, nil
			}
			return false, errors.New("unknown condition " + condition)
		},
	})
}

// packageEnv returns the variables that name the packages, and a release of a lower version with
// the same binary. OLDWHEEL is a wheel of that release.
func packageEnv(t *testing.T) (env []string, old *release) {
	t.Helper()
	sboms, err := filepath.Glob(filepath.Join(*distDir, "pyplug_*.cdx.json"))
	if err != nil || len(sboms) != 1 {
		t.Fatalf("%s has %d SBOMs, want one: %v", *distDir, len(sboms), err)
	}
	v, err := parseVersion(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(sboms[0]), "pyplug_"), ".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	system := runtime.GOOS + "/" + runtime.GOARCH
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	old = newRelease(must(parseVersion("0.0.0-alpha.0")), []string{system})
	dir, host := t.TempDir(), old.targets[0]
	binary, err := os.ReadFile(host.binary())
	if err != nil {
		t.Fatal(err)
	}
	oldWheel := filepath.Join(dir, old.wheelFile(host))
	if err := os.WriteFile(oldWheel, old.wheel(host, binary), 0o644); err != nil {
		t.Fatal(err)
	}
	now := release{version: v}
	base := filepath.Join(*distDir, fmt.Sprintf("pyplug_%s_%s_%s", v.semver, host.os, host.arch))
	env = []string{
		"DIST=" + *distDir, "BINARY=" + must(filepath.Abs(host.binary())), "SEMVER=" + v.semver, "VERSION=" + v.pep440,
		"WHEEL=" + filepath.Join(*distDir, now.wheelFile(host)), "OLDWHEEL=" + oldWheel,
		"DEB=" + base + ".deb", "RPM=" + base + ".rpm", "APK=" + base + ".apk", "ARCHIVE=" + base + ".tar.gz",
		"ROOT=" + must(os.Getwd()), "GOMODCACHE=" + goEnv(t, "GOMODCACHE"), "GOCACHE=" + goEnv(t, "GOCACHE"),
	}
	return env, old
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	output, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(output))
}

// tools implements the command `tools`: TOOLS becomes a directory with the programs of PyPI that
// the scripts use.
func tools(ts *testscript.TestScript, neg bool, args []string) {
	python := runnertest.Packages(ts.Value("test").(runnertest.T), "uv==0.13.9", "twine==7.0.0", "check-wheel-contents==0.6.3",
		"pipx==1.18.4", "pre-commit==4.7.0")
	ts.Setenv("TOOLS", filepath.Dir(python))
}

// apt implements `apt COMMAND ARG...`: apt-get without questions. The package is removed after the
// script in any case.
func apt(ts *testscript.TestScript, neg bool, args []string) {
	ts.Defer(func() { _ = exec.Command("dpkg", "--purge", "pyplug").Run() }) // works even if it is not installed
	args = append([]string{"-y", "-q", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=60"}, args...)
	if err := ts.Exec("apt-get", args...); err != nil {
		ts.Fatalf("apt-get %s: %v", strings.Join(args, " "), err)
	}
}
