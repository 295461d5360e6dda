package pyworker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// heavy writes a plugin whose import creates about mb MB of small objects.
func heavy(b *testing.B, mb int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "heavy.py")
	source := fmt.Sprintf("data = [{'a': i, 'b': [i, str(i)]} for i in range(%d)]\ndef echo(text): return text\n", mb*1900)
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// launch starts a worker, and returns the duration of the start.
func launch(b *testing.B, l *pyworker.Launcher) (hook.Instance, time.Duration) {
	b.Helper()
	began := time.Now()
	w, err := l.Launch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return w, time.Since(began)
}

// crash kills a worker, starts the next one as soon as the exit is known, and calls it. It
// returns the whole duration.
func crash(b *testing.B, l *pyworker.Launcher, w hook.Instance) (hook.Instance, time.Duration) {
	b.Helper()
	began := time.Now()
	if err := w.Crash(); err != nil {
		b.Fatal(err)
	}
	<-w.Done()
	next, _ := launch(b, l)
	if _, err := next.Call(b.Context(), encode(b, "echo", []string{"x"})); err != nil {
		b.Fatal(err)
	}
	return next, time.Since(began)
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

// BenchmarkFigureCrashToAnswer compares the time from a crash to the next answer, by exec and by
// preload, with the time of a start, in turn.
func BenchmarkFigureCrashToAnswer(b *testing.B) {
	frame := filepath.Join(b.TempDir(), "frame.py")
	if err := os.WriteFile(frame, []byte("import pandas\ndef echo(text): return pandas.DataFrame([text]).to_json()\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, plugin := range map[string]string{
		"light": zoo(b, "conformance.py"), "50MB": heavy(b, 50), "100MB": heavy(b, 100), "pandas": frame,
	} {
		b.Run(name, func(b *testing.B) {
			cfg := config(b, plugin)
			if plugin == frame {
				cfg.Python = runnertest.Packages(b, "pandas")
			}
			byExec := pyworker.New(cfg)
			cfg.Preload = "auto"
			cfg.Note = func(text string) { b.Errorf("note: %s", text) }
			byFork := pyworker.New(cfg)
			one, _ := launch(b, byExec)
			two, _ := launch(b, byFork)
			var starts, execs, forks []time.Duration
			for b.Loop() {
				third, took := launch(b, byExec)
				starts = append(starts, took)
				_ = third.Stop(b.Context())
				one, took = crash(b, byExec, one)
				execs = append(execs, took)
				two, took = crash(b, byFork, two)
				forks = append(forks, took)
			}
			_ = one.Stop(b.Context())
			_ = two.Stop(b.Context())
			_ = byFork.Close(b.Context())
			b.ReportMetric(median(starts), "ms-start")
			b.ReportMetric(median(execs)-median(starts), "ms-exec-over-start")
			b.ReportMetric(median(forks), "ms-preload")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkFigurePreloadMemory compares the memory of eight workers by exec and by preload. It
// counts each worker's share of shared memory, and the zygote.
func BenchmarkFigurePreloadMemory(b *testing.B) {
	if !proc.CanFork() {
		b.Skip("workers are forked on Linux only")
	}
	plugin := heavy(b, 45)
	of := func(preload string) float64 {
		cfg := config(b, plugin)
		cfg.Preload = preload
		tag := fmt.Sprintf("PYPLUG_BENCH=%s%d", preload, time.Now().UnixNano())
		cfg.Env = append(cfg.Env, tag)
		l := pyworker.New(cfg)
		defer l.Close(b.Context())
		for range 8 {
			w, _ := launch(b, l)
			defer w.Stop(b.Context())
		}
		return pss(b, runnertest.WithEnv(tag))
	}
	for b.Loop() {
		execs, forks := of("off"), of("auto")
		b.ReportMetric(execs, "MB-exec")
		b.ReportMetric(forks, "MB-preload")
		b.ReportMetric(forks/execs, "x")
	}
	b.ReportMetric(0, "ns/op")
}

// pss returns the sum of the proportional set sizes of processes, in MB.
func pss(b *testing.B, pids []int) (total float64) {
	b.Helper()
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			b.Fatal(err)
		}
		var kib int
		for line := range strings.Lines(string(text)) {
			if n, _ := fmt.Sscanf(line, "Pss: %d kB", &kib); n == 1 {
				total += float64(kib) / 1024
			}
		}
	}
	return total
}
