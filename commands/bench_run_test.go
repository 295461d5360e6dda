//go:build unix

package commands_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// The figures are ratios to and differences from `python3 -c pass` of the same interpreter. Both
// alternate in one run, and the figures are medians, because a machine's speed changes every
// second.
//
//	go test -run '^$' -bench Figure -benchtime 50x ./commands

// pass runs the baseline once.
func pass(b *testing.B, python string) time.Duration {
	b.Helper()
	return timed(b, 0, python, "-c", "pass")
}

// timed runs a command, checks its exit code, and returns its duration.
func timed(b *testing.B, code int, name string, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	_ = cmd.Run() // the exit code is checked
	took := time.Since(began)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		b.Fatalf("%s %q: %v, want exit code %d\n%s", name, args, cmd.ProcessState, code, &said)
	}
	return took
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// compare measures a and the baseline in alternation.
func compare(b *testing.B, python string, a func() time.Duration) {
	a() // the first run writes the worker's files
	pass(b, python)
	var as, passes []time.Duration
	for b.Loop() {
		passes = append(passes, pass(b, python))
		as = append(as, a())
	}
	ma, mp := median(as), median(passes)
	b.ReportMetric(float64(ma)/float64(mp), "x-of-pass")
	b.ReportMetric(float64((ma-mp).Microseconds())/1000, "ms-over-pass")
	b.ReportMetric(float64(mp.Microseconds())/1000, "ms-pass")
	b.ReportMetric(0, "ns/op")
}

// binary builds pyplug as it is released.
func binary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "pyplug")
	build := exec.Command("go", "build", "-trimpath", "-tags", "urfave_cli_no_docs,grpcnotrace,nethttpomithttp2", "-ldflags", "-s -w", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

func plugin(b *testing.B, name string) string {
	b.Helper()
	path, err := filepath.Abs(filepath.Join("testdata/plugins", name))
	if err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkFigureStartToReady(b *testing.B) {
	python := runnertest.Python(b)
	launcher := pyworker.New(pyworker.Config{
		Python: python, Plugin: plugin(b, "greeter.py"), Env: proc.Environ(os.Environ(), false, nil),
	})
	compare(b, python, func() time.Duration {
		began := time.Now()
		inst, err := launcher.Launch(b.Context())
		took := time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
		if err := inst.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
		return took
	})
}

func BenchmarkFigureOneShot(b *testing.B) {
	python, pyplug, greeter := runnertest.Python(b), binary(b), plugin(b, "greeter.py")
	compare(b, python, func() time.Duration {
		return timed(b, 0, pyplug, "run", "--python", python, greeter, "greet", "World")
	})
}

func BenchmarkFigureBrokenImport(b *testing.B) {
	python, pyplug, broken := runnertest.Python(b), binary(b), plugin(b, "import_error.py")
	compare(b, python, func() time.Duration {
		return timed(b, 5, pyplug, "run", "--python", python, broken, "greet", "World")
	})
}

// BenchmarkFigureMemory reports the maximum resident memory of pyplug itself.
func BenchmarkFigureMemory(b *testing.B) {
	python, pyplug, greeter := runnertest.Python(b), binary(b), plugin(b, "greeter.py")
	most := int64(0)
	for b.Loop() {
		cmd := exec.Command(pyplug, "run", "--python", python, greeter, "greet", "World")
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			most = max(most, usage.Maxrss)
		}
	}
	b.ReportMetric(float64(most)/1024, "MB-resident")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkFigureWarmCall(b *testing.B) {
	launcher := pyworker.New(pyworker.Config{
		Python: runnertest.Python(b), Plugin: plugin(b, "conformance.py"), Env: proc.Environ(os.Environ(), false, nil),
	})
	inst, err := launcher.Launch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = inst.Stop(b.Context()) }()
	call := hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`["Hello"]`)}}
	var all []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := inst.Call(b.Context(), call); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	b.ReportMetric(float64(median(all).Nanoseconds())/1000, "µs-p50")
}

// BenchmarkFigureRecord answers 100 000 trivial lines without a record, with a new record, and from
// a record that has all answers.
func BenchmarkFigureRecord(b *testing.B) {
	python, pyplug, greeter, dir := runnertest.Python(b), binary(b), plugin(b, "greeter.py"), b.TempDir()
	input, record := filepath.Join(dir, "in"), filepath.Join(dir, "record")
	var in strings.Builder
	for n := range 100_000 {
		fmt.Fprintf(&in, "[%d, 1]\n", n)
	}
	if err := os.WriteFile(input, []byte(in.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	run := func(flags ...string) time.Duration {
		lines, err := os.Open(input)
		if err != nil {
			b.Fatal(err)
		}
		defer lines.Close()
		cmd := exec.Command(pyplug, slices.Concat([]string{"run", "--lines", "--python", python}, flags, []string{greeter, "add"})...)
		cmd.Stdin = lines
		began := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	var none, first, again []time.Duration
	for b.Loop() {
		_ = os.Remove(record) // it does not exist at first
		none, first, again = append(none, run()), append(first, run("--record", record)), append(again, run("--record", record))
	}
	b.ReportMetric(float64(median(first))/float64(median(none)), "x-of-none")
	b.ReportMetric(float64(median(again))/float64(median(first)), "x-of-first")
	b.ReportMetric(0, "ns/op")
}
