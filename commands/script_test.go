package commands_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pyplug/pyplug/commands"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// The test binary is pyplug if a script calls it with that name, and python in the environments
// that fakepython makes.
func TestMain(m *testing.M) {
	// A program with the race detector sleeps for a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	if filepath.Base(os.Args[0]) == "python" {
		if err := runFake(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// A check starts its stock host with the path of its own program, which is this one, and start
	// does so for its daemon.
	if len(os.Args) > 1 && (os.Args[1] == "__host" || os.Args[1] == "__daemon") {
		runMain()
	}
	if filepath.Base(os.Args[0]) != "pyplug" {
		// The examples of the README and of docs run in the root of the repository.
		if err := os.Chdir(".."); err != nil {
			panic(err)
		}
		runnertest.RestoreSignals()
		// Annotations of these checks are not for the job that runs the tests.
		if err := os.Unsetenv("GITHUB_ACTIONS"); err != nil {
			panic(err)
		}
	}
	// Tests mostly wait for processes, so more of them run at once. -parallel overrides the number.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"pyplug": runMain,
	})
}

// runMain runs pyplug's main.
func runMain() {
	code := commands.Main(os.Args, ui.System())
	commands.EndBySignal(code)
	os.Exit(code)
}

// shellCode is the exit code that a shell reports for a process that has ended.
func shellCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// TestScripts runs the command line as users do. It runs every script of the directory. `go test
// -run TestScripts/NAME` runs one. -update rewrites the golden parts. TEST_PROGRAM names the pyplug
// that these and other tests run. Without it, the test binary is pyplug.
func TestScripts(t *testing.T) {
	python := runnertest.Python(t)
	plugins, err := filepath.Abs("testdata/plugins")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       slices.Contains(os.Args, "-update"),
		Setup: func(env *testscript.Env) error {
			env.Values[testKey] = env.T()
			env.Setenv("PYTHON", python)
			env.Setenv("PLUGINS", plugins)
			if program := os.Getenv("TEST_PROGRAM"); program != "" {
				env.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			}
			env.Setenv("PYPLUGBIN", filepath.SplitList(env.Getenv("PATH"))[0]) // contains only pyplug
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("PYTHONDONTWRITEBYTECODE", "1")
			env.Setenv("PYTHONWARNINGS", "ignore")
			env.Setenv("COLUMNS", "100")
			env.Setenv("PYPLUG_RUN_DIR", runDir(env.T().(testing.TB)))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(python))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exitcode":   exitCode,
			"fakepython": fakePython,
			"fixedport":  fixedPort,
			"foreign":    foreign,
			"grpcio":     grpcio,
			"packages":   packages,
			"protoset":   protosets,
			"waitfor":    waitFor,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "bash", "zsh":
				_, err := exec.LookPath(cond)
				return err == nil, nil
			case "long":
				return os.Getenv("PYPLUG_TEST_LONG") != "", nil
			}
			return false, errors.New("unknown condition " + cond)
		},
	})
}

// program returns the path of the pyplug to run, see [TestScripts].
func program(t testing.TB) string {
	t.Helper()
	if program := os.Getenv("TEST_PROGRAM"); program != "" {
		return program
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// testKey is the key of a script's test.
const testKey = "test"

// grpcio implements the command that makes plugins run in a Python that has grpcio. Without one,
// the script is skipped.
func grpcio(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv("PYPLUG_PYTHON", runnertest.GRPCIO(ts.Value(testKey).(runnertest.T)))
}

// packages implements `packages NAME==VERSION...`: plugins run in a Python that has these packages
// from PyPI. If they cannot be installed, the script is skipped.
func packages(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: packages NAME==VERSION...")
	}
	ts.Setenv("PYPLUG_PYTHON", runnertest.Packages(ts.Value(testKey).(runnertest.T), args...))
}

// fixedPort implements `fixedport NAME`: the variable gets a port for a plugin that always listens
// at the same one.
func fixedPort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fixedport NAME")
	}
	ts.Setenv(args[0], runnertest.FixedPort(ts.Value(testKey).(testing.TB)))
}

// exitCode implements `exitcode N [-stdin FILE] COMMAND ARG...`: the command must end with exactly
// that code. stdout, stderr and cmp check its output.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = shellCode(exit.ProcessState)
	} else if err != nil {
		ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}
