//go:build unix

package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// BenchmarkFigureCall starts processes as a shell does: pyplug, which calls a hook of a background
// plugin, a static C program that makes the same call, and Python, which computes the result
// itself. They alternate, because each run leaves the processor's caches in its own state.
//
//	go test -run '^$' -bench FigureCall -benchtime 200x ./commands
func BenchmarkFigureCall(b *testing.B) {
	python, pyplug, inC := runnertest.Python(b), binary(b), callInC(b)
	script := filepath.Join(b.TempDir(), "greet.py")
	if err := os.WriteFile(script, []byte("import json, sys\nprint(json.dumps(f'Hello, {sys.argv[1]}'))\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	env := background(b, pyplug, python)
	programs := [][]string{
		{pyplug, "call", "bench", "greet", "World"},
		{inC, "bench", "greet", "World"},
		{python, script, "World"},
	}
	times := make([][]time.Duration, len(programs))
	for n := 0; b.Loop(); n++ {
		for i := range programs {
			i = (i + n) % len(programs)
			times[i] = append(times[i], spawned(b, env, programs[i]))
		}
	}
	call, c, cold := median(times[0]), median(times[1]), median(times[2])
	b.ReportMetric(float64(call)/float64(c), "x-of-C")
	b.ReportMetric(float64(call)/float64(cold), "x-of-python")
	b.ReportMetric(float64(call.Microseconds())/1000, "ms-call")
	b.ReportMetric(float64(c.Microseconds())/1000, "ms-C")
	b.ReportMetric(float64(cold.Microseconds())/1000, "ms-python")
	b.ReportMetric(0, "ns/op")
}

// callInC builds the C program of the baseline. It is static, because a dynamic program starts more
// slowly.
func callInC(b *testing.B) string {
	b.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		b.Skip("no gcc for the baseline")
	}
	path := filepath.Join(b.TempDir(), "call")
	if out, err := exec.Command(gcc, "-O2", "-static", "-o", path, "testdata/call.c").CombinedOutput(); err != nil {
		b.Skipf("the baseline cannot be built: %v\n%s", err, out)
	}
	return path
}

// spawned starts a program with as few resources as a shell uses, and waits for it.
func spawned(b *testing.B, env, program []string) time.Duration {
	b.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	began := time.Now()
	p, err := os.StartProcess(program[0], program, &os.ProcAttr{Env: env, Files: []*os.File{null, null, os.Stderr}})
	if err != nil {
		b.Fatal(err)
	}
	state, err := p.Wait()
	took := time.Since(began)
	if err != nil || !state.Success() {
		b.Fatalf("%q: %v, %v", program, state, err)
	}
	return took
}

// background starts greeter.py as "bench", and returns the environment for calls of it.
func background(b *testing.B, pyplug, python string) []string {
	b.Helper()
	base, err := os.MkdirTemp("", "call") // the path of b.TempDir is too long for a socket
	if err != nil {
		b.Fatal(err)
	}
	env := []string{"PYPLUG_RUN_DIR=" + filepath.Join(base, "run"), "XDG_CACHE_HOME=" + base, "PATH=" + os.Getenv("PATH")}
	run := func(args ...string) {
		cmd := exec.Command(pyplug, args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	run("start", "--name", "bench", "--python", python, plugin(b, "greeter.py"))
	b.Cleanup(func() {
		run("stop", "bench")
		os.RemoveAll(base)
	})
	return env
}
