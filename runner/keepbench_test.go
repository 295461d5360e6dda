package runner_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// BenchmarkKept compares a warm call of a plugin that is kept with one of a plain
// session, by turns, so that both see the same machine.
func BenchmarkKept(b *testing.B) {
	cfg := runner.Config{Python: runnertest.Python(b), Environ: os.Environ(), Cwd: b.TempDir()}
	cfg.Plugin = filepath.Join(cfg.Cwd, "plug.py")
	if err := os.WriteFile(cfg.Plugin, []byte("def ok(n): return n\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	plain, err := runner.Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close(b.Context())
	s, err := runner.Prepare(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	kept, err := s.Keep(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer kept.Close(b.Context())
	took := map[hook.Caller][]time.Duration{}
	for b.Loop() {
		for _, caller := range []hook.Caller{plain, kept} {
			began := time.Now()
			if _, err := caller.Call(b.Context(), call("ok", "[1]")); err != nil {
				b.Fatal(err)
			}
			took[caller] = append(took[caller], time.Since(began))
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Nanoseconds()) / 1000
	}
	one, two := median(took[plain]), median(took[kept])
	b.ReportMetric(one, "µs/plain")
	b.ReportMetric(two, "µs/kept")
	b.ReportMetric(two/one, "kept/plain")
}
