package ui

import (
	"testing"

	"github.com/pyplug/pyplug/runner/bench"
)

func TestBench(t *testing.T) {
	measured := BenchResult{
		Plugin: "greeter.py", Hook: "greet", Transport: "pipe", Python: "3.12.4",
		Phases: []bench.Figures{
			{Name: "cold", Rounds: 9, Jobs: 1, Min: 12_340_000, P50: 15_000_000, P90: 99_960_000,
				P99: 120_000_000, Max: 20_000_000_000, PerSecond: 22.3},
			{Name: "pipelined", Rounds: 10000, Jobs: 64, Min: 0, P50: 21_400, P90: 31_000, P99: 999_400, Max: 1_000_000, PerSecond: 123456.7},
		},
	}
	s, out, _ := testStreams("")
	if err := s.Bench(measured, false); err != nil {
		t.Fatal(err)
	}
	want := `PHASE      ROUNDS  MIN     P50     P90    P99    MAX  PER SECOND
cold       9       12.3ms  15ms    100ms  120ms  20s  22
pipelined  10000   0s      21.4µs  31µs   999µs  1ms  123457
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	out.Reset()
	if err := s.Bench(measured, true); err != nil {
		t.Fatal(err)
	}
	want = `{"schema":1,"plugin":"greeter.py","hook":"greet","transport":"pipe","python":"3.12.4","phases":[` +
		`{"name":"cold","rounds":9,"jobs":1,"min_ms":12.34,"p50_ms":15,"p90_ms":99.96,"p99_ms":120,"max_ms":20000,"per_second":22.3},` +
		`{"name":"pipelined","rounds":10000,"jobs":64,"min_ms":0,"p50_ms":0.0214,"p90_ms":0.031,"p99_ms":0.9994,"max_ms":1,"per_second":123456.7}]}` + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}
